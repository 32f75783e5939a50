"""Fields of the retriever `lancedb`, and which of them count together."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ohr.parts import TextRetrieverPart

from ..lexical.words import WordRetriever
from ..vector.embedding import EmbeddingRetriever
from ..vector.token_vectors import TokenEmbedder

IndexKind = Literal["exact", "ivf_flat", "ivf_sq", "ivf_pq", "ivf_rq", "hnsw_flat", "hnsw_sq", "hnsw_pq"]

CONFIGURATIONS: Mapping[str, str] = {
    "ivf_flat": "IvfFlat",
    "ivf_sq": "IvfSq",
    "ivf_pq": "IvfPq",
    "ivf_rq": "IvfRq",
    "hnsw_flat": "HnswFlat",
    "hnsw_sq": "HnswSq",
    "hnsw_pq": "HnswPq",
}
"""LanceDB's classes of approximate indexes."""

_GRAPHS = ("hnsw_flat", "hnsw_sq", "hnsw_pq")
_CODES = ("ivf_sq", "ivf_pq", "ivf_rq", "hnsw_sq", "hnsw_pq")
_INDEXES: Mapping[str, Collection[str]] = {
    "partitions": tuple(CONFIGURATIONS),
    "sub_vectors": ("ivf_pq", "hnsw_pq"),
    "bits": ("ivf_pq", "ivf_rq", "hnsw_pq"),
    "m": _GRAPHS,
    "ef_construction": _GRAPHS,
    "probes": tuple(CONFIGURATIONS),
    "ef": _GRAPHS,
    "refine": _CODES,
}
"""The kinds of index for which a setting counts."""

_MODES: Mapping[str, Collection[str]] = {
    "embedder": ("dense", "hybrid", "multivector"),
    "index_type": ("dense", "hybrid", "multivector"),
    "tokenizer": ("text", "hybrid"),
    "language": ("text", "hybrid"),
    "rrf_k": ("hybrid",),
    "depth": ("hybrid",),
}
"""The modes in which a field counts."""


class LanceSettings(WordRetriever):
    """Settings of a search in a table of LanceDB."""

    mode: Annotated[
        Literal["dense", "text", "hybrid", "multivector"],
        Field(description="What is searched: vectors, words, both joined by rank, or the vectors of tokens."),
    ] = "dense"
    embedder: Annotated[
        TextRetrieverPart,
        Field(
            validate_default=True,
            description="Makes the vectors: dense or another with one vector per text; for multivector, bge_m3.",
        ),
    ] = {"kind": "dense"}  # type: ignore[assignment] # noqa: RUF012 # made into a retriever as any other is
    uri: Annotated[
        str | None,
        Field(min_length=1, description="Folder or object store (s3://bucket/path) of the tables; else ohr's store."),
    ] = None
    index_type: Annotated[
        IndexKind, Field(description="exact, or an approximate index of LanceDB, whose recall is reported.")
    ] = "exact"
    partitions: Annotated[int | None, Field(gt=0, description="Cells of the index; LanceDB's default if not set.")] = (
        None
    )
    sub_vectors: Annotated[int | None, Field(gt=0, description="Parts that a vector is cut into (pq).")] = None
    bits: Annotated[int | None, Field(gt=0, le=8, description="Bits of a part (pq: 4 or 8) or dimension (rq).")] = None
    m: Annotated[int | None, Field(gt=0, description="Neighbors of a vector in the graph (hnsw).")] = None
    ef_construction: Annotated[int | None, Field(gt=0, description="Candidates when it is built (hnsw).")] = None
    probes: Annotated[
        int | None, Field(gt=0, description="Cells that a search looks into; LanceDB's default is 20.")
    ] = None
    ef: Annotated[int | None, Field(gt=0, description="Candidates of a search (hnsw).")] = None
    refine: Annotated[
        int | None, Field(gt=0, description="Rescore so many times the hits asked for by their whole vectors.")
    ] = None
    rrf_k: Annotated[int, Field(gt=0, description="hybrid: larger values let lower ranks count more.")] = 60
    depth: Annotated[int, Field(gt=0, description="hybrid: hits taken of each of the two searches.")] = 50

    @model_validator(mode="after")
    def _fits(self) -> Self:
        faults = [*self._unused(), *self._unfit()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _unused(self) -> Iterator[str]:
        """List the fields that are not at their default and would not count."""
        for field in sorted({*_MODES, *_INDEXES}):
            if self._is_default(field):
                continue
            if self.mode not in _MODES.get(field, (self.mode,)):
                yield f"{field} does not count with mode {self.mode}"
            elif self.index_type not in _INDEXES.get(field, (self.index_type,)):
                yield f"{field} does not count with index_type {self.index_type}"

    def _is_default(self, field: str) -> bool:
        default = type(self).model_fields[field].default
        if field == "embedder":
            return self.embedder.kind == default["kind"] and self.embedder == type(self.embedder)()
        return bool(getattr(self, field) == default)

    def _unfit(self) -> Iterator[str]:
        """List the values that cannot be used."""
        kind = self.embedder.kind
        if self.mode == "multivector" and not isinstance(self.embedder, TokenEmbedder):
            yield f"mode multivector needs an embedder of tokens, such as {{kind: bge_m3}}, not {kind}"
        if self.mode in ("dense", "hybrid") and not isinstance(self.embedder, EmbeddingRetriever):
            yield f"mode {self.mode} needs an embedder with one vector per text, such as {{kind: dense}}, not {kind}"
        if getattr(self.embedder, "index_type", "exact") != "exact":
            yield "index_type belongs beside embedder, not in it: LanceDB makes the index"
        if self.index_type.endswith("_pq") and self.bits not in (None, 4, 8):
            yield f"bits must be 4 or 8 for {self.index_type}, not {self.bits}"
        if self.uri is not None and self.uri.startswith("db://"):
            yield "uri: LanceDB Cloud (db://) is not supported; name a folder or an object store"

    @property
    def has_vectors(self) -> bool:
        """Whether vectors are searched."""
        return self.mode != "text"

    @property
    def has_words(self) -> bool:
        """Whether words are searched."""
        return self.mode in ("text", "hybrid")

    @property
    def metric(self) -> str:
        """LanceDB's name of the distance: `dot` is 1 - the inner product; vectors of tokens can only have `cosine`."""
        return "cosine" if self.mode == "multivector" else "dot"

    def configuration(self, library: Any) -> Any:
        """Return LanceDB's description of the approximate index, from its module `lancedb.index`."""
        names = {"partitions": "num_partitions", "sub_vectors": "num_sub_vectors", "bits": "num_bits"}
        building = (*names, "m", "ef_construction")
        given = {names.get(name, name): value for name in building if (value := getattr(self, name)) is not None}
        return getattr(library, CONFIGURATIONS[self.index_type])(distance_type=self.metric, **given)
