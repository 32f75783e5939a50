"""Tables of LanceDB: settings, rows of chunks written block by block, tags of whole tables, and searches."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from ohr import extras
from ohr.contracts import Chunk, Hit
from ohr.errors import PluginError
from ohr.models.resident import parts
from ohr.parts import TextRetrieverPart

from ..lexical.words import WordRetriever
from ..vector.maxsim import PageVectors, TokenEmbedder
from ..vector.vectors import EmbeddingRetriever
from .hits import reported, spaced

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
        for name in sorted({*_MODES, *_INDEXES}):
            if self._is_default(name):
                continue
            if self.mode not in _MODES.get(name, (self.mode,)):
                yield f"{name} does not count with mode {self.mode}"
            elif self.index_type not in _INDEXES.get(name, (self.index_type,)):
                yield f"{name} does not count with index_type {self.index_type}"

    def _is_default(self, name: str) -> bool:
        default = type(self).model_fields[name].default
        if name == "embedder":
            return self.embedder.kind == default["kind"] and self.embedder == type(self.embedder)()
        return bool(getattr(self, name) == default)

    def _unfit(self) -> Iterator[str]:
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


_ROWS = 1 << 15
"""Rows that are written at once: 50 MB of vectors with 384 dimensions."""
_TOKEN_ROWS = 1 << 8
"""Rows with vectors of tokens that are written at once: 200 MB of 200 vectors with 1,024 dimensions each."""
_TEXTS = 1 << 10
"""Texts whose tokens are embedded at once."""
_WHAT = "retriever lancedb"


@dataclass(frozen=True)
class Rows:
    """A table to be written.

    Args:
        schema: Arrow's; its metadata have the warnings of the embedder as a JSON list, `notes`.
        blocks: record batches of Arrow; they can be gone through once.
    """

    schema: Any
    blocks: Iterator[Any]


@dataclass(frozen=True)
class _Column:
    """The vectors of all rows: their type in Arrow, and those of the rows [start, stop)."""

    type: Any
    between: Callable[[int, int], Any]
    notes: Sequence[str]


def rows(retriever: LanceSettings, chunks: Sequence[Chunk]) -> Rows:
    """Embed chunks, and arrange them as rows."""
    import pyarrow as pa

    makers = {"dense": _vectors, "hybrid": _vectors, "multivector": _token_vectors}
    column = makers[retriever.mode](retriever, chunks) if retriever.has_vectors else None
    fields = [("place", pa.int64())]
    fields += [("vector", column.type)] if column else []
    fields += [("words", pa.string())] if retriever.has_words else []
    schema = pa.schema(fields, metadata={"notes": json.dumps(list(column.notes) if column else [])})

    def blocks() -> Iterator[Any]:
        texts = (spaced(retriever.cut(chunk.text)) for chunk in chunks)
        step = _TOKEN_ROWS if retriever.mode == "multivector" else _ROWS
        for start in range(0, len(chunks), step):
            stop = min(start + step, len(chunks))
            arrays = [pa.array(range(start, stop), pa.int64())]
            arrays += [column.between(start, stop)] if column else []
            arrays += [pa.array(islice(texts, stop - start), pa.string())] if retriever.has_words else []
            yield pa.record_batch(arrays, schema=schema)

    return Rows(schema, blocks())


def indexes(retriever: LanceSettings, *, approximate: bool) -> dict[str, Any]:
    """Return LanceDB's descriptions of the indexes of a table, by column."""
    library = extras.load("lancedb.index", "lancedb")
    # the words are cut already: LanceDB only parts them at the spaces
    as_they_are = dict.fromkeys(("lower_case", "stem", "remove_stop_words", "ascii_folding"), False)
    words = library.FTS(base_tokenizer="whitespace", max_token_length=None, **as_they_are)
    vectors = {"vector": retriever.configuration(library)} if approximate else {}
    return {**vectors, **({"words": words} if retriever.has_words else {})}


def _vectors(retriever: LanceSettings, chunks: Sequence[Chunk]) -> _Column:
    import pyarrow as pa

    vectors, notes = cast(EmbeddingRetriever, retriever.embedder).vectors(chunks)

    def between(start: int, stop: int) -> Any:
        block = np.ascontiguousarray(vectors[start:stop], np.float32)
        broken = int((~np.isfinite(block).all(axis=1)).sum())
        if broken:
            raise PluginError(f"{_WHAT}: the model gave NaN or infinity for {broken} of {len(block)} chunks")
        return pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), block.shape[1])

    return _Column(pa.list_(pa.float32(), vectors.shape[1]), between, notes)


def _token_vectors(retriever: LanceSettings, chunks: Sequence[Chunk]) -> _Column:
    import pyarrow as pa

    embedder = cast(TokenEmbedder, retriever.embedder)
    # equal texts once, since a vector's last digits depend on its batch
    numbers = {text: number for number, text in enumerate(dict.fromkeys(chunk.text for chunk in chunks))}
    of_chunks = [numbers[chunk.text] for chunk in chunks]
    texts = list(numbers)
    embedded = (each for block in parts(texts, _TEXTS) for each in embedder.token_vectors(block))
    tokens = PageVectors.gather(embedded, "cpu", _WHAT)
    starts = [0, *tokens.ends.tolist()]
    dim = tokens.vectors.shape[1]

    def between(start: int, stop: int) -> Any:
        pieces: list[NDArray[Any]] = [
            tokens.vectors[starts[number] : starts[number + 1]] for number in of_chunks[start:stop]
        ]
        ends = np.cumsum([0, *map(len, pieces)], dtype=np.int32)
        flat = pa.array(np.concatenate(pieces).astype(np.float32).ravel())
        return pa.ListArray.from_arrays(pa.array(ends), pa.FixedSizeListArray.from_arrays(flat, dim))

    return _Column(pa.list_(pa.list_(pa.float32(), dim)), between, embedder.warnings(texts))


_WHOLE = "whole"
"""The tag of the version that is searched. Later versions, which others write, change nothing of it."""
_CACHE = 1 << 29
"""Bytes of an index that a process holds; LanceDB's own limit is 6 GB, which is most of a small machine."""
_QUERIES = 128
"""Vectors that are searched for in one pass over the table."""
_PROBES = 200
"""Chunks that are searched for among the others to measure recall, as for FAISS."""


def connected(uri: str) -> Any:
    """Open a folder or object store of tables; nothing is written yet."""
    library = extras.load("lancedb", "lancedb")
    session = library.Session(index_cache_size_bytes=_CACHE, metadata_cache_size_bytes=_CACHE // 4)
    return library.connect(uri if "://" in uri else str(Path(uri).expanduser().absolute()), session=session)


def check_uri(uri: str) -> None:
    """Raise where tables cannot be; a local folder is not made yet.

    Raises:
        PluginError: LanceDB does not know the scheme, cannot connect, or a file is in the way.
    """
    if "://" in uri:
        with reported(
            f"retriever lancedb: cannot use `uri: {uri}`", "name a folder, or an object store as s3://BUCKET/PATH"
        ):
            connected(uri)
        return
    folder = Path(uri).expanduser().absolute()
    file = next((each for each in (folder, *folder.parents) if each.exists() and not each.is_dir()), None)
    if file is not None:
        raise PluginError(f"retriever lancedb: `uri: {uri}` must be a folder or object store, and {file} is a file")


def write(tables: Any, name: str, schema: Any, blocks: Iterable[Any], indexes: Mapping[str, Any], size: int) -> Any:
    """Write a table in place of any half-written one, unless another run was faster, and return it.

    Args:
        tables: as `connected` returns them.
        schema: of Arrow.
        blocks: record batches of Arrow.
        indexes: LanceDB's descriptions of the indexes, by column.
        size: number of rows.
    """
    if (faster := whole(tables, name, size)) is not None:
        return faster
    # a table that is there is not dropped: another run may be searching a whole version of it by now
    table = tables.create_table(name, schema=schema, mode="create" if _opened(tables, name) is None else "overwrite")
    for block in blocks:
        table.add(block)
    for column, described in indexes.items():
        table.create_index(column, config=described)
    tag = table.tags.update if _WHOLE in table.tags.list() else table.tags.create
    tag(_WHOLE, table.version)
    return table


def whole(tables: Any, name: str, size: int) -> Any | None:
    """Open the whole version of a table; None where there is no table, or it was never finished."""
    table = _opened(tables, name)
    if table is None or _WHOLE not in table.tags.list():
        return None
    table.checkout(_WHOLE)
    return table if table.count_rows() == size else None


def _opened(tables: Any, name: str) -> Any | None:
    try:
        return tables.open_table(name)
    except ValueError as error:  # LanceDB has no class of its own for it
        if "was not found" in str(error):
            return None
        raise


@dataclass(frozen=True)
class Table:
    """A whole table as it is searched.

    Args:
        opened: LanceDB's.
        size: number of rows.
        metric: LanceDB's name of the distance.
        settings: of an approximate search: `probes`, `ef` and `refine`, those that are set.
    """

    opened: Any
    size: int
    metric: str
    settings: Mapping[str, int] = field(default_factory=dict)

    def by_words(self, queries: Sequence[str], most: int) -> list[list[Hit]]:
        """Find rows for queries, each words with spaces between; none is parsed."""
        match = extras.load("lancedb.query", "lancedb").MatchQuery
        rankings = []
        for query in queries:
            search = self.opened.search(match(query, "words"), query_type="fts")
            found = search.limit(most).select(["place", "_score"]).to_arrow()
            rankings.append([Hit(*row) for row in zip(*_columns(found, "place", "_score"), strict=True)])
        return rankings

    def by_vectors(self, queries: Sequence[NDArray[np.float32]], most: int, exact: bool = False) -> list[list[Hit]]:
        """Find rows for vectors (dim,) by inner product, or for vectors of tokens (tokens, dim) by MaxSim.

        Args:
            exact: look at every row, whatever index there is.
        """
        if queries and queries[0].ndim == 2:  # a pass for each: LanceDB takes several for the tokens of one
            return [self._nearest(query, most, exact, [len(query)])[0] for query in queries]
        blocks = parts(range(len(queries)), _QUERIES)
        return [
            hits
            for block in blocks
            for hits in self._nearest([queries[place] for place in block], most, exact, [1] * len(block))
        ]

    def _nearest(self, vectors: Any, most: int, exact: bool, best: Sequence[int]) -> list[list[Hit]]:
        """Search for vectors in one pass; a score is what is best possible less the distance."""
        search = self.opened.search(vectors, vector_column_name="vector").distance_type(self.metric).limit(most)
        if exact:
            search = search.bypass_vector_index()
        for name, value in self.settings.items():
            search = getattr(search, {"probes": "nprobes", "refine": "refine_factor"}.get(name, name))(value)
        found = search.select(["place", "_distance"]).to_arrow()
        places, distances = _columns(found, "place", "_distance")
        # LanceDB numbers the queries where there are several
        owners = _columns(found, "query_index")[0] if "query_index" in found.column_names else [0] * len(places)
        rankings: list[list[Hit]] = [[] for _ in best]
        for owner, place, distance in zip(owners, places, distances, strict=True):
            rankings[owner].append(Hit(place, best[owner] - distance))
        return rankings

    def recall(self) -> float:
        """Measure the share of the exact ten nearest that the index finds, for vectors spread over the table."""
        step = max(1, self.size // _PROBES)
        rows = self.opened.search().where(f"place % {step} = 0").limit(_PROBES).select(["vector"]).to_arrow()
        probes = [np.array(row, np.float32) for row in rows["vector"].to_pylist() if row]
        near, true = (self.by_vectors(probes, 10, exact) for exact in (False, True))
        shared = [len({hit.place for hit in a} & {hit.place for hit in b}) for a, b in zip(near, true, strict=True)]
        return float(np.mean(shared)) / min(10, self.size)


def _columns(found: Any, *names: str) -> list[list[Any]]:
    return [found[name].to_pylist() for name in names]
