"""Search in a Qdrant server, or in the engine that Qdrant's client embeds."""

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from math import ceil
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

import numpy as np
from pydantic import Field, field_validator, model_validator

from ohr import extras
from ohr.contracts import AnyRetriever, Chunk, Hit, Image, Index, execution
from ohr.errors import PluginError
from ohr.messages.secrets import without_key
from ohr.models.chat_server import check_key, key_of
from ohr.models.tries import Backoff, Retries, Tries
from ohr.parts import TextRetrieverPart

from ..hybrid import JoinedRetriever
from .qdrant_engine import CollectionGone, Engine, Graph, opened
from .vectors import EmbeddingRetriever, Vectors, query_vectors

_BLOCK = 1 << 14  # vectors that are looked at at once
_PROBES = 200  # vectors that are searched for among the others to measure recall
_MEMORY = ":memory:"
"""The name of a path to nothing: the embedded engine then lives in memory, and is filled for each open index."""


class Qdrant(JoinedRetriever, kind="qdrant"):
    """Ranks chunks by the inner product of their embedding with the query's, in Qdrant.

    A collection is named by its vectors and settings: another run with the same finds it, fills up what is missing, and
    searches it. ohr keeps the vectors too, so that a collection that is gone is filled again.
    """

    parts_field: ClassVar[str] = "embedder"
    extra: ClassVar[str | None] = "qdrant"
    packages: ClassVar[tuple[str, ...]] = ("qdrant-client",)
    embedder: Annotated[
        TextRetrieverPart, Field(validate_default=True, description="The retriever that embeds: dense or mteb.")
    ] = {"kind": "dense"}  # type: ignore[assignment] # noqa: RUF012 # made into a retriever as any other is
    url: Annotated[str | None, execution("A server, such as http://localhost:6333.", pattern=r"^https?://")] = None
    path: Annotated[Path | None, execution("A folder for the embedded engine in place of a server, or `:memory:`.")] = (
        None
    )
    api_key_env: Annotated[str | None, execution("Environment variable that holds the server's key.")] = None
    prefix: Annotated[str, execution("Beginning of the names of collections.", pattern=r"^[A-Za-z0-9_-]{0,60}$")] = (
        "ohr-"
    )
    exact: Annotated[bool, Field(description="Compare all vectors; else search a graph, whose recall is reported.")] = (
        True
    )
    m: Annotated[int, Field(ge=4, le=256, description="Edges of each node of the graph.")] = 16
    ef_construct: Annotated[int, Field(ge=4, description="Candidates while the graph is built.")] = 100
    ef: Annotated[int, Field(ge=1, description="Candidates while the graph is searched.")] = 128
    batch_size: Annotated[int, execution("Points or queries sent at once.", gt=0)] = 256
    timeout: Annotated[float, execution("Seconds for one request.", gt=0)] = 60.0
    retries: Retries = 4
    backoff: Backoff = 1.0

    @model_validator(mode="after")
    def _one_place(self) -> "Qdrant":
        if self.url and self.path:
            raise ValueError(
                "has both `url`, a server, and `path`, a folder for the embedded engine: give one, not both"
            )
        if not (self.url or self.path):
            raise ValueError("needs `url`, the address of a server, or `path`, a folder for the embedded engine")
        if self.path and self.api_key_env:
            raise ValueError("`api_key_env` belongs to a server, and `path` names the embedded engine")
        if not isinstance(self.embedder, EmbeddingRetriever):
            raise ValueError(f"`embedder` must be a retriever that embeds, dense or mteb, and not {self.embedder.kind}")
        if self.embedder.index_type != "exact":
            raise ValueError("`index_type` of the embedder is not used: set `exact: false` of qdrant itself")
        graph = [f"`{name}`" for name in ("m", "ef_construct", "ef") if getattr(self, name) != _default(name)]
        if self.exact and graph:
            raise ValueError(f"{' and '.join(graph)} would not count: `exact: true` builds and searches no graph")
        return self

    @field_validator("url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        if url is not None:
            try:
                address = urlsplit(url)
                has_host = bool(address.hostname) and address.port != 0
            except ValueError as error:
                raise ValueError(f"is no address of a server, such as http://localhost:6333: {error}") from None
            if not has_host:
                raise ValueError("is no address of a server, such as http://localhost:6333: no host or port 0")
        return url

    def check(self) -> None:
        """Raise when a library, the key, the server or what embeds is missing."""
        extras.require("qdrant_client", "qdrant")
        if self.url:
            check_key(f"retriever {self.kind}", self.url, self.api_key_env, "url")
        super().check()
        self._embedder.check_one_vector()
        if self.url:
            with self._engine(retries=0) as engine:
                engine.check_version()

    @property
    def indexed_parts(self) -> Sequence[AnyRetriever]:
        """None: the embedder gives vectors alone, which this index holds."""
        return ()

    def index_without_parts(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:  # noqa: ARG002 # no images
        """Embed every chunk, and fill the collection."""
        notes: tuple[str, ...] = ()
        if self.url:
            with self._engine() as engine:
                notes = engine.check_version()  # before the work of embedding
        vectors, further = self._embedder.vectors(chunks)
        contents = {"vectors": vectors, "collection": self.prefix + self._digest(vectors)}
        index = Index(contents, (*notes, *further))
        if not len(vectors):
            return index
        with self._engine(index) as engine:
            if not self._in_memory:
                engine.fill(index["collection"], vectors, self._graph)
            return Index(contents, (*index.notes, *self._recall(engine, index)))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the inner product; ties in the order of the chunks."""
        if not len(index["vectors"]) or not queries or k <= 0:
            return [[] for _ in queries]
        asked = query_vectors(self._embedder, tuple(queries))
        name = index["collection"]
        with self._engine(index) as engine:
            for _ in range(2):
                engine.fill(name, index["vectors"], self._graph)
                try:
                    return engine.search(name, asked, k, index["vectors"], self._graph)
                except CollectionGone:
                    continue
        raise PluginError(f"retriever {self.kind}: collection {name} was deleted while it was searched")

    @property
    def _embedder(self) -> EmbeddingRetriever:
        assert isinstance(self.embedder, EmbeddingRetriever)
        return self.embedder

    @property
    def _in_memory(self) -> bool:
        return self.path is not None and self.path.name == _MEMORY  # a spec's paths begin at its folder

    @property
    def _graph(self) -> Graph:
        return Graph(self.exact, self.m, self.ef_construct, self.ef)

    def _digest(self, vectors: Vectors) -> str:
        """Hash what a collection holds and how it is built.

        Raises:
            PluginError: a vector is not finite.
        """
        built = [self.version, vectors.shape, None if self.exact else [self.m, self.ef_construct]]
        digest, broken = blake2b(json.dumps(built).encode(), digest_size=16), 0
        for start in range(0, len(vectors), _BLOCK):
            block = np.ascontiguousarray(vectors[start : start + _BLOCK], dtype=np.float32)
            digest.update(block.data)
            broken += int((~np.isfinite(block).all(axis=1)).sum())
        if broken:
            raise PluginError(
                f"retriever {self.kind}: the model gave NaN or infinity for {broken} of {len(vectors)} chunks"
            )
        return digest.hexdigest()

    def _recall(self, engine: Engine, index: Index) -> tuple[str, ...]:
        """Measure the share of the exact ten nearest that the graph finds, for vectors spread over the corpus."""
        if self.exact:
            return ()
        if engine.embedded:
            return ("the embedded engine has no graph: the search is exact",)
        vectors, graph = index["vectors"], self._graph
        probes = np.asarray(vectors[:: max(1, len(vectors) // _PROBES)][:_PROBES])
        exact, found = (
            engine.search(index["collection"], probes, 10, vectors, how)
            for how in (Graph(True, graph.m, graph.ef_construct, graph.ef), graph)
        )
        shares = [len({h.place for h in a} & {h.place for h in b}) / len(a) for a, b in zip(exact, found, strict=True)]
        return (f"Qdrant's graph is approximate: recall@10 {np.mean(shares):.3f} against exact search",)

    @contextmanager
    def _engine(self, index: Index | None = None, retries: int | None = None) -> Iterator[Engine]:
        """Open the server or the embedded engine; one in memory lives as long as an index is open."""
        key = key_of(f"retriever {self.kind}", self.url, self.api_key_env) if self.url else ""
        place = self.url or f"the folder {self.path}"

        def engine(client: object) -> Engine:
            tried = self.retries if retries is None else retries
            tries = Tries(
                place, (place, self.kind, key), tried, self.backoff, lambda text: _line(without_key(text, key))
            )
            embedded = self.url is None
            return Engine(f"retriever {self.kind}", client, tries, self.timeout, embedded, self.batch_size)

        library = extras.load("qdrant_client", "qdrant")
        if self._in_memory:
            client = index.once("memory", lambda: library.QdrantClient(_MEMORY)) if index else None
            yield engine(client)
        elif self.path:
            with opened(f"retriever {self.kind}", self.path, self.timeout) as client:
                yield engine(client)
        else:
            yield engine(_client(self.url or "", key, self.timeout, os.getpid()))


def _default(field: str) -> object:
    return Qdrant.model_fields[field].default


@lru_cache(maxsize=4)
def _client(url: str, key: str, timeout: float, process: int) -> Any:  # noqa: ARG001 # connections are of one process
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a key that goes to another machine without TLS is announced by ohr
        # Qdrant's default port is 6333, also behind https
        return extras.load("qdrant_client", "qdrant").QdrantClient(
            url=url, api_key=key or None, timeout=ceil(timeout), check_compatibility=False
        )


def _line(text: str) -> str:
    return " ".join(text.split())[:200]
