"""The tables of a page beside those of a prediction."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ohr.extras import load

from .block_matching import assign
from .page_records import Region


class TableMatch(NamedTuple):
    """A table of the truth, what was predicted for it or nothing, and its place and name."""

    truth: str
    predicted: str
    order: float | None
    anno_id: int | str | None


def match_tables(truth: Sequence[Region], predicted: Sequence[str]) -> tuple[list[TableMatch], list[int]]:
    """Assign predicted tables to those of the truth by their HTML as it is written.

    Returns:
        A match for each table of the truth that has HTML, and the numbers of predicted tables without one; none of
        these where the truth has no tables, as published.
    """
    filled = [region for region in truth if region.content]
    lines = assign([region.content for region in filled], predicted)
    matches = [
        TableMatch(region.content, "" if line is None else predicted[line], shifted.order, shifted.anno_id)
        for region, shifted, line in zip(filled, truth, lines, strict=False)
    ]
    return matches, sorted(set(range(len(predicted))) - set(lines)) if filled else []


def cells(table: str) -> Iterator[str]:
    """Yield the texts of the `<td>` of a table, those with nothing but one text in them, without markup."""
    bs4 = load("bs4", "parse_scores")
    try:
        soup = bs4.BeautifulSoup(table, "html.parser")
    except bs4.ParserRejectedMarkup:  # as of `<![x[`
        return
    for cell in soup.find_all("td"):
        if text := _only_text(cell):
            yield text.replace("$\\cdot$", "").strip()


def _only_text(element: Any) -> str | None:
    while getattr(element, "contents", None) is not None and len(element.contents) == 1:
        element = element.contents[0]
    return element if isinstance(element, str) else None
