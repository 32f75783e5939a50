"""Pages of a candidate as its reviewer sees them: text with the evidence marked, and what is known of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.contracts import Image, Page, Span
from ohr.errors import OhrError
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.truth_texts import Texts


@dataclass(frozen=True, slots=True)
class PageSource:
    """Where the page shows the pages of documents from.

    Args:
        text: (document, page from 0) to the ground truth that the places of evidence count in.
        image: (document, page from 0) to the page image, (height, width, 3) of 8 bits.
        has_image: whether a document has page images; those of others are not asked for.
        silver_engine: (document, page from 0) to the engine that read the text, where nobody corrected it; else "".

    The first two may raise DataError, whose message is shown in the place of the page.
    """

    text: Callable[[str, int], str]
    image: Callable[[str, int], Image]
    has_image: Callable[[str], bool] = lambda document: True  # noqa: ARG005 # of pages that all have some
    silver_engine: Callable[[str, int], str] = lambda document, page: ""  # noqa: ARG005 # of pages that are all true


def shown_page(pages: PageSource, candidate: Candidate, page: int) -> dict[str, Any]:
    """Return what the browser shows of a page; of page -1, which holds evidence that no page has, the evidence."""
    try:
        text, error = pages.text(candidate.document, page) if page >= 0 else "", ""
    except OhrError as reason:
        text, error = "", str(reason)
    texts = Texts({candidate.document: [Page(candidate.document, page, text)]})
    spans = [(passage.text, _span(passage, texts, candidate)) for passage in candidate.evidence if passage.page == page]
    return {
        "page": page,
        "parts": marked(text, [span for _, span in spans if span]),
        "elsewhere": [passage for passage, span in spans if not span],
        "error": error,
        "image": page >= 0 and pages.has_image(candidate.document),
        "silver": pages.silver_engine(candidate.document, page) if text else "",
    }


def _span(passage: Evidence, texts: Texts, candidate: Candidate) -> Span | None:
    """Return the place of evidence on its page; a rule may have removed the candidate before it was looked for."""
    place = candidate.document, passage.page
    known = 0 <= passage.start < passage.end <= len(texts.pages[place])
    return (passage.start, passage.end) if known else texts.span(*place, passage.text)


def marked(text: str, spans: Sequence[Span]) -> list[tuple[str, bool]]:
    """Divide a page's text into parts that are evidence and parts that are not; spans may overlap."""
    parts: list[tuple[str, bool]] = []
    done = 0
    for start, end in sorted(spans):
        if start > done:
            parts.append((text[done:start], False))
        if end > max(done, start):
            parts.append((text[max(done, start) : end], True))
        done = max(done, end)
    return [*parts, (text[done:], False)] if done < len(text) else parts
