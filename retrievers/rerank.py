"""Reranking: a cross-encoder reads query and chunk together, and reorders what another retriever found."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index, PageView, Resources, Retriever, execution
from ohr.errors import PluginError
from ohr.messages.wording import counted
from ohr.models.check import check_device, model_resources
from ohr.models.memory import fitting
from ohr.models.resident import resident
from ohr.parts import RetrieverPart, part_identity

from .embedders import check_model, folder_of, model_identity, unused_prompts
from .parts import index_parts, notes_of
from .windows import cut_off


class Rerank(Retriever):
    """Reorders another retriever's hits with a cross-encoder (Nogueira & Cho, arXiv:1901.04085).

    Any sequence classifier with one output will do, bge-reranker among them; scores are its logits. Over a retriever
    of page images, it reads the pages' text.
    """

    kind: Literal["rerank"] = "rerank"
    extra: ClassVar[str | None] = "dense"
    packages: ClassVar[tuple[str, ...]] = ("sentence-transformers", "transformers", "torch")
    retriever: Annotated[RetrieverPart, Field(description="What finds the chunks that are reordered.")]
    model: Annotated[str, Field(description="A cross-encoder's folder, or its name on the hub.")] = (
        "BAAI/bge-reranker-v2-m3"
    )
    revision: Annotated[str | None, Field(description="Commit, tag or branch of a model on the hub.")] = None
    depth: Annotated[int, Field(gt=0, description="Hits that are reordered.")] = 50
    max_tokens: Annotated[int, Field(gt=0, description="Tokens read of query and chunk together.")] = 512
    batch_size: Annotated[int, execution("Pairs read at once; halved when memory runs out.", gt=0)] = 32
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    @property
    def reads_images(self) -> bool:  # type: ignore[override] # depends on the part
        """Whether what finds the chunks reads page images."""
        return self.retriever.reads_images

    def check(self) -> None:
        """Raise when a library, the model or the device is missing, here or in the part."""
        for module in ("torch", "sentence_transformers"):
            extras.require(module, "dense")
        check_model("retriever rerank", self.model, self.revision)
        check_device("retriever rerank", self.device, "dense")
        self.retriever.check()

    def resources(self) -> Resources:
        """Return the resources of the cross-encoder and the part together."""
        return Resources.together(model_resources(self.device), self.retriever.resources())

    def identity(self) -> Mapping[str, object]:
        """Identify the model and the part by content."""
        own = {"model": model_identity(self.model, self.revision), "retriever": part_identity(self.retriever)}
        return {**super().identity(), **own}

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Index with the part, and keep the texts."""
        return RerankIndex(self.retriever.index(chunks), [chunk.text for chunk in chunks], self)

    def index_pages(self, pages: Iterable[PageView]) -> Index:
        """Index page images with the part, and keep the pages' text."""
        (index,), chunks = index_parts([self.retriever], pages)
        return RerankIndex(index, [chunk.text for chunk in chunks], self)

    def load(self, folder: Path) -> Index:
        """Read the part's index and the texts."""
        return RerankIndex(self.retriever.load(folder / "0"), json.loads((folder / "texts.json").read_text()), self)


@dataclass(frozen=True)
class RerankIndex:
    """The part's index, and the chunks' texts."""

    found: Index
    texts: Sequence[str]
    retriever: Rerank

    @property
    def notes(self) -> Sequence[str]:
        """Warnings of the part, and how many chunks the cross-encoder cannot read whole."""
        own = (*unused_prompts(self.retriever.model, default=True), *_cut(self.retriever, self.texts))
        return (*notes_of([self.retriever.retriever], [self.found]), *own)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank the part's hits by the cross-encoder's score; ties in the order of the chunks."""
        rankings = self.found.search(queries, max(k, self.retriever.depth))
        # a pair's last digits depend on its batch, so that each is read once
        pairs = dict.fromkeys(
            (query, self.texts[hit.place]) for query, hits in zip(queries, rankings, strict=True) for hit in hits
        )
        scores = dict(zip(pairs, _scores(self.retriever, list(pairs)), strict=True))
        found = []
        for query, hits in zip(queries, rankings, strict=True):
            again = [Hit(hit.place, scores[query, self.texts[hit.place]]) for hit in hits]
            found.append(sorted(again, key=lambda hit: (-hit.score, hit.place))[: max(k, 0)])
        return found

    def save(self, folder: Path) -> None:
        """Write the texts, and the part's index into a folder of its own."""
        (folder / "texts.json").write_text(json.dumps(list(self.texts)))
        (folder / "0").mkdir()
        self.found.save(folder / "0")


def _loaded(model: str, revision: str | None, max_tokens: int, device: str) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library, torch = extras.load("sentence_transformers", "dense"), extras.load("torch", "dense")
    extras.load("transformers", "dense").utils.logging.disable_progress_bar()
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
    share = f"{cut:,} of {counted(len(different), 'different chunk')}"
    return (f"{share} longer than the {retriever.max_tokens} tokens of the cross-encoder",) if cut else ()
