"""OCR backends: pages or documents in, text out."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar

from ohr.contracts.stage import execution
from ohr.contracts.treatment import Medium, Purpose, Treatment
from ohr.contracts.values import Document, DocumentView, Image, Page, Recognition

ABSENT = "not among the precomputed results"
"""Error of a page that recorded results lack: nothing failed, so a run counts it apart from failures."""


class AnyOcr(Treatment):
    """Has the text of pages: what the engine asks of every backend. Plugins inherit from one of those below."""

    family = "ocr"
    takes: ClassVar[Medium | None] = "image"
    gives: ClassVar[Medium | None] = "text"
    purpose: ClassVar[Purpose] = "reading"
    reads_images: ClassVar[bool] = True
    """False for backends whose results exist already (ground truth, a folder)."""
    reads_original: ClassVar[bool] = False
    """True for backends that read the benchmark's own files, such as a PDF's text layer: image noise cannot reach
    them."""
    reads_documents: ClassVar[bool] = False
    """True for backends that read a whole document at once, by `recognise_document`; where it is the original file or
    where paragraphs and tables run over pages."""
    counts_tokens: ClassVar[bool] = False
    """True for backends whose pages have `tokens_in` and `tokens_out`: they may have a price by the token."""
    finishing: ClassVar[tuple[str, ...]] = ()
    """Fields that only `written` looks at: no page is read again where they change."""
    batch_size: Annotated[int, execution("Pages given to the engine at once.", gt=0)] = 1

    def written(self, page: Recognition) -> str:
        """Return a page's text as a knowledge base has it."""
        return page.text

    def reads(self, language: str) -> bool:  # noqa: ARG002 # for those that read some languages only
        """Report whether documents in `language` (ISO 639-1) can be read."""
        return True

    def notes(self, documents: Sequence[Document]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """List what is missing from recorded results or wrong with them: warnings, as `notes` of a benchmark."""
        if self.reads_original:
            return (f"ocr {self.kind} reads the documents' own files: image noise does not reach it",)
        return ()


class OcrBackend(AnyOcr):
    """Reads text from page images, or from documents."""

    @abstractmethod
    def recognise(self, images: Sequence[Image]) -> Iterable[Recognition]:
        """Read up to `batch_size` images, in order; a page that fails is a value, not an exception.

        What is read of an image must not depend on the others. Each image is made when it is accessed. A generator's
        results are kept as they come.
        """

    def recognise_document(self, view: DocumentView) -> Iterable[Recognition]:
        """Read a document, one result per page, in order."""
        return self.recognise(view.images)


class RecordedOcr(AnyOcr):
    """Has results that were recorded, and reads no images."""

    reads_images: ClassVar[bool] = False

    @abstractmethod
    def recorded(self, document: Document) -> Sequence[Page]:
        """Return a document's pages; one that the results lack has the error ABSENT."""
