"""A gate: pages that are read badly go to a second engine, or are left out."""

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts import DocumentView, Recognition

from .first_of import FirstOf
from .parts import Part


class Gate(FirstOf, kind="gate"):
    """Reads each page with the first part; one whose text fails `rule` goes to the second part, or is left out.

    Nothing but the engine's own words, and its confidence, decides: no truth is known where documents are read. A page
    that is left out has no text, and the reader `left out`; the run counts them. A page on which the engine fails has
    failed.
    """

    family: ClassVar[str] = "ocr"
    parts: Annotated[
        tuple[Part, ...],
        Field(min_length=1, max_length=2, description="The engine, and one for the pages it misreads."),
    ]

    def recognise_document(self, view: DocumentView) -> list[Recognition]:
        """Read a document."""
        reads = super().recognise_document(view)
        return [self._passed(read) for read in reads] if len(self.parts) == 1 else reads

    def _passed(self, read: Recognition) -> Recognition:
        if read.error is not None or self.rule.accepts(read):
            return read
        return replace(read, text="", words=(), finish="stop", confidence=None, reader="left out")
