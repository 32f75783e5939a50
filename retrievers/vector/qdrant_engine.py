"""A Qdrant server, or the engine that its client embeds: requests, tried again and with faults in ohr's words, and
collections of vectors, filled, checked and searched.
"""

import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import numpy as np

from ohr import extras
from ohr.contracts import Hit
from ohr.errors import PluginError
from ohr.messages.wording import shortened
from ohr.models.resident import parts
from ohr.models.tries import Failure, Tries, noted, refused

from .vectors import Vectors, ranked

_OLDEST = (1, 10)
"""The first version of a server that answers the requests sent here (Qdrant 1.10, July 2024: the query API)."""
_LONGEST_WRITE = 2.0
"""Seconds in which another process that uses a folder writes one of its files; a file damaged for longer stays so."""
_LONGEST_REASON = 200
"""Characters of a reason that is not ohr's own."""


class CollectionGone(Exception):
    """There is no collection of that name."""


class _Reply(NamedTuple):
    status_code: int
    headers: Mapping[str, str] = {}
    text: str = ""
    value: Any = None


@dataclass(frozen=True)
class Requests:
    """A server, or the embedded engine.

    Args:
        owner: the beginning of messages.
        client: a QdrantClient.
        tries: how requests are tried; their `place` is the address or folder.
        timeout: seconds for one request.
        embedded: it is the client's own engine, which compares all vectors and needs no requests.
    """

    owner: str
    client: Any
    tries: Tries
    timeout: float
    embedded: bool

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
            raise PluginError(f"{self.owner}: {reason.rstrip('.')}{_hint(reason)}") from None

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
            raise self._unlike(error) from None
        except (AssertionError, RecursionError, TypeError, ValueError, sqlite3.Error) as error:
            # no result, JSON of a thousand lists, broken JSON or UTF-8; or a folder that cannot be written
            if self.embedded and isinstance(error, ValueError) and "not found" in str(error):
                raise CollectionGone from None
            raise self._unlike(error) from None

    def _unlike(self, error: Exception) -> Failure:
        """Return the failure of an answer that is none of Qdrant's, or of the embedded engine."""
        if self.embedded:
            return Failure(f"cannot use {self.tries.place}: {shortened(str(error), _LONGEST_REASON)}")
        return Failure(f"{self.tries.place} does not answer as Qdrant does")


def _hint(reason: str) -> str:
    """Return what helps, where that is known."""
    if "answered 401" in reason or "answered 403" in reason:
        return "; is `api_key_env` the variable with the key?"
    return "; `path` in place of `url` needs no server" if reason.startswith("cannot reach") else ""


def _version(text: str) -> tuple[int, int]:
    """Read the first two numbers of a version; zeros where it has none."""
    numbers = list(islice((int(part) for part in text.split(".") if part.isdigit()), 2))
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def _client_version() -> str:
    from importlib.metadata import version

    return version("qdrant-client")


@contextmanager
def opened(owner: str, path: Path, timeout: float) -> Iterator[Any]:
    """Open the embedded engine; its folder belongs to one process at a time, and the others wait.

    Raises:
        PluginError: the folder is in use, cannot be written, or is damaged.
    """
    start = monotonic()
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                client = extras.load("qdrant_client", "qdrant").QdrantClient(path=str(path.expanduser()))
            break
        except OSError as error:
            raise PluginError(f"{owner}: cannot use the folder {path}: {error.strerror or error}") from None
        except Exception as error:  # damaged files raise whatever their readers do
            in_use = isinstance(error, RuntimeError) and "already accessed" in str(error)
            waited = monotonic() - start
            if in_use and waited > timeout:
                raise PluginError(f"{owner}: another process uses the folder {path} for {timeout:g} s") from None
            if not in_use and waited > min(timeout, _LONGEST_WRITE):
                reason = shortened(f"{type(error).__name__}: {error}", _LONGEST_REASON)
                raise PluginError(
                    f"{owner}: the folder {path} is damaged, or no folder of Qdrant's embedded engine ({reason}): name "
                    "another one, or remove it; ohr fills it again from its store"
                ) from None
            sleep(0.1)
    try:
        yield client
    finally:
        client.close()


_FURTHER = 16
"""Hits asked for beyond k: a server gives any of those as good as the k-th, and the first ones count."""
_LONGEST_BUILD = 3600.0
"""Seconds in which a server builds its graphs; half a million vectors take some minutes."""
_SAMPLED = 16
"""Vectors of a collection that are compared with ohr's before each search."""
_NEAR = 1e-3
"""Difference from a vector, as a share of its largest number, up to which another is the same."""


@dataclass(frozen=True)
class Graph:
    """How a collection is searched: by comparing all vectors, or with a graph (HNSW)."""

    exact: bool
    m: int
    ef_construct: int
    ef: int


@dataclass(frozen=True)
class Engine(Requests):
    """The collections of a server, or of the embedded engine.

    Args:
        batch_size: points or queries sent at once.
    """

    batch_size: int

    def fill(self, name: str, vectors: Vectors, graph: Graph) -> None:
        """Make a collection complete: vector number n is the point n. What is there already is not sent again.

        Several runs may do it at once, since they send the same points.

        Raises:
            PluginError: the collection has other content, or cannot be filled.
        """
        for _ in range(2):  # somebody may delete the collection meanwhile
            try:
                count = self._count(name)
                self._check_content(name, vectors, complete=count == len(vectors))
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
        raise self._other(name, f"has {count:,} points, and should have {len(vectors):,}")

    def search(self, name: str, queries: Vectors, k: int, vectors: Vectors, graph: Graph) -> list[list[Hit]]:
        """Find the `k` points with the largest inner product, best first, ties in order of their numbers.

        Args:
            vectors: those of the collection, by which the scores of hits are checked.

        Raises:
            CollectionGone: there is no such collection any more.
            PluginError: a hit or its score cannot be.
        """
        size = len(vectors)
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
                self._check_scores(name, rows[place], ranking[:k], vectors)
                hits.append(ranking[:k])
        return hits

    def _nearest(self, name: str, queries: Vectors, limit: int, size: int, graph: Graph) -> list[list[Hit]]:
        models = extras.load("qdrant_client.models", "qdrant")
        how = models.SearchParams(exact=True) if graph.exact else models.SearchParams(hnsw_ef=max(graph.ef, limit))
        requests = [models.QueryRequest(query=row, limit=limit, params=how) for row in queries.tolist()]
        replies = self.ask(lambda: self.client.query_batch_points(name, requests, timeout=self._seconds))
        if len(replies) != len(queries):
            raise PluginError(f"{self.owner}: {self.tries.place} gave {len(replies)} rankings of {len(queries)}")
        points = [reply.points for reply in replies]
        foreign = next(
            (p.id for each in points for p in each if not (isinstance(p.id, int) and 0 <= p.id < size)), None
        )
        if foreign is not None:
            raise self._other(name, f"has the point {foreign}, which is none of ohr's")
        rankings = [ranked([p.score for p in each], [p.id for p in each]) for each in points]
        for ranking in rankings:
            different = len({hit.place for hit in ranking})
            if different != limit or len(ranking) != limit:
                raise PluginError(f"{self.owner}: {self.tries.place} gave {different} hits where {limit} are there")
        return rankings

    def _check_content(self, name: str, vectors: Vectors, *, complete: bool) -> None:
        """Compare a collection's settings, and some of the vectors that are there, with those it should have.

        Args:
            complete: it has as many points as it should have, so that no vector may be missing.
        """
        settings = self.ask(lambda: self.client.get_collection(name)).config.params.vectors
        size, distance = getattr(settings, "size", None), getattr(settings, "distance", None)
        if size != vectors.shape[1] or distance != "Dot":
            has = f"{size} numbers and the distance {distance.value}" if size and distance else "several vectors each"
            raise self._other(name, f"has points with {has}, and not {vectors.shape[1]} numbers and Dot")
        ids = sorted({round(place) for place in np.linspace(0, len(vectors) - 1, _SAMPLED)})
        there = {
            point.id: point.vector
            for point in self.ask(
                lambda: self.client.retrieve(name, ids, with_payload=False, with_vectors=True, timeout=self._seconds)
            )
        }
        if complete and (missing := [place for place in ids if place not in there]):
            raise self._other(name, f"has as many points as it should have, but not the point {missing[0]}")
        for place, vector in there.items():
            expected = vectors[place]
            near = _NEAR * float(np.abs(expected).max())
            if np.shape(vector) != expected.shape or not np.allclose(vector, expected, rtol=0, atol=near):
                raise self._other(name, f"has another vector than ohr's at the point {place}")

    def _check_scores(self, name: str, query: Vectors, hits: list[Hit], vectors: Vectors) -> None:
        """Compare the scores of hits with the inner products of ohr's vectors and the query (dim,)."""
        own = vectors[[hit.place for hit in hits]]
        near = _NEAR * np.linalg.norm(own, axis=1) * np.linalg.norm(query)
        wrong = np.abs(own @ query - [hit.score for hit in hits]) > near
        if wrong.any():
            raise self._other(name, f"has another vector than ohr's at the point {hits[int(wrong.argmax())].place}")

    def _other(self, name: str, fault: str) -> PluginError:
        return PluginError(
            f"{self.owner}: {self.tries.place}: collection {name} {fault}: somebody else wrote it or changed it. "
            "Remove the collection, and ohr fills it again"
        )

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
