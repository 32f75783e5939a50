"""Calibration measurements: the evidence of one document that survives one noise level."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ohr.contracts import Benchmark, Document, OcrBackend, Page, Question
from ohr.metrics.dose import by_page, evidence_text, own_text
from ohr.metrics.lcs import lcs
from ohr.spec.model import KnowledgeBase
from ohr.steps.documents.make_document import recognised_pages, recorded_pages
from ohr.steps.documents.treat import TreatedPages, treat
from ohr.store import Store
from ohr.work.plugin_checks import storable
from ohr.work.step import Context, Ready, Report, Work


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
