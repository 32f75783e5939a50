"""Damage: what one document of one knowledge base lost of its ground truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ohr.contracts import Document
from ohr.metrics.dose import PageDose, QuestionDose, by_page, question_dose
from ohr.metrics.realism import SeenPage, see
from ohr.steps.documents import read_pages
from ohr.steps.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class Damage:
    """The loss of one document in one knowledge base, by question and by page; sources and edits are not filled in."""

    questions: Mapping[str, QuestionDose]
    pages: Sequence[SeenPage]


@dataclass(frozen=True, slots=True)
class MeasureDamage(Work):
    """Compare one document of a knowledge base with its ground truth. Writes {questions, pages}."""

    kind: ClassVar[str] = "measuring damage"
    shape: ClassVar[str] = "damage"
    role: ClassVar[str] = "damage"
    base: str
    document: Document
    segment_chinese: bool

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
        seen = [see(page, here.get(place), (), {}) for place, page in truth.items()]
        pages = [[page.dose, dict(page.commands), page.redundant, dict(page.blocks), page.words] for page in seen]
        context.store.put(ready.outputs[0], {"questions": questions, "pages": pages})
        return Report()


def read_damage(kept: Mapping[str, Any]) -> Damage:
    """Read what MeasureDamage wrote."""
    questions = {found["question_id"]: QuestionDose(**found) for found in kept["questions"]}
    pages = [
        SeenPage(PageDose(**dose), frozenset(), commands, redundant, {}, blocks, words)
        for dose, commands, redundant, blocks, words in kept["pages"]
    ]
    return Damage(questions, pages)
