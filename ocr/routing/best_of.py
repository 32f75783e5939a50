"""Each page is read by all engines, and the best text is kept."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import DocumentView, Recognition
from ohr.text.words import words

from .first_of import letters
from .parts import Parts


class BestOf(Parts, kind="best_of"):
    """Reads each page with all parts and keeps one whole text: by the parts' confidence, or by what can be seen of it.

    Where several are as good, the first counts; a part that states no confidence ranks after those that do. How far
    engines may be compared by it is another question: each states its own. The run counts the pages of each part.
    """

    family: ClassVar[str] = "ocr"
    by: Annotated[
        Literal["confidence", "words", "letters"],
        Field(description="The highest confidence, most words, or largest share of letters and digits."),
    ] = "confidence"

    def recognise_document(self, view: DocumentView) -> list[Recognition]:
        """Read a document with all parts."""
        pages = range(len(view.images))
        reads = [self.by_part(place, view, pages) for place in range(len(self.parts))]
        return [self.best([read[page] for read in reads]) for page in pages]

    def best(self, reads: Sequence[Recognition]) -> Recognition:
        """Return the best of what was read of one page; one that failed where all did."""
        return max(reads, key=lambda read: (read.error is None, _MEASURES[self.by](read)))


def _confidence(read: Recognition) -> float:
    return -math.inf if read.confidence is None else read.confidence


_MEASURES: Mapping[str, Callable[[Recognition], float]] = {
    "confidence": _confidence,
    "words": lambda read: len(words(read.text)),
    "letters": lambda read: letters(read.text),
}
