"""Retrieval by one vector per text: exact, or by one of FAISS's approximate indices, whose recall is measured."""

from abc import abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, Retriever
from ohr.errors import PluginError
from ohr.messages.wording import counted

from ..embedders import ModelRetriever
from ..scores import best, gathered

Vectors = NDArray[np.float32]
"""(items, dim), unit length where the score is the cosine."""

IndexType = Literal["exact", "ivf", "hnsw", "pq", "ivf_pq"]
_TRAINING = 256  # vectors that a product quantiser needs at least: one for each of its codes
_TOGETHER = 1 << 16  # vectors that are looked at together: 100 MB with 384 dimensions
_BLOCK, _LARGEST, _QUERIES = 1 << 22, 1 << 26, 64
"""Scores of an exact search that are held at once: 16 MB; up to 256 MB for 64 queries of a large corpus, which is read
from disk for each block."""
_NEAR = 1e-6  # ten times the difference that was seen between products of equal unit vectors of 384 dimensions
_TRAINED = 64  # training vectors a list: FAISS warns below 39, and draws 256 where there are more
_PROBES = 200  # vectors that are searched for among the others to measure recall


def index_vectors(vectors: Vectors, kind: IndexType, what: str, notes: Sequence[str] = ()) -> Index:
    """Index vectors for a search by inner product; `what` names them in errors.

    Raises:
        PluginError: a vector is not finite.
    """
    blocks = (vectors[start : start + _TOGETHER] for start in range(0, len(vectors), _TOGETHER))
    broken = sum(int((~np.isfinite(block).all(axis=1)).sum()) for block in blocks)
    if broken:
        raise PluginError(f"{what}: the model gave NaN or infinity for {broken} of {len(vectors)} chunks")
    if kind == "exact":
        return Index({"vectors": vectors}, notes)
    if len(vectors) < _TRAINING:
        few = f"{counted(len(vectors), 'passage')}, too few for `{kind}`: the search is exact"
        return Index({"vectors": vectors}, (*notes, few))
    found = _approximate(vectors, kind)
    note = f"`{kind}` is approximate: recall@10 {_recall(vectors, found):.3f} against exact search"
    faiss = extras.load("faiss", "dense")
    return Index({"faiss": lambda path: faiss.write_index(found, str(path))}, (*notes, note))


def search_vectors(index: Index, queries: Vectors, k: int) -> list[list[Hit]]:
    """Find at most `k` items for each query (queries, dim), best first, ties in order.

    Raises:
        PluginError: a query's vector is not finite.
    """
    if not np.isfinite(queries).all():
        raise PluginError("the model gave NaN or infinity for a question")
    approximate = index.once("approximate", lambda: _mapped(index["faiss"])) if "faiss" in index.contents else None
    size = approximate.ntotal if approximate else len(index["vectors"])
    if not size or not len(queries) or k <= 0:
        return [[] for _ in queries]
    if not approximate:
        return _exact(index["vectors"], queries, min(k, size))
    scores, places = approximate.search(queries, min(k, size))
    return [ranked(row, at) for row, at in zip(scores, places, strict=True)]


def _mapped(path: Path) -> Any:
    """Map FAISS's own file into memory: only what a search touches is read."""
    faiss = extras.load("faiss", "dense")
    return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)


def ranked(scores: Sequence[float] | Vectors, places: Sequence[int] | NDArray[np.int64]) -> list[Hit]:
    """Put hits in order; FAISS marks missing hits by the place -1."""
    hits = [Hit(int(place), float(score)) for score, place in zip(scores, places, strict=True) if place >= 0]
    return sorted(hits, key=lambda hit: (-hit.score, hit.place))


def _exact(vectors: Vectors, queries: Vectors, k: int) -> list[list[Hit]]:
    """Rank all vectors for a block of queries at a time; numpy multiplies faster than the FAISS wheel."""
    block = max(1, _BLOCK // len(vectors), min(_QUERIES, _LARGEST // len(vectors)))
    starts = range(0, len(queries), block)
    parts = ((queries[start : start + block], queries[start : start + block] @ vectors.T) for start in starts)
    return [_in_order(vectors, *pair, k) for asked, scores in parts for pair in zip(asked, scores, strict=True)]


def _in_order(vectors: Vectors, query: Vectors, scores: Vectors, k: int) -> list[Hit]:
    """Rank the best chunks again, each by its own sum: the last digit of a product of matrices depends on the place."""
    hits = best(scores, k)
    last = hits[-1]
    near = _NEAR * float(np.linalg.norm(query) * np.linalg.norm(vectors[last.place]))
    places = np.flatnonzero(scores >= last.score - near)
    again = (vectors[places] * query).sum(axis=1)
    return [Hit(int(places[at]), float(again[at])) for at in np.argsort(-again, kind="stable")[:k]]


def _nearest(vectors: Vectors, queries: Vectors, k: int) -> Any:
    faiss = extras.load("faiss", "dense")
    return faiss.knn(np.ascontiguousarray(queries), vectors, k, metric=faiss.METRIC_INNER_PRODUCT)


def _approximate(vectors: Vectors, kind: IndexType) -> Any:
    """Make an approximate index with FAISS's usual sizes for the number of vectors."""
    faiss = extras.load("faiss", "dense")
    size, dim = vectors.shape
    lists = max(1, min(round(4 * size**0.5), size // 39))  # 39 training vectors a list, as FAISS asks for
    codes = next(codes for codes in (dim // 8, dim // 4, dim // 2, dim) if codes and dim % codes == 0)
    recipe = {
        "ivf": f"IVF{lists},Flat",
        "hnsw": "HNSW32,Flat",
        "pq": f"PQ{codes}x8",
        "ivf_pq": f"IVF{lists},PQ{codes}x8",
    }
    index = faiss.index_factory(dim, recipe[kind], faiss.METRIC_INNER_PRODUCT)
    if kind in ("ivf", "ivf_pq"):
        index.nprobe = max(8, lists // 16)
    if kind == "hnsw":
        index.hnsw.efSearch = 64
    if kind in ("pq", "ivf_pq"):
        index.pq.cp.min_points_per_centroid = 1  # else it writes warnings to the terminal
        index.do_polysemous_training = False  # half a minute for a search in Hamming space that nothing asks for
    sample = max(_TRAINED * lists, 256 * _TRAINING)
    index.train(np.ascontiguousarray(vectors[:: max(1, size // sample)]))
    for start in range(0, size, _TOGETHER):  # what is read of a mapped file may then leave memory again
        index.add(np.ascontiguousarray(vectors[start : start + _TOGETHER]))
    return index


def _recall(vectors: Vectors, index: Any) -> float:
    """Measure the share of the exact ten nearest that an index finds, for vectors spread over the corpus."""
    probes = np.ascontiguousarray(vectors[:: max(1, len(vectors) // _PROBES)][:_PROBES])
    exact, found = _nearest(vectors, probes, 10)[1], index.search(probes, 10)[1]
    return float(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact.tolist(), found.tolist(), strict=True)]))


_TEXTS = 1 << 14  # different texts that are embedded at once: 25 MB of vectors with 384 dimensions


class EmbeddingRetriever(ModelRetriever, Retriever):
    """Ranks chunks by the inner product of their vector with the query's; a subclass embeds the texts."""

    index_type: Annotated[
        IndexType, Field(description="exact, or FAISS's IVF, HNSW, PQ or IVF with PQ, whose recall is reported.")
    ] = "exact"

    @abstractmethod
    def embed_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[str]]:
        """Embed texts of chunks: vectors (texts, dim), and warnings. No text is allowed."""

    @abstractmethod
    def embed_queries(self, queries: Sequence[str]) -> Vectors:
        """Embed queries: (queries, dim)."""

    def check_one_vector(self) -> None:
        """Raise where this model gives many vectors for each text, which other retrievers cannot store."""

    def warnings(self, texts: Iterable[str]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """Return the warnings about the different texts of a corpus, such as how many are cut."""
        return ()

    def vectors(self, chunks: Sequence[Chunk]) -> tuple[Vectors, tuple[str, ...]]:
        """Embed chunks, equal texts once, since a vector's last digits depend on its batch.

        Returns: vectors (chunks, dim), mapped from a temporary file where there are many, and warnings.

        Raises:
            PluginError: a vector is not finite.
        """
        numbers, firsts = _different(chunks)
        notes = dict.fromkeys(self.warnings(chunks[place].text for place in firsts))
        if len(firsts) <= _TEXTS:
            vectors = self._embedded(chunks, firsts, notes)
        else:
            starts = range(0, len(firsts), _TEXTS)
            blocks = (self._embedded(chunks, firsts[start : start + _TEXTS], notes) for start in starts)
            vectors = gathered(blocks, np.float32)
        return vectors if len(firsts) == len(numbers) else vectors[numbers], tuple(notes)

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Embed every chunk."""
        vectors, notes = self.vectors(chunks)
        return index_vectors(vectors, self.index_type, f"retriever {self.kind}", notes)

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the inner product of the embeddings; ties in the order of the chunks."""
        return search_vectors(index, query_vectors(self, tuple(queries)), k)

    def _embedded(self, chunks: Sequence[Chunk], places: Sequence[int], notes: dict[str, None]) -> Vectors:
        vectors, further = self.embed_passages([chunks[place].text for place in places])
        notes |= dict.fromkeys(further)
        return vectors


@lru_cache(maxsize=4)
def query_vectors(retriever: EmbeddingRetriever, queries: tuple[str, ...]) -> Vectors:
    """Embed the questions once, (queries, dim): every knowledge base is asked the same ones."""
    return retriever.embed_queries(queries)


def _different(chunks: Sequence[Chunk]) -> tuple[NDArray[np.int64], Sequence[int]]:
    """Number the different texts: the number of each chunk's text, and the place of each text's first chunk."""
    numbers: dict[bytes, int] = {}
    firsts = array("q")
    of_chunks = np.empty(len(chunks), dtype=np.int64)
    for place, chunk in enumerate(chunks):
        # digests, since the texts of a million chunks take more memory than their vectors
        digest = blake2b(chunk.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        number = of_chunks[place] = numbers.setdefault(digest, len(firsts))
        if number == len(firsts):
            firsts.append(place)
    return of_chunks, firsts
