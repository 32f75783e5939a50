"""Documents: gather one document's pages, treat their text, and cut them into passages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ohr.contracts import (
    AnyOcr,
    Benchmark,
    Chunk,
    Chunker,
    Completion,
    Document,
    OcrBackend,
    Page,
    Question,
    RecordedOcr,
)
from ohr.errors import InputsGone, StageError
from ohr.spec.model import KnowledgeBase
from ohr.steps.documents.page_images import in_order
from ohr.steps.documents.read_pages import as_recognition, as_stated
from ohr.steps.documents.treat import Replies, TreatedPages, treat
from ohr.store import Store
from ohr.work.plugin_checks import checked_chunks, storable
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class MakeDocument(Work):
    """Make the text of one document in one knowledge base. Writes {pages, edits, aimed}, and what repairs did.

    Its inputs are the recognised pages, in order; none where the OCR backend reads no images.

    Args:
        questions: those about the document, where noise is placed by them.
        stop: how many treatments of the text act, before a model is asked for a correction; None for all.
    """

    kind: ClassVar[str] = "making documents"
    shape: ClassVar[str] = "document"
    role: ClassVar[str] = "knowledge base"
    benchmark: Benchmark
    base: KnowledgeBase
    document: Document
    seed: int
    questions: tuple[Question, ...] = ()
    stop: int | None = None

    @property
    def item(self) -> str:
        """Name of the document."""
        return f"{self.base.name}: {self.document.name}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Make the document; a page that failed has no text and an error."""
        base, pages = self.base, self._source(ready, context.store)
        treatments, earlier = base.text_treatments[: self.stop], base.orders_read
        treated = TreatedPages.of(pages)
        treat(treated, treatments, self.questions, self.seed, base.dosed_as, earlier=earlier)
        report = made_report(ready.outputs[0], treated)
        if isinstance(base.ocr, RecordedOcr) and (words := base.ocr.words(self.document)):
            stated = [(page, as_stated(words[page])) for page in sorted(words)]
            report.values[ready.outputs[0]]["words"] = [[*each] for each in stated if each[1]]
        return report

    def _source(self, ready: Ready, store: Store) -> Sequence[Page]:
        if not isinstance(self.base.ocr, OcrBackend):
            return recorded_pages(self.benchmark, self.base.ocr, self.document)
        numbers = [page.number for page in in_order(self.document, self.base.orders_read, self.seed)]
        return recognised_pages(store, self.base.ocr, self.document, numbers, ready.inputs, self.item)


def made_report(output: str, treated: TreatedPages) -> Report:
    """Report a document as it is kept."""
    pages = [replace(page, text=storable(page.text)) for page in treated.pages]
    value: dict[str, Any] = {"pages": pages, "edits": treated.ledgers, "aimed": treated.aimed}
    if treated.records:
        value["treated"] = treated.records
    report = Report(values={output: value})
    report.calls["documents"] = 1
    return report


@dataclass(frozen=True, slots=True)
class CorrectDocument(Work):
    """Correct one document with a model's replies, and lead it through the treatments that follow. Writes as above.

    Its inputs are the document before, and the keys of the replies by the place of the page.

    Args:
        start: place of the correction among the treatments of the text; `stop` that of the next one, None for all.
    """

    kind: ClassVar[str] = "making documents"
    shape: ClassVar[str] = "document"
    role: ClassVar[str] = "knowledge base"
    base: KnowledgeBase
    document: Document
    seed: int
    questions: tuple[Question, ...]
    start: int
    stop: int | None

    @property
    def item(self) -> str:
        """Name of the document."""
        return f"{self.base.name}: {self.document.name}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Wait for the replies, then correct the document; a page without a reply stays as it is."""
        if ready.inputs[0] is None or ready.inputs[1] is None:
            raise StageError("correction", self.item, "the document, or what is asked about it, could not be made")
        store = context.store
        before = expected(store, [ready.inputs[0]], self.item, "document")[ready.inputs[0]]
        names = expected(store, [ready.inputs[1]], self.item, "prompts")[ready.inputs[1]]
        needs = tuple(dict.fromkeys(names.values()))
        if needs and ready.needs is None:
            return Report(needs=needs)
        settled = dict(zip(needs, ready.needs or (), strict=True))
        there = [name for name in settled.values() if name is not None]
        completions = {name: Completion(**reply) for name, reply in expected(store, there, self.item, "answer").items()}
        replies = {int(place): completions.get(settled[name] or "") for place, name in names.items()}
        report = made_report(ready.outputs[0], self._treated(before, replies))
        if "words" in before:
            report.values[ready.outputs[0]]["words"] = before["words"]
        return report

    def _treated(self, before: Mapping[str, Any], replies: Replies) -> TreatedPages:
        base, every = self.base, self.base.text_treatments
        earlier = (*base.orders_read, *every[: self.start])
        steps = sum(each.keeps_edits for each in every[: self.start])
        pages, records = [Page(**page) for page in before["pages"]], [*before.get("treated", ())]
        treated = TreatedPages(pages, before["edits"], steps, before["aimed"], records)
        return treat(
            treated,
            every[self.start : self.stop],
            self.questions,
            self.seed,
            base.dosed_as[steps:],
            earlier=earlier,
            replies=replies,
        )


_FAILED = "the page could not be read"
"""Error of a page in a document; the failure itself, with its reason, is listed once, by the step that read it."""


@dataclass(frozen=True, slots=True)
class CutChunks(Work):
    """Cut one document into passages. Writes a list of chunks; its input is the document."""

    kind: ClassVar[str] = "cutting chunks"
    shape: ClassVar[str] = "chunks"
    role: ClassVar[str] = "chunker"
    chunker: Chunker
    base: str
    document: str

    @property
    def item(self) -> str:
        """Name of the document and the chunker."""
        return f"{self.base}: {self.document}, chunker {self.chunker.kind}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Cut the document; one that failed has no passage."""
        pages = read_pages(context.store, ready.inputs[0]) or []
        chunks = checked_chunks(apart(self.chunker.split(pages), pages), pages) if pages else []
        return Report(values={ready.outputs[0]: chunks})


def apart(chunks: Any, pages: Sequence[Page]) -> Any:
    """Return chunks with ids of their own where a document has a page twice."""
    if len({page.index for page in pages}) == len(pages):
        return chunks
    before: Counter[str] = Counter()
    numbered = []
    for chunk in chunks:
        before[chunk.id] += 1
        numbered.append(replace(chunk, id=f"{chunk.id} {before[chunk.id]}") if before[chunk.id] > 1 else chunk)
    return numbered


def recorded_pages(benchmark: Benchmark, ocr: AnyOcr, document: Document) -> Sequence[Page]:
    """Return a document's pages where no image is read."""
    return ocr.recorded(document) if isinstance(ocr, RecordedOcr) else benchmark.pages(document)


def recognised_pages(
    store: Store,
    ocr: OcrBackend,
    document: Document,
    places: Sequence[int],
    keys: Sequence[str | None],
    item: str,
) -> list[Page]:
    """Read recognised pages of a document, aligned with their keys; one that failed has no text and an error.

    Raises:
        InputsGone: some of them are gone.
    """
    found = expected(store, [key for key in keys if key is not None], item, "page")
    return [
        Page(document.name, index, "", _FAILED)
        if key is None
        else Page(document.name, index, ocr.written(as_recognition(found[key])))
        for index, key in zip(places, keys, strict=True)
    ]


def expected(store: Store, keys: Sequence[str], item: str, shape: str) -> dict[str, Any]:
    """Read values that an earlier step wrote.

    Raises:
        InputsGone: some of them are gone, or are not of this shape; a gap in their place would be kept as the whole.
    """
    found = read_sound(store, keys, shape)
    lost = [key for key in keys if key not in found]
    if lost:
        raise InputsGone(item, lost)
    return found


def read_pages(store: Store, key: str | None) -> list[Page] | None:
    """Read a document's pages; None for a document that failed."""
    if key is None:
        return None
    found = expected(store, [key], "a document", "document")[key]
    return [Page(**page) for page in found["pages"]]


def page_chunks(store: Store, keys: Sequence[str | None]) -> Iterator[Chunk]:
    """Read the pages of documents as passages, as a retriever that looks at pages finds them."""
    for key in keys:
        for page in read_pages(store, key) or ():
            name = f"{page.document}:{page.index}"
            yield Chunk(name, page.document, (page.index,), 0, len(page.text), page.text)


def read_chunks(store: Store, keys: Sequence[str | None]) -> Iterator[Chunk]:
    """Read the passages of documents, in order; a document that failed has none."""
    there = [key for key in keys if key is not None]
    for start in range(0, len(there), AT_ONCE):
        some = there[start : start + AT_ONCE]
        found = expected(store, some, "an index", "chunks")
        for key in some:
            yield from (as_chunk(chunk) for chunk in found[key])


AT_ONCE = 64
"""Documents read in one go: enough to save round trips to a remote store, few enough to hold."""


def as_chunk(found: Mapping[str, Any]) -> Chunk:
    """Read a chunk from JSON."""
    return Chunk(**{**found, "pages": tuple(found["pages"])})
