"""Reranking: a cross-encoder reads query and chunk together, and reorders what another retriever found."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, execution
from ohr.errors import PluginError
from ohr.models.resident import fitting, resident
from ohr.parts import RetrieverPart

from .embedders import ModelRetriever, cut_off, folder_of, quiet_transformers, unused_prompts
from .hybrid import JoinedRetriever


class Rerank(ModelRetriever, JoinedRetriever, kind="rerank"):
    """Reorders another retriever's hits with a cross-encoder (Nogueira & Cho, arXiv:1901.04085).

    Any sequence classifier with one output will do, bge-reranker among them; scores are its logits. Over a retriever
    of page images, it reads the pages' text.
    """

    packages: ClassVar[tuple[str, ...]] = ("sentence-transformers", "transformers", "torch")
    modules: ClassVar[tuple[str, ...]] = ("torch", "sentence_transformers")
    parts_field: ClassVar[str] = "retriever"
    retriever: Annotated[RetrieverPart, Field(description="What finds the chunks that are reordered.")]
    model: Annotated[str, Field(description="A cross-encoder's folder, or its name on the hub.")] = (
        "BAAI/bge-reranker-v2-m3"
    )
    revision: Annotated[str | None, Field(description="Commit, tag or branch of a model on the hub.")] = None
    depth: Annotated[int, Field(gt=0, description="Hits that are reordered.")] = 50
    max_tokens: Annotated[int, Field(gt=0, description="Tokens read of query and chunk together.")] = 512
    batch_size: Annotated[int, execution("Pairs read at once; halved when memory runs out.", gt=0)] = 32

    def keep(self, chunks: Sequence[Chunk]) -> Mapping[str, list[str]]:
        """Keep the texts."""
        return {"texts": [chunk.text for chunk in chunks]}

    def notes(self, chunks: Sequence[Chunk]) -> tuple[str, ...]:
        """Report what is not used of the model's own, and how many chunks it cannot read whole."""
        return (*unused_prompts(self.model, default=True), *_cut(self, [chunk.text for chunk in chunks]))

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank the part's hits by the cross-encoder's score; ties in the order of the chunks."""
        (rankings,), texts = self.rankings(index, queries, max(k, self.depth)), index["texts"]
        # a pair's last digits depend on its batch, so that each is read once
        pairs = dict.fromkeys(
            (query, texts[hit.place]) for query, hits in zip(queries, rankings, strict=True) for hit in hits
        )
        scores = dict(zip(pairs, _scores(self, list(pairs)), strict=True))
        found = []
        for query, hits in zip(queries, rankings, strict=True):
            again = [Hit(hit.place, scores[query, texts[hit.place]]) for hit in hits]
            found.append(sorted(again, key=lambda hit: (-hit.score, hit.place))[: max(k, 0)])
        return found


def _loaded(model: str, revision: str | None, max_tokens: int, device: str) -> Any:
    quiet_transformers()
    library, torch = extras.load("sentence_transformers", "dense"), extras.load("torch", "dense")
    with extras.loading("retriever rerank", model):
        loaded = library.CrossEncoder(
            folder_of(model), revision=revision, device=device, activation_fn=torch.nn.Identity()
        )
    if loaded.num_labels != 1:
        raise PluginError(f"retriever rerank: {model} gives {loaded.num_labels} numbers a pair: it is not a reranker")
    loaded.max_seq_length = max_tokens
    return loaded


def reader(retriever: Rerank) -> Any:
    """Return a reranker's CrossEncoder, which is loaded if it is not in memory."""
    settings = (retriever.model, retriever.revision, retriever.max_tokens, retriever.device)
    return resident(("rerank", *settings), lambda: _loaded(*settings))


def _scores(retriever: Rerank, pairs: Sequence[tuple[str, str]]) -> list[float]:
    if not pairs:
        return []
    model = reader(retriever)
    given, _ = fitting(
        lambda size: model.predict(list(pairs), batch_size=size, show_progress_bar=False), retriever.batch_size
    )
    scores = [float(score) for score in given]
    if broken := sum(not isfinite(score) for score in scores):
        raise PluginError(f"retriever rerank: the model gave NaN or infinity for {broken} of {len(scores)} pairs")
    return scores


def _cut(retriever: Rerank, texts: Sequence[str]) -> tuple[str, ...]:
    different = dict.fromkeys(texts)
    if not any(len(text.encode()) + 2 > retriever.max_tokens for text in different):
        return ()  # without loading the model
    cut, _ = cut_off(reader(retriever).tokenizer, different, retriever.max_tokens)
    return (f"{cut} of the cross-encoder",) if cut else ()
