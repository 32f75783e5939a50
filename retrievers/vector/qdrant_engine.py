"""A Qdrant server, or the engine that its client embeds: collections of vectors, filled and searched."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from json import JSONDecodeError
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import numpy as np

from ohr import extras
from ohr.contracts import Hit
from ohr.errors import PluginError
from ohr.models.chat_client import noted, refused
from ohr.models.completions import Failure
from ohr.models.memory import parts
from ohr.models.tries import Tries

from .vectors import Vectors, ranked

_OLDEST = (1, 10)
"""The first version of a server that answers the requests sent here (Qdrant 1.10, July 2024: the query API)."""
_FURTHER = 16
"""Hits asked for beyond k: a server gives any of those as good as the k-th, and the first ones count."""
_LONGEST_BUILD = 3600.0
"""Seconds in which a server builds its graphs; half a million vectors take some minutes."""


class CollectionGone(Exception):
    """There is no collection of that name."""


class _Reply(NamedTuple):
    """An answer, as `Tries` reads one."""

    status_code: int
    headers: Mapping[str, str] = {}
    text: str = ""
    value: Any = None


@dataclass(frozen=True)
class Graph:
    """How a collection is searched: by comparing all vectors, or with a graph (HNSW)."""

    exact: bool
    m: int
    ef_construct: int
    ef: int


@dataclass(frozen=True)
class Engine:
    """A server, or the embedded engine.

    Args:
        owner: the beginning of messages.
        client: a QdrantClient.
        tries: how requests are tried; their `place` is the address or folder.
        timeout: seconds for one request.
        embedded: it is the client's own engine, which compares all vectors and needs no requests.
        batch_size: points sent at once.
    """

    owner: str
    client: Any
    tries: Tries
    timeout: float
    embedded: bool
    batch_size: int

    def check_version(self) -> tuple[str, ...]:
        """Raise unless a server of a fitting version answers; returns a warning where Qdrant promises nothing."""
        info = self.ask(lambda: self.client.info())
        own, other = (_version(text) for text in (_client_version(), info.version))
        if "qdrant" not in info.title.lower() or not any(other):
            raise PluginError(
                f"{self.owner}: {self.tries.place} is not a Qdrant server: it calls itself {info.title!r}"
            )
        if other < _OLDEST or other[0] != own[0]:
            raise PluginError(
                f"{self.owner}: {self.tries.place} is Qdrant {info.version}, and the client {_client_version()} needs "
                f"a version from {_OLDEST[0]}.{_OLDEST[1]} below {own[0] + 1}"
            )
        if abs(other[1] - own[1]) <= 1:
            return ()
        return (
            f"the server is Qdrant {info.version} and the client {_client_version()}: Qdrant promises that they fit "
            "together only where they are one minor version apart",
        )

    def fill(self, name: str, vectors: Vectors, graph: Graph) -> None:
        """Make a collection complete: vector number n is the point n. What is there already is not sent again.

        Several runs may do it at once, since they send the same points.
        """
        for _ in range(2):  # somebody may delete the collection meanwhile
            try:
                count = self._count(name)
            except CollectionGone:
                self._create(name, vectors.shape[1], graph)
                count = 0
            if count == len(vectors):
                return None
            try:
                self._send_missing(name, vectors, complete=count == 0)
                count = self._count(name)
            except CollectionGone:
                continue
            if count == len(vectors):
                return self._wait_for_graph(name, graph)
            break
        else:
            raise PluginError(f"{self.owner}: collection {name} was deleted while it was filled: {self.tries.place}")
        raise PluginError(
            f"{self.owner}: collection {name} has {count:,} points, and should have {len(vectors):,}: somebody else "
            f"changes it, or {self.tries.place} loses what it is sent"
        )

    def search(self, name: str, queries: Vectors, k: int, size: int, graph: Graph) -> list[list[Hit]]:
        """Find the `k` points of `size` with the largest inner product, best first, ties in order of their numbers.

        Raises:
            CollectionGone: there is no such collection any more.
        """
        k = min(k, size)
        hits: list[list[Hit]] = []
        for block in parts(range(len(queries)), self.batch_size):
            rows, limit = queries[block[0] : block[-1] + 1], min(k + _FURTHER, size)
            found = self._nearest(name, rows, limit, size, graph)
            for place, ranking in enumerate(found):
                while len(ranking) < size and ranking[-1].score == ranking[k - 1].score:
                    # more points are as good as the k-th than came back, and those with the lowest numbers count
                    more = min(4 * len(ranking), size)
                    (ranking,) = self._nearest(name, rows[place : place + 1], more, size, graph)
                hits.append(ranking[:k])
        return hits

    def _nearest(self, name: str, queries: Vectors, limit: int, size: int, graph: Graph) -> list[list[Hit]]:
        models = extras.load("qdrant_client.models", "qdrant")
        how = models.SearchParams(exact=True) if graph.exact else models.SearchParams(hnsw_ef=max(graph.ef, limit))
        requests = [models.QueryRequest(query=row, limit=limit, params=how) for row in queries.tolist()]
        replies = self.ask(lambda: self.client.query_batch_points(name, requests, timeout=self._seconds))
        rankings = [ranked([p.score for p in reply.points], [p.id for p in reply.points]) for reply in replies]
        for ranking in rankings:
            places = {hit.place for hit in ranking}
            if len(places) != limit or not places <= set(range(size)) or len(rankings) != len(queries):
                raise PluginError(f"{self.owner}: {self.tries.place} gave {len(places)} hits where {limit} are there")
        return rankings

    def ask(self, request: Callable[[], Any]) -> Any:
        """Return the answer to a request, which is tried again as long as that may help.

        Raises:
            CollectionGone: the collection is not there.
            PluginError: there is no answer, or one that is not of Qdrant.
        """
        known = refused(*self.tries.asked)
        if known:  # unreachable several times in a row: each question would wait for all tries
            raise PluginError(f"{self.owner}: {known}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the embedded engine warns of its size, and of what it leaves out
                end = monotonic() + self.timeout * (self.tries.retries + 1)
                return self.tries.sent(lambda: self._sent(request), end).value
        except Failure as failure:
            reason = noted(*self.tries.asked, str(failure), refusal=True)
            hint = (
                "; is `api_key_env` the variable with the key?"
                if "answered 401" in reason or "answered 403" in reason
                else ""
            )
            raise PluginError(f"{self.owner}: {reason}{hint}") from None

    def _sent(self, request: Callable[[], Any]) -> _Reply:
        """Translate what the client returns or raises."""
        errors = extras.load("qdrant_client.http.exceptions", "qdrant")
        limits = extras.load("qdrant_client.common.client_exceptions", "qdrant")
        httpx = extras.load("httpx", "qdrant")
        try:
            return _Reply(200, value=request())
        except errors.UnexpectedResponse as error:
            text = error.content.decode("utf-8", "replace")
            if error.status_code == 404 and "collection" in text.lower() and text.lstrip().startswith("{"):
                raise CollectionGone from None
            return _Reply(error.status_code or 500, error.headers, text)
        except limits.ResourceExhaustedResponse as error:
            return _Reply(429, {"retry-after": str(error.retry_after_s)}, str(error))
        except errors.ResponseHandlingException as error:
            if isinstance(error.source, httpx.RequestError):
                raise error.source from None
            raise Failure(f"{self.tries.place} does not answer as Qdrant does") from None
        except JSONDecodeError:
            raise Failure(f"{self.tries.place} does not answer as Qdrant does") from None
        except ValueError as error:
            if self.embedded and "not found" in str(error):
                raise CollectionGone from None
            raise

    @property
    def _seconds(self) -> int:
        return max(1, round(self.timeout))

    def _count(self, name: str) -> int:
        return int(self.ask(lambda: self.client.count(name, exact=True, timeout=self._seconds)).count)

    def _create(self, name: str, dim: int, graph: Graph) -> None:
        """Create a collection, unless another run is faster."""
        models = extras.load("qdrant_client.models", "qdrant")
        # without edges no graph is built, which no exact search needs
        edges = (
            models.HnswConfigDiff(m=0)
            if graph.exact
            else models.HnswConfigDiff(m=graph.m, ef_construct=graph.ef_construct)
        )
        config = models.VectorParams(size=dim, distance=models.Distance.DOT, on_disk=True)

        def create() -> None:
            try:
                self.client.create_collection(name, vectors_config=config, hnsw_config=edges, timeout=self._seconds)
            except Exception as error:  # servers say it with 400 or 409, and the embedded engine with a ValueError
                content = getattr(error, "content", b"").decode("utf-8", "replace")
                if "already exists" not in content + str(error):
                    raise

        self.ask(create)

    def _send_missing(self, name: str, vectors: Vectors, *, complete: bool) -> None:
        """Send all points, or those batches of which some are missing."""
        models = extras.load("qdrant_client.models", "qdrant")
        for places in parts(range(len(vectors)), self.batch_size):
            ids = list(places)
            if not complete:
                there = self.ask(lambda: self.client.retrieve(name, ids, with_payload=False, timeout=self._seconds))  # noqa: B023
                if len(there) == len(ids):
                    continue
            batch = models.Batch(ids=ids, vectors=np.asarray(vectors[ids[0] : ids[-1] + 1]).tolist())
            self.ask(lambda: self.client.upsert(name, batch, wait=True))  # noqa: B023 # called before the next turn

    def _wait_for_graph(self, name: str, graph: Graph) -> None:
        """Wait until a server has built its graphs: until then it compares vectors in another way."""
        end = monotonic() + _LONGEST_BUILD
        while not (graph.exact or self.embedded):
            if self.ask(lambda: self.client.get_collection(name)).status.value != "yellow":
                return
            if monotonic() > end:
                raise PluginError(f"{self.owner}: collection {name} is not indexed within {_LONGEST_BUILD:g} s")
            sleep(0.5)


def _version(text: str) -> tuple[int, int]:
    """Read the first two numbers of a version; zeros where it has none."""
    numbers = list(islice((int(part) for part in text.split(".") if part.isdigit()), 2))
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def _client_version() -> str:
    from importlib.metadata import version

    return version("qdrant-client")


@contextmanager
def opened(owner: str, path: Path, timeout: float) -> Iterator[Any]:
    """Open the embedded engine; its folder belongs to one process at a time, and the others wait."""
    library = extras.load("qdrant_client", "qdrant")
    end = monotonic() + timeout
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                client = library.QdrantClient(path=str(path.expanduser()))
            break
        except RuntimeError as error:
            if "already accessed" not in str(error):
                raise
            if monotonic() > end:
                raise PluginError(f"{owner}: another process uses the folder {path} for {timeout:g} s") from None
            sleep(0.1)
        except OSError as error:
            raise PluginError(f"{owner}: cannot use the folder {path}: {error.strerror or error}") from None
    try:
        yield client
    finally:
        client.close()
