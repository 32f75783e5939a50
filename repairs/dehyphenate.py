"""Words that a line's end cuts are joined."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import Page, TextTreatment, TreatedPage

_CUT = re.compile(
    r"(?P<first>[^\W\d_]+)(?P<mark>[-\u2010\u00ad\u00ac])[ \t]*\n[ \t]*(?P<second>[^\W\d_]+)(?P<rest>\S*)[ \t]*"
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SOFT = "\u00ad\u00ac"
"""Signs that are written only where a line cuts a word."""
_LEAST = 2
"""Letters of either half: a single one is a name's initial, or what OCR made of a bullet."""


class Dehyphenate(TextTreatment, kind="dehyphenate"):
    """Joins words that are cut at a line's end, where the document says that they are one.

    A cut word is joined where the document has it whole elsewhere, and keeps its hyphen where the document has it so.
    Else `unknown` decides: by default it is joined if its second half begins small and the document does not have both
    halves as words of their own, as it may of `long-term`. It needs text with its line ends; the end of the word moves
    up, and the number of lines stays. Nothing is joined across pages.
    """

    unknown: Annotated[
        Literal["join", "leave"], Field(description="What becomes of words that the document has nowhere else.")
    ] = "join"

    def treat(self, pages: Sequence[Page], rng: np.random.Generator) -> list[TreatedPage]:  # noqa: ARG002
        """Join words. The record has `joined`, `hyphens_kept` (joined with their hyphen) and `left`, counts."""
        known = {word.lower() for page in pages for word in _WORD.findall(_CUT.sub(" ", page.text))}
        return [self._page(page.text, known) for page in pages]

    def _page(self, text: str, known: set[str]) -> TreatedPage:
        counts: Counter[str] = Counter()

        def joined(cut: re.Match[str]) -> str:
            outcome = self._outcome(cut, known)
            counts[outcome] += 1
            hyphen = {"joined": "", "hyphens_kept": "-"}.get(outcome)
            if hyphen is None:
                return cut[0]
            return f"{cut['first']}{hyphen}{cut['second']}{cut['rest']}\n"

        whole = _CUT.sub(joined, text)
        return TreatedPage(whole, {name: counts[name] for name in ("joined", "hyphens_kept", "left")})

    def _outcome(self, cut: re.Match[str], known: set[str]) -> str:
        first, second = cut["first"].lower(), cut["second"].lower()
        if first + second in known or cut["mark"] in _SOFT:
            return "joined"
        if f"{first}-{second}" in known:
            return "hyphens_kept"
        is_short = min(len(first), len(second)) < _LEAST
        are_words = first in known and second in known
        is_name = not cut["second"][0].islower() or cut["first"].isupper()
        return "left" if self.unknown == "leave" or is_short or are_words or is_name else "joined"
