"""Damage: what one document of one knowledge base lost of its ground truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ohr.contracts import Benchmark, Document, OcrBackend, Page, Question
from ohr.metrics.dose import QuestionDose, by_page, evidence_text, is_emptied, own_text, question_dose
from ohr.metrics.lcs import lcs
from ohr.spec.model import KnowledgeBase
from ohr.steps.documents.make_document import read_pages, recognised_pages, recorded_pages
from ohr.steps.documents.treat import TreatedPages, treat
from ohr.store import Store
from ohr.text.words import words
from ohr.work.plugin_checks import storable
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


@dataclass(frozen=True, slots=True)
class MeasureEvidence(Work):
    """Measure one document under one level, without keeping its text. Writes {question: share that survives}.

    Its inputs are the recognised pages among `pages`, in their order; none where the OCR backend reads no images.

    Args:
        pages: indices of the pages that count.
        asked: the questions whose evidence is looked for.
        placing: the questions that decide where noise goes; none where no noise is placed.
    """

    kind: ClassVar[str] = "calibrating"
    shape: ClassVar[str] = "shares"
    role: ClassVar[str] = "calibration"
    benchmark: Benchmark
    base: KnowledgeBase
    document: Document
    seed: int
    pages: tuple[int, ...]
    asked: tuple[Question, ...]
    placing: tuple[Question, ...]
    segment_chinese: bool

    @property
    def item(self) -> str:
        """Name of the level and the document."""
        return f"{self.base.noise}: {self.document.name}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Measure the document; a page that failed counts as empty."""
        source = self._source(ready, context.store)
        treatments, earlier = self.base.text_treatments, self.base.orders_read
        treated = TreatedPages.of(source)
        noisy = treat(treated, treatments, self.placing, self.seed, self.base.dosed_as, earlier=earlier).pages
        held = by_page(replace(page, text=storable(page.text)) for page in noisy)
        shares = {q.id: lcs(own_text(q, held), evidence_text(q), self.segment_chinese) for q in self.asked}
        context.store.put(ready.outputs[0], shares)
        report = Report()
        report.calls["probes"] = 1
        return report

    def _source(self, ready: Ready, store: Store) -> Sequence[Page]:
        if not isinstance(self.base.ocr, OcrBackend):
            pages = recorded_pages(self.benchmark, self.base.ocr, self.document)
            return [page for page in pages if page.index in self.pages]
        return recognised_pages(store, self.base.ocr, self.document, self.pages, ready.inputs, self.item)
