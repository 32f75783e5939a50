"""A benchmark that repeats mini's documents, so that the number of pages can grow and nothing else does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ohr.benchmarks.mini import Mini
from ohr.contracts import Benchmark, Document, Image, Page, Question, ScoringProtocol

_MINI = Mini(languages=("en",), domains=("law", "textbook"), max_pages=1, dpi=72)


class Repeated(Benchmark):
    """Repeats documents under new names."""

    kind: Literal["repeated"] = "repeated"
    times: int = 1

    @property
    def scoring(self) -> ScoringProtocol:
        return _MINI.scoring

    def documents(self) -> Sequence[Document]:
        return [replace(d, name=f"{d.name}.{n}") for n in range(self.times) for d in _MINI.documents()]

    def pages(self, document: Document) -> Sequence[Page]:
        return [replace(page, document=document.name) for page in _MINI.pages(_original(document))]

    def page_image(self, document: Document, index: int) -> Image:
        return _MINI.page_image(_original(document), index)

    def questions(self) -> Sequence[Question]:
        return [replace(question, document=f"{question.document}.0") for question in _MINI.questions()]

    def fingerprint(self, document: Document, *, images: bool) -> str:
        return _MINI.fingerprint(_original(document), images=images)


def _original(document: Document) -> Document:
    return replace(document, name=document.name.rpartition(".")[0])
