"""A table in LaTeX, with the rules of booktabs."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from ohr.report.exports.plain import one_line
from ohr.report.views.view import View
from ohr.results.run import Run

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder


def latex(view: View, run: Run, label: str) -> str:
    r"""Write a table as a `table` environment, which needs `\usepackage{booktabs}` only.

    Args:
        view: what to write.
        run: that it was made from.
        label: that the document refers to, after `tab:`; other characters than letters and digits become hyphens.
    """
    layout = "l" * view.label_count + "r" * (len(view.headers) - view.label_count)
    name = re.sub("[^A-Za-z0-9-]+", "-", label).strip("-") or "run"
    source = f"ohr {run.manifest['ohr']}, run {run.id}"
    return "\n".join(
        (
            f"% {escaped(source)}; needs \\usepackage{{booktabs}}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{escaped(view.heading)} {escaped(view.how)}}}",
            rf"  \label{{tab:{name}}}",
            r"  \small",
            rf"  \begin{{tabular}}{{{layout}}}",
            *(f"    {line}" for line in _lines(view)),
            r"  \end{tabular}",
            r"\end{table}",
            "",
        )
    )


def _lines(view: View) -> Iterator[str]:
    yield r"\toprule"
    if any(view.shared):
        yield from _shared(view)
    yield _row(view.headers)
    for number, row in enumerate(view.long):
        if number in view.starts:
            yield r"\midrule"
        yield _row(row)
    yield r"\bottomrule"


def _shared(view: View) -> Iterator[str]:
    """Write the header above the headers, with a rule under each name."""
    place, cells, rules = view.label_count, [""] * view.label_count, []
    for shared, columns in groupby(view.shared[place:]):
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
