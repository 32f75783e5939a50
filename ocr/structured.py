"""Common parts of engines that write markup: Markdown, HTML or LaTeX tables, formulas, headings."""

from typing import ClassVar

from ohr.contracts import OcrBackend, Recognition
from ohr.markup.page import Markup, MarkupField, page_text, tidy


class StructuredOcr(OcrBackend):
    """An engine whose pages have markup; `markup` decides what of it a knowledge base gets."""

    finishing: ClassVar[tuple[str, ...]] = ("markup",)
    markup: MarkupField = Markup()

    def written(self, page: Recognition) -> str:
        """Return the page's text with the markup that is kept."""
        return page_text(page.blocks, self.markup) if page.blocks else tidy(page.text, self.markup)
