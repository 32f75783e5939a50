"""A Qdrant server, or the engine that its client embeds: collections of vectors, filled, checked and searched."""

from dataclasses import dataclass
from time import monotonic, sleep

import numpy as np

from ohr import extras
from ohr.contracts import Hit
from ohr.errors import PluginError
from ohr.models.resident import parts

from .qdrant_requests import CollectionGone, Requests
from .vectors import Vectors, ranked

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
        """Return the error for a collection that is not what ohr wrote."""
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
