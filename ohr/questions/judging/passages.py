"""Passages as models are shown them: oracle evidence, with the head of the table that a row is in."""

import re
from collections.abc import Sequence

from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.texts import Texts

_LINE = re.compile(r"\\(?:hline|midrule)\b")
_HEADS = (
    re.compile(r"</thead>|</tr>", re.IGNORECASE),
    re.compile(r"^[ \t]*\|[-| :\t]+\|[ \t]*$", re.MULTILINE),
)
"""Ends of the head of a table in HTML and Markdown; in LaTeX it is the second line."""


def shown(candidate: Candidate, texts: Texts) -> tuple[str, ...]:
    """Return the passages of a candidate's evidence, as OHRBench shows them: what surrounds them is left out.

    A passage that begins within a table is given the head of that table, without which its cells mean nothing.
    """
    return tuple(_with_head(candidate, passage, texts) for passage in candidate.evidence)


def parts(candidate: Candidate, texts: Texts) -> list[tuple[str, ...]]:
    """Return the parts of the evidence of which none must answer a question alone.

    They are the pages of a multi-page question, and the passages, or else the paragraphs, of one on reading order.
    Other questions have none, nor has one on reading order with a single paragraph.
    """
    passages = list(zip(candidate.evidence, shown(candidate, texts), strict=True))
    if len(candidate.pages) > 1:
        divided = [tuple(text for passage, text in passages if passage.page == page) for page in candidate.pages]
    elif candidate.source != "reading_order":
        divided = []
    elif len(passages) > 1:
        divided = [(text,) for _, text in passages]
    else:
        divided = [(text,) for _, passage in passages for text in passage.split("\n\n") if text.strip()]
    return divided if len(divided) > 1 else []


def _with_head(candidate: Candidate, passage: Evidence, texts: Texts) -> str:
    span = texts.span(candidate.document, passage.page, passage.text)
    if not span:
        return passage.text
    for region in texts.regions(candidate.document, passage.page):
        if region.kind in ("table", "chart") and region.start < span[0] < region.end:
            before = texts.pages[candidate.document, passage.page][region.start : span[0]]
            head = before[: _end_of_head(before)].rstrip()
            return f"{head}\n{passage.text}" if head else passage.text
    return passage.text


def _end_of_head(table: str) -> int:
    """Return where the head of a table ends; 0 where its beginning does not reach that far."""
    lines: Sequence[re.Match[str]] = list(_LINE.finditer(table))
    first = [line.start() for line in lines if "&" in table[: line.start()]][:1]
    ends = first or [match.end() for pattern in _HEADS if (match := pattern.search(table))]
    return min(ends, default=0)
