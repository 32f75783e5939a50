"""Texts by any embedding model of mteb's registry."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.contracts import Chunk, Hit, Index
from ohr.errors import PluginError
from ohr.messages.wording import counted
from ohr.models.resident import batch_note, fitting

from ..mteb_models import MtebEncoder, MtebModel
from ..windows import cut_off
from .embedding import EmbeddingRetriever
from .maxsim import PageVectors
from .vectors import Vectors

_BLOCK = 1 << 10  # texts whose many vectors are held at once: 100 MB with 200 tokens of 128 float32 each


class Mteb(MtebModel, EmbeddingRetriever, kind="mteb"):
    """Ranks chunks by a text model of mteb's registry, with mteb's prompts, pooling, precision and similarity.

    Models that give one vector for each token are compared by MaxSim. Sparse models, cross-encoders, and models that
    run on their maker's servers are refused.
    """

    def embed_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[str]]:
        """Embed texts as documents."""
        self.check_one_vector()
        encoder = self.encoder()
        vectors, fitted = _fitting(encoder, texts, "passages")
        return encoder.compared(vectors), batch_note(self.batch_size, fitted)

    def embed_queries(self, queries: Sequence[str]) -> Vectors:
        """Embed texts as queries."""
        encoder = self.encoder()
        return encoder.compared(_fitting(encoder, queries, "queries")[0])

    def check_one_vector(self) -> None:
        """Raise where the model gives many vectors for each text."""
        if self.is_late:
            raise PluginError(f"retriever {self.kind}: {self.model} gives many vectors for each text: use it by itself")

    def warnings(self, texts: Iterable[str]) -> Sequence[str]:
        """Warn of what is stated and not followed, and of texts that are cut."""
        encoder = self.checked_encoder()
        return (*encoder.loaded.notes, *_cut(encoder, texts, self.model))

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Embed every chunk."""
        if not self.is_late:
            return super().index(chunks)
        notes = dict.fromkeys(self.warnings(chunk.text for chunk in chunks))
        pages = PageVectors.gather(self._many_vectors(chunks, notes), self.device, f"retriever {self.kind}")
        return Index(pages.arrays, tuple(notes))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the model's similarity; ties in the order of the chunks."""
        if not self.is_late:
            return super().search(index, queries, k)
        return PageVectors.of(index, self.device).search(_many_query_vectors(self, tuple(queries)), k)

    def _many_vectors(self, chunks: Sequence[Chunk], notes: dict[str, None]) -> Iterator[NDArray[np.float32]]:
        """Embed block after block of texts, each (vectors, dim), equal ones of a block once; fills in the warnings."""
        for start in range(0, len(chunks), _BLOCK):
            texts = [chunk.text for chunk in chunks[start : start + _BLOCK]]
            different = list(dict.fromkeys(texts))
            vectors, fitted = _fitting(self.encoder(), different, "passages")
            notes |= dict.fromkeys(batch_note(self.batch_size, fitted))
            by_text = dict(zip(different, vectors, strict=True))
            yield from (by_text[text].astype(np.float32) for text in texts)


def _fitting(encoder: MtebEncoder, texts: Sequence[str], role: str) -> tuple[list[NDArray[np.float32]], int]:
    """Embed texts in batches that fit into memory; also return their size."""
    if not texts:
        return [], encoder.batch_size
    return fitting(lambda size: getattr(replace(encoder, batch_size=size), role)(texts), encoder.batch_size)


@lru_cache(maxsize=4)
def _many_query_vectors(retriever: Mteb, queries: tuple[str, ...]) -> list[NDArray[np.float32]]:
    """Embed the questions once, each (vectors, dim): every knowledge base is asked the same ones."""
    vectors, _ = _fitting(retriever.encoder(), queries, "queries")
    return [vector.astype(np.float32) for vector in vectors]


def _cut(encoder: MtebEncoder, texts: Iterable[str], name: str) -> tuple[str, ...]:
    """Report the texts that are longer than a model reads, where it is one of sentence-transformers."""
    inner = getattr(encoder.loaded.model, "model", None)
    window, tokenizer = getattr(inner, "max_seq_length", None), getattr(inner, "tokenizer", None)
    if not window or tokenizer is None:
        return ()
    module, types = extras.load("mteb.models.abs_encoder", "mteb"), extras.load("mteb.types", "mteb")
    prompts = getattr(encoder.loaded.model, "model_prompts", None)
    prompt = module.get_prompt(prompts, encoder.task, types.PromptType.document) or ""
    cut, lost = cut_off(tokenizer, texts, window, prompt)
    return (f"{cut} that {name} reads: {counted(lost, 'token')} cut off",) if cut else ()
