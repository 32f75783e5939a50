"""BGE-M3 with its three kinds of score, through FlagEmbedding."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, execution
from ohr.errors import PluginError
from ohr.models.resident import parts, resident

from ..embedders import ModelRetriever, cut_off, folder_of, quiet_transformers, unused_prompts
from ..scores import best
from .maxsim import PageVectors, TokenEmbedder
from .vectors import Vectors

_QUERIES = 128  # queries whose scores of all chunks are held at once


class BgeM3(ModelRetriever, TokenEmbedder, kind="bge_m3"):
    """Ranks chunks by BGE-M3's dense, sparse and multi-vector scores, weighted (Chen et al., arXiv:2402.03216).

    The score is the weighted mean of the cosine, the lexical match and MaxSim per query token; a weight of 0 leaves
    that part out. For dense scores alone, `dense` with `model: bge-m3` does the same with less.
    """

    version: ClassVar[int] = 3
    extra: ClassVar[str | None] = "bge_m3"
    packages: ClassVar[tuple[str, ...]] = ("FlagEmbedding", "transformers", "torch")
    modules: ClassVar[tuple[str, ...]] = ("torch", "FlagEmbedding")
    model: Annotated[str, Field(description="A folder with BGE-M3's files, or its name on the hub.")] = "BAAI/bge-m3"
    dense: Annotated[float, Field(ge=0, description="Weight of the cosine.")] = 0.4
    sparse: Annotated[float, Field(ge=0, description="Weight of the lexical match.")] = 0.2
    multi_vector: Annotated[float, Field(ge=0, description="Weight of MaxSim.")] = 0.4
    max_tokens: Annotated[int, Field(gt=2, le=8192, description="Tokens read of a chunk or query.")] = 8192
    batch_size: Annotated[int, execution("Texts encoded at once; FlagEmbedding shrinks it by need.", gt=0)] = 16

    @model_validator(mode="after")
    def _some_weight(self) -> "BgeM3":
        if not self.dense + self.sparse + self.multi_vector:
            raise ValueError("one of the weights dense, sparse and multi_vector must be more than 0")
        return self

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Embed every chunk, equal texts once."""
        from scipy.sparse import csr_array

        places = {text: place for place, text in enumerate(dict.fromkeys(chunk.text for chunk in chunks))}
        found = _encode(self, list(places))
        # each text once: products of matrices differ in the last digits by place, so that copies would not be ties
        texts = np.array([places[chunk.text] for chunk in chunks], dtype=np.int64)
        if not np.isfinite(found.dense).all():
            raise PluginError("retriever bge_m3: the model gave NaN or infinity")
        vectors = (each.astype(np.float32) for each in found.multi)
        pages = PageVectors.gather(vectors if self.multi_vector else iter(()), self.device, "retriever bge_m3")
        sparse = csr_array(found.sparse)
        words = {
            "weights": sparse.data,
            "words": sparse.indices,
            "starts": sparse.indptr,
            "vocabulary": sparse.shape[1],
        }
        dense = np.ascontiguousarray(found.dense)
        return Index({"texts": texts, "dense": dense, **words, **pages.arrays}, self.warnings(places))

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Encode texts, and keep the vectors of their tokens."""
        return [vectors.astype(np.float32) for vectors in _encode(self, list(texts)).multi]

    def warnings(self, texts: Collection[str]) -> Sequence[str]:
        """Report unused prompts of the model, and texts that are cut."""
        return (*unused_prompts(self.model), *_cut(self, texts))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the weighted score; ties in the order of the chunks."""
        if not len(index["dense"]) or not queries or k <= 0:
            return [[] for _ in queries]
        asked = _encode_queries(self, tuple(queries))
        blocks = parts(range(len(queries)), _QUERIES)
        return [best(row[index["texts"]], k) for block in blocks for row in self._scores(index, asked, block)]

    def _scores(self, index: Index, asked: "_Encoded", block: Sequence[int]) -> NDArray[np.float64]:
        """Score all texts for a block of queries: (queries, texts)."""
        from scipy.sparse import csr_array

        total = np.zeros((len(block), len(index["dense"])))
        if self.dense:
            total += self.dense * (asked.dense[list(block)] @ index["dense"].T)
        if self.sparse:
            rows = index["weights"], index["words"], index["starts"]
            words = csr_array(rows, shape=(total.shape[1], index["vocabulary"]))
            total += self.sparse * (asked.sparse[list(block)] @ words.T).toarray()
        if self.multi_vector:
            vectors = [asked.multi[place].astype(np.float32) for place in block]
            lengths = np.array([[len(each)] for each in vectors])
            for first, scores in PageVectors.of(index, self.device).blocks(vectors):
                total[:, first : first + scores.shape[1]] += self.multi_vector * scores.cpu().numpy() / lengths
        if not self.dense and not self.multi_vector:
            total[total == 0] = -np.inf  # no word in common: no hit
        return total / (self.dense + self.sparse + self.multi_vector)


@dataclass(frozen=True)
class _Encoded:
    """Texts as BGE-M3 sees them: (texts, dim), a sparse (texts, vocabulary), and (tokens, dim) each."""

    dense: NDArray[np.float32]
    sparse: Any
    multi: list[NDArray[Any]]


def _model(model: str, device: str) -> Any:
    return resident(("bge_m3", model, device), lambda: _loaded(model, device))


def _loaded(model: str, device: str) -> Any:
    quiet_transformers()
    library = extras.load("FlagEmbedding", "bge_m3")
    with extras.loading("retriever bge_m3", model):
        # half precision is slower than single on a CPU
        return library.BGEM3FlagModel(folder_of(model), use_fp16=device.startswith("cuda"), devices=device)


@lru_cache(maxsize=4)
def _encode_queries(retriever: BgeM3, queries: tuple[str, ...]) -> _Encoded:
    """Encode the questions once: every knowledge base is asked the same ones."""
    return _encode(retriever, list(queries))


def _encode(retriever: BgeM3, texts: list[str]) -> _Encoded:
    from scipy.sparse import csr_array

    model = _model(retriever.model, retriever.device)
    vocabulary = len(model.tokenizer)
    if not texts:
        return _Encoded(np.zeros((0, 1), np.float32), csr_array((0, vocabulary), dtype=np.float32), [])
    made = model.encode(
        texts,
        batch_size=retriever.batch_size,
        max_length=min(retriever.max_tokens, model.tokenizer.model_max_length),
        return_dense=True,
        return_sparse=True,
        return_colbert_vecs=True,
    )
    words = [
        (row, int(token), float(weight))
        for row, held in enumerate(made["lexical_weights"])
        for token, weight in held.items()
    ]
    rows, tokens, weights = zip(*words, strict=True) if words else ((), (), ())
    sparse = csr_array((np.array(weights, np.float32), (rows, tokens)), shape=(len(texts), vocabulary))
    return _Encoded(np.asarray(made["dense_vecs"], np.float32), sparse, list(made["colbert_vecs"]))


def _cut(retriever: BgeM3, texts: Collection[str]) -> tuple[str, ...]:
    tokenizer = _model(retriever.model, retriever.device).tokenizer
    window = min(retriever.max_tokens, tokenizer.model_max_length)
    cut, _ = cut_off(tokenizer, texts, window)
    return (f"{cut} that are read",) if cut else ()
