"""Routing: each page is read by the first engine whose text is good enough."""

import re
import unicodedata
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import DocumentView, Ending, Recognition

from .parts import Parts

_UNMAPPED = re.compile(r"\(cid:\d+\)")  # what PDF readers write for a glyph without a character


class Rule(BaseModel):
    """When a page's text is good enough; a page that fails the rule goes to the next engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    words: Annotated[int, Field(ge=0, description="Least number of words.")] = 10
    letters: Annotated[
        float, Field(ge=0, le=1, description="Least share of letters and digits among visible characters.")
    ] = 0.5
    odd: Annotated[
        float, Field(ge=0, le=1, description="Largest share of characters that no font shows, such as U+FFFD.")
    ] = 0.01
    confidence: Annotated[
        float | None, Field(ge=0, le=1, description="Least mean confidence, of engines that report one.")
    ] = None
    ends: Annotated[
        tuple[Ending, ...], Field(description="How a reading may end: stop, length (cut), repeat (a loop).")
    ] = ("stop",)

    def accepts(self, read: Recognition) -> bool:
        """Report whether a page is good enough."""
        if read.error is not None or read.finish not in self.ends:
            return False
        if self.confidence is not None and read.confidence is not None and read.confidence < self.confidence:
            return False
        text = _UNMAPPED.sub("\ufffd", read.text)
        shown = [sign for sign in text if not sign.isspace()]
        if len(text.split()) < self.words and len(shown) < 5 * self.words:  # languages without spaces have no words
            return False
        odd = sum(sign == "\ufffd" or unicodedata.category(sign) in ("Co", "Cn", "Cs", "Cc") for sign in shown)
        return letters(text) >= self.letters and odd / max(len(shown), 1) <= self.odd


def letters(text: str) -> float:
    """Return the share of letters and digits among the visible characters of a text; 0 where there are none."""
    shown = [sign for sign in text if not sign.isspace()]
    return sum(sign.isalnum() for sign in shown) / max(len(shown), 1)


class FirstOf(Parts, kind="first_of"):
    """Reads each page with the first part whose text passes `rule`, such as the text layer, then an engine.

    The last part is the fallback: its text is taken as it is. Where it fails, the first part that read anything counts.
    The run counts the pages that each part read.
    """

    family: ClassVar[str] = "ocr"
    rule: Annotated[Rule, Field(description="When a text is good enough.")] = Rule()

    def recognise_document(self, view: DocumentView) -> list[Recognition]:
        """Read a document, page by page with the first part that reads it well enough."""
        chosen: dict[int, Recognition] = {}
        earlier: dict[int, Recognition] = {}
        left = list(range(len(view.images)))
        for place in range(len(self.parts)):
            is_last = place == len(self.parts) - 1
            for page, read in self.by_part(place, view, left).items() if left else ():
                if self.rule.accepts(read) or (is_last and read.error is None):
                    chosen[page] = read
                elif read.error is None or is_last:
                    earlier.setdefault(page, read)
            left = [page for page in left if page not in chosen]
        return [chosen.get(page) or earlier[page] for page in range(len(view.images))]
