"""Sanity arms: what retrieval would score if it were perfect, if it were blind, and if nothing were left out."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, ClassVar

from pydantic import Field

from ohr import seeds
from ohr.contracts import AnyRetriever, Chunk, Hit, Image, Index, Question
from ohr.text.words import words


class _Arm(AnyRetriever):
    """Keeps the chunks, to choose among them by the question."""

    def index_passages(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:  # noqa: ARG002 # of the contract
        """Keep the chunks."""
        return Index({"chunks": [asdict(chunk) for chunk in chunks]})


class Oracle(_Arm, kind="oracle"):
    """Finds the question's own pages: the ceiling of retrieval. The highest grade and most evidence come first."""

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = ("rjieba",)

    def search_questions(self, index: Index, questions: Sequence[Question], k: int) -> list[list[Hit]]:
        """Look where the evidence is."""
        chunks = _chunks(index)
        places = defaultdict(list)
        for place, chunk in enumerate(chunks):
            for page in chunk.pages:
                places[chunk.document, page].append(place)
        return [_best(chunks, places, question)[:k] for question in questions]


def _best(chunks: Sequence[Chunk], places: Mapping[tuple[str, int], list[int]], question: Question) -> list[Hit]:
    grades: dict[int, float] = {}
    for page, grade in question.grades.items():
        for place in places.get(page, ()):
            grades[place] = max(grade, grades.get(place, grade))
    evidence = set(words(" ".join(question.evidence)))

    def share(place: int) -> float:
        return len(evidence.intersection(words(chunks[place].text))) / max(len(evidence), 1)

    hits = [(grade, Hit(place, grade - 1 + share(place))) for place, grade in grades.items()]
    return [hit for _, hit in sorted(hits, key=lambda hit: (-hit[0], -hit[1].score, hit[1].place))]


class Shuffle(_Arm, kind="shuffle"):
    """Finds random chunks of other documents of the question's domain: passages that cannot help."""

    seed: Annotated[int, Field(ge=0, description="Another seed draws other chunks.")] = 0

    def search_questions(self, index: Index, questions: Sequence[Question], k: int) -> list[list[Hit]]:
        """Draw for each question; other documents of any domain where its own has none."""
        chunks = _chunks(index)
        domains = [chunk.document.partition("/")[0] for chunk in chunks]
        return [self._drawn(chunks, domains, question)[:k] for question in questions]

    def _drawn(self, chunks: Sequence[Chunk], domains: Sequence[str], question: Question) -> list[Hit]:
        others = [place for place, chunk in enumerate(chunks) if chunk.document != question.document]
        near = [place for place in others if domains[place] == question.domain] or others
        order = seeds.generator(self.seed, "shuffle", question.id).permutation(len(near))
        return [Hit(near[int(place)], -float(rank)) for rank, place in enumerate(order)]


class Random(_Arm, kind="random"):
    """Draws chunks of the whole index, each with the same chance: the chance level of a retriever."""

    seed: Annotated[int, Field(ge=0, description="Another seed draws other chunks.")] = 0

    def search_questions(self, index: Index, questions: Sequence[Question], k: int) -> list[list[Hit]]:
        """Draw for each question, without repeats."""
        size = len(index["chunks"])
        draws = (seeds.generator(self.seed, "random", question.id) for question in questions)
        drawn = (draw.choice(size, min(k, size), replace=False) for draw in draws)
        return [[Hit(int(place), -float(rank)) for rank, place in enumerate(places)] for places in drawn]


class WholeDocument(_Arm, kind="whole_document"):
    """Finds all of the question's document, in reading order: a generator that needs no retrieval."""

    top_k: Annotated[int, Field(gt=0, description="Chunks given to the generator, from the document's first one.")] = (
        10_000
    )

    def search_questions(self, index: Index, questions: Sequence[Question], k: int) -> list[list[Hit]]:
        """Take the document's chunks as they come."""
        places = defaultdict(list)
        for place, chunk in enumerate(_chunks(index)):
            places[chunk.document].append(place)
        return [[Hit(place, 0.0) for place in places[question.document][:k]] for question in questions]


def _chunks(index: Index) -> Sequence[Chunk]:
    return index.once(
        "chunks", lambda: [Chunk(**{**chunk, "pages": tuple(chunk["pages"])}) for chunk in index["chunks"]]
    )
