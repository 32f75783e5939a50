"""What a level of noise leaves of the evidence of one document's questions, without keeping the document."""

from dataclasses import dataclass, replace

from ohr.contracts import Benchmark, Document, Page, Question
from ohr.engine.perturb import perturb
from ohr.engine.tasks import recorded_pages, storable
from ohr.metrics.dose import by_page, evidence_text, own_text
from ohr.metrics.lcs import lcs
from ohr.spec.model import KnowledgeBase
from ohr.store import Store, open_store


@dataclass(frozen=True, slots=True)
class ProbeTask:
    """Measure one document under one level; the result goes to the store under `key`.

    Args:
        pages: indices of the pages that are looked at.
        page_keys: (index, key) of those among them that were recognised; empty where the OCR backend reads no images.
        asked: the questions whose evidence is looked for.
        placing: the questions that placed noise goes by; none where no noise is placed.
    """

    benchmark: Benchmark
    base: KnowledgeBase
    document: Document
    seed: int
    key: str
    pages: tuple[int, ...]
    page_keys: tuple[tuple[int, str], ...]
    asked: tuple[Question, ...]
    placing: tuple[Question, ...]
    segment_chinese: bool
    store: str

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return f"{self.base.noise}: {self.document.name}"


def probe(task: ProbeTask) -> dict[str, float]:
    """Do a ProbeTask; gives the share of each question's evidence that is left, by question."""
    store = open_store(task.store)
    pages, whole = _pages(task, store)
    noisy = perturb(pages, task.base.text_noise, task.placing, task.seed, task.base.dosed_as).pages
    held = by_page(replace(page, text=storable(page.text)) for page in noisy)
    found = {q.id: lcs(own_text(q, held), evidence_text(q), task.segment_chinese) for q in task.asked}
    if whole:
        store.put(task.key, found)
    return found


def _pages(task: ProbeTask, store: Store) -> tuple[list[Page], bool]:
    """Give the pages before text noise, and whether all of them could be read."""
    if not task.base.ocr.reads_images:
        pages = recorded_pages(task.benchmark, task.base.ocr, task.document)
        return [page for page in pages if page.index in task.pages], True
    pages = []
    for index, key in task.page_keys:
        found = store.get(key)
        error = None if found else "not read"
        pages.append(Page(task.document.name, index, found["text"] if found else "", error))
    return pages, all(page.error is None for page in pages)
