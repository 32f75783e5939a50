"""OCR backends: page images in, text out."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar

from ohr.contracts.stage import Stage, execution
from ohr.contracts.values import Document, Image, Page, Recognition


class OcrBackend(Stage):
    """Reads text from page images."""

    family = "ocr"
    reads_images: ClassVar[bool] = True
    """False for backends that take the text from elsewhere (ground truth, a folder)."""
    batch_size: Annotated[int, execution("Pages given to the engine at once.", gt=0)] = 1

    @abstractmethod
    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Read up to `batch_size` images, in order; a page that fails is a value, not an exception.

        What is read of an image must not depend on the others.
        """

    def reads(self, language: str) -> bool:  # noqa: ARG002 # for those that read some languages only
        """Report whether documents in `language` (ISO 639-1) can be read."""
        return True

    def notes(self, documents: Sequence[Document]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """List what is missing from recorded results or wrong with them: warnings, as `notes` of a benchmark."""
        return ()

    def recorded(self, document: Document) -> Sequence[Page]:
        """Return a document's pages where `reads_images` is False."""
        raise NotImplementedError(f"{self.kind} reads images")
