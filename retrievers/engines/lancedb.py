"""Vectors, words or both in a table of LanceDB, on disk or in an object store."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar, cast
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, Resources
from ohr.errors import PluginError
from ohr.keys import identity, key
from ohr.messages.wording import counted
from ohr.parts import part_identity

from ..hybrid import joined, reciprocal_ranks
from ..vector.maxsim import TokenEmbedder, query_token_vectors
from ..vector.vectors import EmbeddingRetriever, query_vectors
from .hits import first_hits, reported, spaced
from .lance_table import LanceSettings, Table, check_uri, connected, indexes, rows, whole, write

_TRAINING = 256
"""Rows that an approximate index is trained on at least, as for FAISS."""
_SEARCHING = ("top_k", "uri", "probes", "ef", "refine", "rrf_k", "depth")
"""Fields that do not decide what a table holds."""
_LOCAL = "chunks"
"""The name of the table in a folder of its own."""


class LanceDb(LanceSettings, kind="lancedb"):
    """Ranks chunks by their vectors, their words or both, in a table of LanceDB.

    Scores are inner products (dense), BM25 with k1 = 1.2 and b = 0.75 (text), sums of 1 / (rrf_k + rank) (hybrid), and
    the sum over a query's tokens of the largest cosine (multivector). Words are cut as for `bm25`.
    """

    extra: ClassVar[str | None] = "lancedb"
    packages: ClassVar[tuple[str, ...]] = ("lancedb", "rjieba")

    def check(self) -> None:
        """Raise when LanceDB is missing, tables cannot be at `uri`, or something of the embedder is missing."""
        extras.require("lancedb", "lancedb")
        if self.uri is not None:
            check_uri(self.uri)
        if self.has_vectors:
            self.embedder.check()

    def resources(self) -> Resources:
        """Return the resources of the embedder."""
        return self.embedder.resources() if self.has_vectors else super().resources()

    def identity(self) -> Mapping[str, object]:
        """Identify the embedder as it identifies itself."""
        return {**super().identity(), "embedder": part_identity(self.embedder) if self.has_vectors else None}

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Write a table; where `uri` has one with the same content, it is used as it is."""
        if not chunks:
            return Index({"size": 0})
        if self.uri is not None:
            name = self._name(chunks)
            notes = self._ensured(self.uri, name, chunks)
            return Index({"size": len(chunks), "table": lambda path: path.write_text(name)}, notes)
        folder = Path(mkdtemp())
        try:
            notes = self._ensured(str(folder), _LOCAL, chunks)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        index = Index({"size": len(chunks), "tables": partial(shutil.copytree, folder, copy_function=_linked)}, notes)
        finalize(index, shutil.rmtree, folder, ignore_errors=True)
        return index

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the score of the mode; ties in the order of the chunks."""
        if not index["size"] or not queries or k <= 0:
            return [[] for _ in queries]
        vectors = self._embedded(tuple(queries)) if self.has_vectors else []
        words = [spaced(self.cut(query)) for query in queries] if self.has_words else []
        place, remedy = _whereabouts(index)
        with reported(f"retriever lancedb: cannot search {self.uri or place}", remedy):
            table = index.once("table", lambda: self._opened(index))
            most = max(k, self.depth) if self.mode == "hybrid" else k
            near = first_hits(table.by_vectors, vectors, most, table.size)
            matching = first_hits(table.by_words, words, most, table.size)
        if self.mode != "hybrid":
            return near or matching
        score = partial(reciprocal_ranks, rrf_k=self.rrf_k)
        return [joined(both, (1, 1), score)[:k] for both in zip(near, matching, strict=True)]

    def _embedded(self, queries: tuple[str, ...]) -> list[NDArray[np.float32]]:
        """Embed queries: (dim,) each, or (tokens, dim)."""
        if self.mode == "multivector":
            return query_token_vectors(cast(TokenEmbedder, self.embedder), queries)
        return list(query_vectors(cast(EmbeddingRetriever, self.embedder), queries))

    def _opened(self, index: Index) -> Table:
        place, remedy = _whereabouts(index)
        uri, name = (str(place), _LOCAL) if self.uri is None else (self.uri, place.read_text())
        table = whole(connected(uri), name, index["size"])
        if table is None:
            raise PluginError(f"retriever lancedb: {uri} has no whole table {name} any more; {remedy}")
        return self._table(table, index["size"])

    def _table(self, opened: Any, size: int) -> Table:
        given = {name: value for name in ("probes", "ef", "refine") if (value := getattr(self, name)) is not None}
        return Table(opened, size, self.metric, given)

    def _ensured(self, uri: str, name: str, chunks: Sequence[Chunk]) -> Sequence[str]:
        """Write a table unless it is there and whole, and return the warnings about it."""
        size = len(chunks)
        approximate = self.index_type != "exact" and size >= _TRAINING
        with reported(f"retriever lancedb: cannot read {uri}"):
            tables = connected(uri)
            opened = whole(tables, name, size)
        if opened is None:
            table_rows = rows(self, chunks)
            with reported(f"retriever lancedb: cannot write the table {name} at {uri}"):
                described = indexes(self, approximate=approximate)
                opened = write(tables, name, table_rows.schema, table_rows.blocks, described, size)
        notes = tuple(json.loads((opened.schema.metadata or {}).get(b"notes", b"[]")))
        if self.index_type == "exact":
            return notes
        if not approximate:
            return (*notes, f"{counted(size, 'passage')}, too few for `{self.index_type}`: the search is exact")
        with reported(f"retriever lancedb: cannot search {uri}"):
            recall = self._table(opened, size).recall()
        return (*notes, f"`{self.index_type}` is approximate: recall@10 {recall:.3f} against exact search")

    def _name(self, chunks: Sequence[Chunk]) -> str:
        """Name a table by what decides its content, so that equal ones are written once."""
        digest = sha256()
        for chunk in chunks:
            text = chunk.text.encode("utf-8", "surrogatepass")
            digest.update(len(text).to_bytes(8, "big") + text)
        return f"ohr_{key('lancedb', identity(self, _SEARCHING), digest.hexdigest())[:32]}"


def _whereabouts(index: Index) -> tuple[Path, str]:
    """Return the folder of tables, or the file with a table's name, and what helps if the table is gone."""
    place: Path = index.contents["tables"] if "tables" in index.contents else index["table"]
    return place, f"remove {place.parent}, and the next run makes the index again"


def _linked(source: str, target: str) -> None:
    """Let a file have a second name: it is not changed any more; on another disk, copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
