"""Strips marks from text, as a system does that feeds plain text to its index."""

import re
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from ohr.contracts import Page, TextTreatment, TreatedPage


class Example(TextTreatment, kind="example"):
    """Leaves out the marks of Markdown: of headings, emphasis and quotations."""

    marks: Annotated[str, Field(min_length=1, description="Characters that are left out.")] = "#*_>`"

    def treat(self, pages: Sequence[Page], rng: np.random.Generator) -> list[TreatedPage]:  # noqa: ARG002
        """Treat the pages of a document; what is recorded of each is in the table `treatments`."""
        return [self._page(page.text) for page in pages]

    def _page(self, text: str) -> TreatedPage:
        plain, count = re.subn(f"[{re.escape(self.marks)}]+[ \t]*", "", text)
        return TreatedPage(plain, {"marks": count})
