"""Tables of a run as CSV, with all digits: for pandas, R and spreadsheets."""

from collections.abc import Sequence
from io import StringIO

from ohr.errors import DataError
from ohr.report.views.view import Amount, Cell, Interval, View
from ohr.results.derived.frames import tidy
from ohr.results.run import Run
from ohr.results.tables.table_files import write_csv


def summary_csv(run: Run, *, metric: str | None = None, by: str | None = None, stage: str | None = None) -> str:
    """Write the summary: a row per stage, condition, pipeline, metric and group of questions; the run comes first.

    Args:
        run: to read.
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
