"""Embedders whose vectors are drawn from the text: real parts of `lancedb` that load no model."""

from hashlib import sha256
from typing import ClassVar

import numpy as np

from ohr.contracts import Index
from ohr.retrievers.vector.maxsim import PageVectors, TokenEmbedder
from ohr.retrievers.vector.vectors import EmbeddingRetriever

DIM = 16


def vector(text):
    """Return a unit vector that depends on the text alone."""
    seed = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    drawn = np.random.default_rng(seed).normal(size=DIM).astype(np.float32)
    return drawn / np.linalg.norm(drawn)


def stacked(texts):
    return np.array([vector(text) for text in texts], np.float32).reshape(len(texts), DIM)


class Drawn(EmbeddingRetriever, kind="drawn"):
    modules: ClassVar[tuple[str, ...]] = ()
    model: str = "drawn"
    embedded: ClassVar[list[int]] = []

    def check(self):
        pass

    def identity(self):
        return {"kind": "drawn"}

    def embed_passages(self, texts):
        self.embedded.append(len(texts))
        return stacked(texts), ["a warning of the embedder"]

    def embed_queries(self, queries):
        return stacked(queries)


class DrawnTokens(TokenEmbedder, kind="drawn_tokens"):
    """One vector for each word, and one for the text."""

    def token_vectors(self, texts):
        return [stacked([f"text {text}", *text.split()]) for text in texts]

    def index(self, chunks):
        return Index(PageVectors.gather(self.token_vectors([chunk.text for chunk in chunks]), "cpu", "drawn").arrays)

    def search(self, index, queries, k):
        return PageVectors.of(index, "cpu").search(self.token_vectors(queries), k)
