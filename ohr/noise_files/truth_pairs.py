"""Pairs of truth and reading, which a channel is fitted to."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ohr.contracts import Benchmark, Document, DocumentView, OcrBackend, Recognition
from ohr.engine.progress import Progress, counting
from ohr.files.lazy import Made


@dataclass(frozen=True, slots=True)
class Reading:
    """A page of a document: the truth, and the text that an engine read on it."""

    document: str
    page: int
    truth: str
    read: str


def recognised(benchmark: Benchmark, engine: OcrBackend, progress: Progress) -> Iterator[Reading]:
    """Read a benchmark's pages with an engine; pages that it fails on, and languages it does not read, are left out."""
    documents = [document for document in benchmark.documents() if engine.reads(document.language)]
    with counting(progress, "OCR", sum(document.pages for document in documents)) as advance:
        for document in documents:
            pages = benchmark.pages(document)
            for page, read in zip(pages, _read(benchmark, engine, document, len(pages)), strict=False):
                advance(1)
                if read.error is None:
                    yield Reading(document.name, page.index, page.text, engine.written(read))


def _read(benchmark: Benchmark, engine: OcrBackend, document: Document, pages: int) -> Iterator[Recognition]:
    images = [partial(benchmark.page_image, document, index) for index in range(pages)]
    if engine.reads_documents:
        yield from engine.recognise_document(DocumentView(document, Made(images), benchmark.pdf(document)))
    else:
        for make in images:
            yield from engine.recognise([make()])
