"""Tables in LaTeX, with the rules of booktabs, in Markdown and in CSV."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING

from ohr.errors import DataError
from ohr.report.views.view import Amount, Cell, Interval, View
from ohr.results.derived.frames import tidy
from ohr.results.run import Run
from ohr.results.tables.table_files import write_csv

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder


def one_line(text: str) -> str:
    """Return a text in one line: white space is one space, and control and format characters are left out."""
    spaced = " ".join(text.split())
    return "".join(letter for letter in spaced if unicodedata.category(letter) not in ("Cc", "Cf", "Cs"))


def latex(view: View, run: Run, label: str) -> str:
    r"""Write a table as a `table` environment, which needs `\usepackage{booktabs}` only.

    Args:
        label: that the document refers to, after `tab:`; other characters than letters and digits become hyphens.
    """
    layout = "l" * view.label_count + "r" * (len(view.headers) - view.label_count)
    name = re.sub("[^A-Za-z0-9-]+", "-", label).strip("-") or "run"
    source = f"ohr {run.manifest['ohr']}, run {run.id}"
    return "\n".join(
        (
            f"% {latex_escaped(source)}; needs \\usepackage{{booktabs}}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{latex_escaped(view.heading)} {latex_escaped(view.how)}}}",
            rf"  \label{{tab:{name}}}",
            r"  \small",
            rf"  \begin{{tabular}}{{{layout}}}",
            *(f"    {line}" for line in _latex_lines(view)),
            r"  \end{tabular}",
            r"\end{table}",
            "",
        )
    )


def _latex_lines(view: View) -> Iterator[str]:
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
    place, cells, rules = view.label_count, [""] * view.label_count, []
    for shared, columns in groupby(view.shared[place:]):
        width = len(list(columns))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_escaped(shared)}}}" if shared else " & " * (width - 1))
        if shared:
            rules.append(rf"\cmidrule(lr){{{place + 1}-{place + width}}}")
        place += width
    yield " & ".join(cells) + r" \\"
    yield " ".join(rules)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(latex_escaped, cells)) + r" \\"


def latex_escaped(text: str) -> str:
    """Write a text for LaTeX: no command, no break of a line, and no argument of the row before it."""
    plain = _encoder().unicode_to_latex(one_line(text))
    plain = re.sub("-(?=-)", "-{}", plain).replace("|", r"\ensuremath{|}")  # no dash of two hyphens, none for a bar
    signed = re.sub(r"(?<![\w.}-])-(?=\d)", "$-$", plain)
    return f"{{}}{signed}" if signed.startswith(("[", "*")) else signed  # `\\` of the row above would take it


@cache
def _encoder() -> "UnicodeToLatexEncoder":
    from pylatexenc.latexencode import UnicodeToLatexEncoder

    return UnicodeToLatexEncoder(unknown_char_policy="keep", unknown_char_warning=False)


_SPECIAL = re.compile(r"[\\`*<>|~$]|\](?=[(\[:])|!(?=\[)|&(?=\S)|(?<![^\W_])_|_(?![^\W_])|://|www(?=\.)|@")
"""Characters that would be markup, HTML, a link or the end of a cell; brackets and inner underscores are none."""


def markdown(view: View) -> str:
    """Write a table with its title above, and how to read it below."""
    shared = view.shared or ("",) * len(view.headers)
    headers = [" ".join(filter(None, pair)) for pair in zip(shared, view.headers, strict=True)]
    lines = _markdown_lines([headers, *view.long], view.label_count)
    return "\n".join((markdown_escaped(view.heading), "", *lines, "", markdown_escaped(view.how), ""))


def _markdown_lines(rows: Sequence[Sequence[str]], labels: int) -> Iterator[str]:
    """Align the columns in the source too: it is read as often as it is rendered."""
    cells = [[markdown_escaped(cell) for cell in row] for row in rows]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    pads = [str.ljust if at < labels else str.rjust for at in range(len(widths))]
    first, *rest = ([pad(cell, width) for pad, cell, width in zip(pads, row, widths, strict=True)] for row in cells)
    rules = ["-" * width if at < labels else "-" * (width - 1) + ":" for at, width in enumerate(widths)]
    for row in (first, rules, *rest):
        yield f"| {' | '.join(row)} |"


def markdown_escaped(text: str) -> str:
    """Write a text for a cell: no markup, no HTML, no end of the cell."""
    return _SPECIAL.sub(lambda found: rf"\{found[0]}" if found[0] != "www" else "w&#119;w", one_line(text))


def summary_csv(run: Run, *, metric: str | None = None, by: str | None = None, stage: str | None = None) -> str:
    """Write the summary: a row per stage, condition, pipeline, metric and group of questions; the run comes first.

    Args:
        metric: the only metric; None for all, as below.
        by: the only trait that questions are grouped by.
        stage: the only stage.

    Raises:
        DataError: there is no such row, or the table is damaged.
    """
    import pyarrow

    wanted = {name: value for name, value in (("metric", metric), ("by", by), ("stage", stage)) if value is not None}
    found = tidy(run, "summary", **wanted)
    if not found.num_rows:
        raise DataError(
            f"{run.folder}: has no scores with {', '.join(f'{name} {value}' for name, value in wanted.items())}"
        )
    whole = found.add_column(0, "run", pyarrow.repeat(run.id, found.num_rows))
    opened = StringIO(newline="")
    write_csv(opened, whole.column_names, whole.to_batches())
    return opened.getvalue()


def views_csv(views: Sequence[View]) -> str:
    """Write tables, one below the other under all their columns; an interval has two further columns, low and high."""
    import pyarrow

    lines = []
    for view in views:
        for row in view.rows:
            line = {"table": view.title}
            for header, cell in zip(view.headers, row, strict=True):
                line[header] = _text(cell.value if isinstance(cell, Interval) else cell)
                if isinstance(cell, Amount):
                    # 15 digits are as many as any number keeps, and hide the rounding of 1,000 times a price
                    line[header] = _text(float(f"{cell.value:.15g}")) or cell.note
                if isinstance(cell, Interval):
                    line |= {f"{header} low": _text(cell.low), f"{header} high": _text(cell.high)}
            lines.append(line)
    names = list(dict.fromkeys(name for line in lines for name in line))
    opened = StringIO(newline="")
    columns = {name: [line.get(name, "") for line in lines] for name in names}
    write_csv(opened, names, pyarrow.table(columns).to_batches())
    return opened.getvalue()


def _text(value: Cell) -> str:
    return "" if value is None or value != value else str(value)
