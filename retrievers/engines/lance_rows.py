"""Rows that `lancedb` writes of chunks: a place, a vector and words, block by block."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.contracts import Chunk
from ohr.errors import PluginError
from ohr.models.resident import parts

from ..vector.embedding import EmbeddingRetriever
from ..vector.maxsim import PageVectors
from ..vector.token_vectors import TokenEmbedder
from .hits import spaced
from .lance_settings import LanceSettings

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
