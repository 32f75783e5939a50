"""Sanity arms: what retrieval would score if it were perfect, if it were blind, and if nothing were left out."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr import seeds
from ohr.contracts import Chunk, Hit, Index, Question, Retriever
from ohr.text.words import words


@dataclass(frozen=True)
class Corpus:
    """The chunks as they are: a query alone finds nothing, since these arms look at the question."""

    chunks: tuple[Chunk, ...]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:  # noqa: ARG002 # of the contract
        """Find nothing."""
        return [[] for _ in queries]

    def save(self, folder: Path) -> None:
        """Write the chunks."""
        (folder / "chunks.json").write_text(json.dumps([asdict(chunk) for chunk in self.chunks]))


class _Arm(Retriever):
    """Keeps the chunks, to choose among them by the question."""

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Keep the chunks."""
        return Corpus(tuple(chunks))

    def load(self, folder: Path) -> Index:
        """Read the chunks."""
        read = json.loads((folder / "chunks.json").read_text())
        return Corpus(tuple(Chunk(**{**chunk, "pages": tuple(chunk["pages"])}) for chunk in read))


class Oracle(_Arm):
    """Finds the question's own pages: the ceiling of retrieval. Of more chunks, those with most of the evidence."""

    kind: Literal["oracle"] = "oracle"
    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = ("rjieba",)

    def search(self, index: Index, questions: Sequence[Question]) -> list[list[Hit]]:
        """Look where the evidence is."""
        chunks = _chunks(index)
        places = defaultdict(list)
        for place, chunk in enumerate(chunks):
            for page in chunk.pages:
                places[chunk.document, page].append(place)
        return [self._found(chunks, places, question) for question in questions]

    def _found(
        self, chunks: Sequence[Chunk], places: Mapping[tuple[str, int], list[int]], question: Question
    ) -> list[Hit]:
        own = dict.fromkeys(place for page in question.pages for place in places.get((question.document, page), ()))
        wanted = set(words(" ".join(question.evidence)))
        held = {place: len(wanted.intersection(words(chunks[place].text))) / max(len(wanted), 1) for place in own}
        return sorted((Hit(place, held[place]) for place in own), key=lambda hit: (-hit.score, hit.place))[: self.top_k]


class Shuffle(_Arm):
    """Finds random chunks of other documents of the question's domain: passages that cannot help."""

    kind: Literal["shuffle"] = "shuffle"
    seed: Annotated[int, Field(ge=0, description="Another seed draws other chunks.")] = 0

    def search(self, index: Index, questions: Sequence[Question]) -> list[list[Hit]]:
        """Draw for each question; other documents of any domain where its own has none."""
        chunks = _chunks(index)
        domains = [chunk.document.partition("/")[0] for chunk in chunks]
        return [self._drawn(chunks, domains, question) for question in questions]

    def _drawn(self, chunks: Sequence[Chunk], domains: Sequence[str], question: Question) -> list[Hit]:
        others = [place for place, chunk in enumerate(chunks) if chunk.document != question.document]
        near = [place for place in others if domains[place] == question.domain] or others
        order = seeds.generator(self.seed, "shuffle", question.id).permutation(len(near))[: self.top_k]
        return [Hit(near[int(place)], -float(rank)) for rank, place in enumerate(order)]


class Random(_Arm):
    """Draws chunks of the whole index, each with the same chance: the chance level of a retriever."""

    kind: Literal["random"] = "random"
    seed: Annotated[int, Field(ge=0, description="Another seed draws other chunks.")] = 0

    def search(self, index: Index, questions: Sequence[Question]) -> list[list[Hit]]:
        """Draw for each question, without repeats."""
        size = len(_chunks(index))
        draws = (seeds.generator(self.seed, "random", question.id) for question in questions)
        drawn = (draw.choice(size, min(self.top_k, size), replace=False) for draw in draws)
        return [[Hit(int(place), -float(rank)) for rank, place in enumerate(places)] for places in drawn]


class WholeDocument(_Arm):
    """Finds all of the question's document, in reading order: a generator that needs no retrieval."""

    kind: Literal["whole_document"] = "whole_document"
    top_k: Annotated[int, Field(gt=0, description="Chunks given to the generator, from the document's first one.")] = (
        10_000
    )

    def search(self, index: Index, questions: Sequence[Question]) -> list[list[Hit]]:
        """Take the document's chunks as they come."""
        places = defaultdict(list)
        for place, chunk in enumerate(_chunks(index)):
            places[chunk.document].append(place)
        return [[Hit(place, 0.0) for place in places[question.document][: self.top_k]] for question in questions]


def _chunks(index: Index) -> Sequence[Chunk]:
    if not isinstance(index, Corpus):
        raise TypeError(f"not an index of a sanity arm: {type(index).__name__}")
    return index.chunks
