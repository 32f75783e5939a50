"""Damage: what one document of one knowledge base lost of its ground truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ohr.contracts import Document
from ohr.metrics.dose import QuestionDose, by_page, is_emptied, question_dose
from ohr.steps.documents.make_document import read_pages
from ohr.text.words import words
from ohr.work.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class PageDamage:
    """A page of the ground truth: whether the knowledge base lost all its text, and how many words it has, if known."""

    document: str
    index: int
    empty: bool
    words: int | None


@dataclass(frozen=True, slots=True)
class Damage:
    """The loss of one document in one knowledge base, by question and by page; sources and edits are not filled in."""

    questions: Mapping[str, QuestionDose]
    pages: Sequence[PageDamage]


@dataclass(frozen=True, slots=True)
class MeasureDamage(Work):
    """Compare one document of a knowledge base with its ground truth. Writes {questions, pages}."""

    kind: ClassVar[str] = "measuring damage"
    shape: ClassVar[str] = "damage"
    role: ClassVar[str] = "damage"
    base: str
    document: Document
    segment_chinese: bool
    edited: bool
    """Whether text noise has edited it; only then words are counted, which edits are a share of."""

    @property
    def item(self) -> str:
        """Name of the document."""
        return f"{self.base}: {self.document.name}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Measure the document; one that failed has lost everything."""
        inputs = context.inputs
        truth = by_page(inputs.truth[self.document.name])
        here = by_page(read_pages(context.store, ready.inputs[0]) or ())
        asked = inputs.about.get(self.document.name, ())
        questions = [question_dose(q, truth, here, self.segment_chinese, bare=inputs.is_bare) for q in asked]
        pages = [
            [*place, is_emptied(page, here.get(place)), len(words(page.text)) if self.edited else None]
            for place, page in truth.items()
        ]
        return Report(values={ready.outputs[0]: {"questions": questions, "pages": pages}})


def read_damage(kept: Mapping[str, Any]) -> Damage:
    """Read what MeasureDamage wrote."""
    questions = {found["question_id"]: QuestionDose(**found) for found in kept["questions"]}
    return Damage(questions, [PageDamage(*page) for page in kept["pages"]])
