"""The work that is spread over processes: reading one page, and finishing one document."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter

from ohr.contracts import Benchmark, Chunker, Document, OcrBackend, Page, Question, Recognition
from ohr.engine.checks import checked_chunks
from ohr.engine.images import PageImage
from ohr.engine.perturb import perturb
from ohr.errors import StageError
from ohr.spec.model import KnowledgeBase
from ohr.store import Store, open_store


@dataclass(frozen=True, slots=True)
class PageTask:
    """Distort and read one page; its text goes to the store under `key`."""

    benchmark: Benchmark
    base: KnowledgeBase
    document: Document
    index: int
    seed: int
    key: str
    store: str

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return f"{self.base.name}: {self.document.name} page {self.index}"


@dataclass(frozen=True, slots=True)
class DocumentTask:
    """Gather one document's pages, perturb their text, and chunk them.

    Args:
        page_keys: keys of the recognised pages; empty where the OCR backend does not read images.
        failures: what went wrong, by page index.
        chunkers: (key, chunker) of each chunking that is missing.
        questions: those about the document, where noise is placed by them.
    """

    benchmark: Benchmark
    base: KnowledgeBase
    document: Document
    seed: int
    key: str
    page_keys: tuple[str, ...]
    failures: tuple[tuple[int, str], ...]
    chunkers: tuple[tuple[str, Chunker], ...]
    store: str
    questions: tuple[Question, ...] = ()

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return f"{self.base.name}: {self.document.name}"


def read_page(task: PageTask) -> float:
    """Do a PageTask; gives the seconds it took.

    Raises:
        StageError: the page has no image, or the engine failed on it.
    """
    began = perf_counter()
    page = PageImage(task.benchmark, task.base.image_noise, task.document, task.index, task.seed)
    image = page.make()
    (read,) = task.base.ocr.recognise([image]) or [Recognition("", "the engine gave no result")]
    if read.error is not None:
        raise StageError(f"ocr {task.base.ocr.kind}", f"{task.document.name} page {task.index}", read.error)
    seconds = perf_counter() - began
    open_store(task.store).put(task.key, {"text": storable(read.text), "seconds": round(seconds, 4)})
    return seconds


def finish_document(task: DocumentTask) -> int:
    """Do a DocumentTask; gives the number of edits that text noise made."""
    store = open_store(task.store)
    pages = _source_pages(task, store)
    made = perturb(pages, task.base.text_noise, task.questions, task.seed, task.base.dosed_as)
    noisy = [replace(page, text=storable(page.text)) for page in made.pages]
    ledgers = made.records()
    store.put(task.key, {"pages": [asdict(page) for page in noisy], "edits": ledgers, "aimed": made.aimed})
    for chunk_key, chunker in task.chunkers:
        store.put(chunk_key, [asdict(chunk) for chunk in checked_chunks(chunker.split(noisy), noisy)])
    return sum(map(len, ledgers))


def _source_pages(task: DocumentTask, store: Store) -> Sequence[Page]:
    if not task.base.ocr.reads_images:
        return recorded_pages(task.benchmark, task.base.ocr, task.document)
    failures = dict(task.failures)
    pages = []
    for index, page_key in enumerate(task.page_keys):
        found = None if index in failures else store.get(page_key)
        if found is None and index not in failures:  # an empty page in its place would be kept as the whole document
            raise StageError(
                "knowledge base", f"{task.document.name} page {index}", "its stored text is lost; run again"
            )
        error = failures.get(index)
        pages.append(Page(task.document.name, index, found["text"] if found else "", error))
    return pages


def recorded_pages(benchmark: Benchmark, ocr: OcrBackend, document: Document) -> Sequence[Page]:
    """Give a document's pages where no image is read."""
    return benchmark.pages(document) if ocr.kind == "ground_truth" else ocr.recorded(document)


def storable(text: str) -> str:
    """Replace lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
