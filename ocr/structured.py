"""Common parts of engines that write markup: Markdown, HTML or LaTeX tables, formulas, headings."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from ohr.contracts import DocumentView, OcrBackend, Recognition
from ohr.errors import DataError
from ohr.files.pdf import page_count
from ohr.files.pdf_text import missing_pages, shown
from ohr.markup.page import Markup, MarkupField, page_text, tidy

MISSING = Recognition(error="the PDF claims this page and does not have it, or it is damaged")
"""The result of a page that cannot be shown; the other pages keep their numbers."""


class StructuredOcr(OcrBackend):
    """An engine whose pages have markup; `markup` decides what of it a knowledge base gets."""

    finishing: ClassVar[tuple[str, ...]] = ("markup", "tidying", "table_reading")
    markup: MarkupField = Markup()

    def identity(self) -> Mapping[str, object]:
        """Identify the engine, and how its tables are written."""
        return {**super().identity(), **self.markup.identity()}

    def written(self, page: Recognition) -> str:
        """Return the page's text with the markup that is kept."""
        return page_text(page.blocks, self.markup) if page.blocks else tidy(page.text, self.markup)


def of_view(view: DocumentView, read: Callable[[Path, int], list[Recognition]]) -> list[Recognition]:
    """Read the benchmark's own file, which may have more pages than the benchmark takes of it.

    Args:
        read: reads the file, in which form fields are part of the pages, and whose number of pages it is given.
    """
    wanted = len(view.images)
    if view.pdf is None:
        return [Recognition(error="the benchmark has no PDF of this document")] * wanted
    try:
        missing = missing_pages(view.pdf)
        with shown(view.pdf, forms_only=True) as path:
            found = read(path, page_count(path))
    except DataError as error:
        return [Recognition(error=str(error))] * wanted
    lost = Recognition(error=f"the PDF has {len(found)} of {wanted} pages")
    found = [MISSING if index in missing else page for index, page in enumerate(found)]
    return (found + [lost] * wanted)[:wanted]
