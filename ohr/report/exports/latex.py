"""A table in LaTeX, with the rules of booktabs."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from ohr.report.exports.paper import PaperTable
from ohr.report.exports.plain import one_line

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder


def latex(table: PaperTable, name: str) -> str:
    r"""Write a table as a `table` environment, which needs `\usepackage{booktabs}` only.

    Args:
        table: what to write.
        name: of the run, for the label.
    """
    layout = "l" * len(table.labels) + "r" * len(table.columns)
    notes = " ".join(map(escaped, table.notes))
    return "\n".join(
        (
            f"% {escaped(table.source)}; needs \\usepackage{{booktabs}}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{escaped(table.title)} {notes}}}",
            rf"  \label{{tab:{re.sub('[^A-Za-z0-9-]+', '-', name).strip('-') or 'run'}}}",
            r"  \small",
            rf"  \begin{{tabular}}{{{layout}}}",
            *(f"    {line}" for line in _lines(table)),
            r"  \end{tabular}",
            r"\end{table}",
            "",
        )
    )


def _lines(table: PaperTable) -> Iterator[str]:
    yield r"\toprule"
    if any(column.shared for column in table.columns):
        yield from _shared(table)
    yield _row([*table.labels, *(column.name for column in table.columns)])
    for part in table.parts:
        yield r"\midrule"
        yield from map(_row, part)
    yield r"\bottomrule"


def _shared(table: PaperTable) -> Iterator[str]:
    """Write the header above the headers, with a rule under each name."""
    place, cells, rules = len(table.labels), [""] * len(table.labels), []
    for shared, columns in groupby(table.columns, key=lambda column: column.shared):
        width = len(list(columns))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(shared)}}}" if shared else " & " * (width - 1))
        if shared:
            rules.append(rf"\cmidrule(lr){{{place + 1}-{place + width}}}")
        place += width
    yield " & ".join(cells) + r" \\"
    yield " ".join(rules)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


def escaped(text: str) -> str:
    """Write a text for LaTeX: no command, no break of a line, and no argument of the row before it."""
    plain = _encoder().unicode_to_latex(one_line(text))
    plain = re.sub("-(?=-)", "-{}", plain).replace("|", r"\ensuremath{|}")  # no dash of two hyphens, none for a bar
    signed = re.sub(r"(?<![\w.}-])-(?=\d)", "$-$", plain)
    return f"{{}}{signed}" if signed.startswith(("[", "*")) else signed  # `\\` of the row above would take it


@cache
def _encoder() -> "UnicodeToLatexEncoder":
    from pylatexenc.latexencode import UnicodeToLatexEncoder

    return UnicodeToLatexEncoder(unknown_char_policy="keep", unknown_char_warning=False)
