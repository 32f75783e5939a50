"""The mini benchmark: invented documents in OHRBench's seven domains, shipped with the package."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ohr.contracts import Benchmark, Document, Image, Page, Question, ScoringProtocol
from ohr.files import ohrbench_json, pdf
from ohr.files.digests import input_digest
from ohr.files.ohrbench_questions import read_questions
from ohr.keys import key
from ohr.messages.wording import counted, named

_DATA = Path(__file__).parent / "data"

Domain = Literal["textbook", "law", "finance", "newspaper", "manual", "academic", "administration"]
Language = Literal["en", "zh"]


class Mini(Benchmark, kind="mini"):
    """Documents of seven domains in English and Chinese, with page images, ground truth and questions.

    All persons, companies and places are invented. A question belongs to its document; questions whose evidence is
    on a page that `max_pages` leaves out are left out too.
    """

    packages: ClassVar[tuple[str, ...]] = ("pypdfium2",)
    languages: Annotated[tuple[Language, ...], Field(min_length=1, description="Languages to keep.")] = ("en", "zh")
    domains: Annotated[tuple[Domain, ...] | None, Field(description="Domains to keep; all.")] = None
    max_pages: Annotated[int | None, Field(gt=0, description="Keep only so many pages of each document.")] = None
    dpi: Annotated[int, Field(ge=50, le=600, description="Resolution of the page images.")] = 150
    scope: Annotated[
        Literal["corpus", "domain"], Field(description="One index over the corpus, or one per domain as in OHRBench.")
    ] = "corpus"

    @property
    def scoring(self) -> ScoringProtocol:
        """The clean protocol; a domain of mini has few pages, so the corpus is one index by default."""
        return ScoringProtocol(index_scope=self.scope)

    @property
    def truth(self) -> Path:
        """The folder of the ground truth, in OHRBench's layout."""
        return _DATA / "retrieval_base" / "gt"

    def documents(self) -> Sequence[Document]:
        """List the documents that are kept, by name."""
        return [
            Document(name, name.split("/")[0], about["language"], min(about["pages"], self.max_pages or about["pages"]))
            for name, about in _about().items()
            if about["language"] in self.languages and (self.domains is None or name.split("/")[0] in self.domains)
        ]

    def pages(self, document: Document) -> Sequence[Page]:
        """Read the ground truth."""
        return ohrbench_json.read_pages(self.truth, document.name)[: document.pages]

    def page_image(self, document: Document, index: int) -> Image:
        """Render a page of the shipped PDF."""
        return pdf.render(self.pdf(document), index, self.dpi)

    def questions(self) -> Sequence[Question]:
        """List the questions that the kept pages answer."""
        kept = {document.name: document.pages for document in self.documents()}
        return [q for q in _asked() if q.document in kept and max(q.pages) < kept[q.document]]

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the PDF and its resolution, or the ground truth."""
        if images:
            return key("images", input_digest(self.pdf(document)), self.dpi)
        return key("truth", [page.text for page in self.pages(document)])

    def notes(self) -> Sequence[str]:
        """Report which documents and questions are left out."""
        kept = {document.name for document in self.documents()}
        left_out = sorted(name for name in _about() if name not in kept)
        warnings = []
        if left_out:
            left = counted(len(left_out), "document")
            warnings.append(f"left out {left} (other languages or domains): {named(left_out)}")
        unasked = sum(q.document in kept for q in _asked()) - len(self.questions())
        if unasked:
            left = counted(unasked, "question")
            warnings.append(f"left out {left} whose evidence is on later pages (max_pages: {self.max_pages})")
        return warnings

    def pdf(self, document: Document) -> Path:
        """Return the shipped PDF."""
        return _DATA / "pdfs" / f"{document.name}.pdf"


@lru_cache(maxsize=1)
def _asked() -> tuple[Question, ...]:
    return tuple(read_questions(_DATA / "qas.json"))


@lru_cache(maxsize=1)
def _about() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_DATA / "documents.json").read_text(encoding="utf-8"))
    return found
