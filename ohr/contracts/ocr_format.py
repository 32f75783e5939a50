"""OCR formats: which files a system writes, and how one is read."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ohr.contracts.stage import Stage
from ohr.contracts.values import Block, Word


class OcrFormat(Stage):
    """Reads the files that an OCR system writes.

    A file that ends in `.json` is given as its JSON value, one that ends in `.jsonl` line by line, each a document, and
    any other as its text. Of several endings that a name has, the longest counts.
    """

    family = "ocr_format"
    endings: ClassVar[tuple[str, ...]] = (".json",)
    """Ends of the files' names after the document's name; of several files of a document, the first named is read."""
    ignored: ClassVar[tuple[str, ...]] = ()
    """Ends of the names of files that are no results."""
    omits_blank: ClassVar[tuple[str, ...]] = ()
    """Those endings whose files do not list pages without text."""
    lists_documents: ClassVar[bool] = True
    """Whether each line of a `.jsonl` file is a document; else the file is given as its text."""
    numbers_pages: ClassVar[bool] = True
    """Whether JSON says which page of its document it holds."""
    is_general: ClassVar[bool] = False
    """True for a format that no system has for itself: files have it where they fit no other."""

    @abstractmethod
    def pages(self, content: Any) -> Mapping[int, Sequence[Block]]:
        """Return a document's blocks by page, from 0; a page without text has none.

        Raises:
            ValueError: it is not as the system writes it; the message follows `its result is`.
        """

    def words(self, content: Any) -> Mapping[int, Sequence[Word]]:  # noqa: ARG002 # of systems that write confidences
        """Return the words or lines of a document that have a confidence, by page, from 0, in reading order.

        Raises:
            ValueError: a confidence is none, as with `pages`; a document keeps its text.
        """
        return {}

    def fits(self, content: Any) -> bool:
        """Report whether content is of this system and no other; where nobody names a format, the files are asked.

        An exception means no, too.
        """
        return not isinstance(content, str) and bool(self.pages(content))

    def document_of(self, line: Any) -> str:  # noqa: ARG002 # of formats with one document a line
        """Return the path or address of the document that a line is about."""
        return ""
