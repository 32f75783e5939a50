"""Where a Markdown page has LaTeX and HTML tables, nested ones as part of the outermost."""

from collections.abc import Iterator, Sequence
from heapq import merge
from operator import itemgetter

from ohr.contracts import Span

from .delimiters import blanked, spans

_MOST_UNCLOSED = 1000
"""Tables without an end, after which the rest of a page is searched again. The published code recurses instead, and
stops with an error at Python's limit of about as many."""


def latex_tables(text: str) -> list[tuple[int, str]]:
    r"""Return where `table` environments and outermost `tabular` environments begin, with their LaTeX.

    A `table` within a `tabular` is blank in the latter.

    A `tabular` has one character too many at its end, mostly the line break: the published code takes the length of a
    pattern with its escaped backslash for the length of what it matches. For the same reason an end right after
    another one is overlooked.
    """
    floats = [(start, end) for start, _, end in spans(text, "\\begin{table}", "\\end{table}")]
    tables = [(start, text[start:end]) for start, end in floats]
    text = blanked(text, floats)
    begins = [start for start, _ in _all(text, "\\begin{tabular}")]
    ends = [start for start, _ in _all(text, "\\end{tabular}")]
    outermost = _outermost(begins, ends, len("\\\\end{tabular}"), len("\\\\begin{tabular}"))
    return sorted([*tables, *((start, text[start:end]) for start, end in outermost)], key=itemgetter(0))


def html_tables(text: str) -> list[tuple[int, str]]:
    """Return where outermost `<table>` elements begin, with their HTML; names of elements are in lower case."""
    last = text.rfind(">")
    begins = [start for start, end in _all(text, "<table") if end <= last]
    ends = [start for start, _ in _all(text, "</table>")]
    outermost = _outermost(begins, ends, len("</table>"), len("<table(?:[^>]*)>"))
    return [(start, text[start:end]) for start, end in outermost]


def _all(text: str, mark: str) -> Iterator[Span]:
    place = text.find(mark)
    while place >= 0:
        yield place, place + len(mark)
        place = text.find(mark, place + 1)


def _outermost(begins: Sequence[int], ends: Sequence[int], step: int, restart: int) -> Iterator[Span]:
    """Yield outermost pairs of a begin and an end.

    Args:
        begins: Places where a table begins, ascending.
        ends: Places where one ends, ascending.
        step: Characters of an end; where the search continues after a begin or an end.
        restart: Where it continues after a begin that has no end.
    """
    marks = list(merge(((place, True) for place in begins), ((place, False) for place in ends)))
    place = 0
    for _ in range(_MOST_UNCLOSED):
        unclosed: list[int] = []
        for start, is_begin in marks:
            if start < place:
                continue
            place = start + step
            if is_begin:
                unclosed.append(start)
            elif unclosed and (begin := unclosed.pop()) >= 0 and not unclosed:
                yield begin, place
        if not unclosed:
            return
        place = unclosed[0] + restart
        marks = [mark for mark in marks if mark[0] >= place]
