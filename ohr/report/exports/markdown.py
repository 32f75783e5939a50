"""A table in Markdown, as GitHub, Pandoc and notebooks read it."""

import re
from collections.abc import Iterator, Sequence

from ohr.report.exports.plain import one_line
from ohr.report.views.view import View

_SPECIAL = re.compile(r"[\\`*<>|~$]|\](?=[(\[:])|!(?=\[)|&(?=\S)|(?<![^\W_])_|_(?![^\W_])|://|www(?=\.)|@")
"""Characters that would be markup, HTML, a link or the end of a cell; brackets and inner underscores are none."""


def markdown(view: View) -> str:
    """Write a table with its title above, and how to read it below."""
    shared = view.shared or ("",) * len(view.headers)
    headers = [" ".join(filter(None, pair)) for pair in zip(shared, view.headers, strict=True)]
    lines = _lines([headers, *view.long], view.label_count)
    return "\n".join((escaped(view.heading), "", *lines, "", escaped(view.how), ""))


def _lines(rows: Sequence[Sequence[str]], labels: int) -> Iterator[str]:
    """Align the columns in the source too: it is read as often as it is rendered."""
    cells = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    pads = [str.ljust if at < labels else str.rjust for at in range(len(widths))]
    first, *rest = ([pad(cell, width) for pad, cell, width in zip(pads, row, widths, strict=True)] for row in cells)
    rules = ["-" * width if at < labels else "-" * (width - 1) + ":" for at, width in enumerate(widths)]
    for row in (first, rules, *rest):
        yield f"| {' | '.join(row)} |"


def escaped(text: str) -> str:
    """Write a text for a cell: no markup, no HTML, no end of the cell."""
    return _SPECIAL.sub(lambda found: rf"\{found[0]}" if found[0] != "www" else "w&#119;w", one_line(text))
