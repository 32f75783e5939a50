"""The summary of a run as CSV, with all digits: for pandas, R and spreadsheets."""

from io import StringIO
from pathlib import Path

from ohr.errors import DataError
from ohr.results.derived.frames import tidy
from ohr.results.folder.run_folder import read_manifest, run_id
from ohr.results.tables.table_files import write_csv


def summary_csv(folder: Path, *, metric: str | None = None, by: str | None = None, stage: str | None = None) -> str:
    """Write the summary: a row per stage, condition, pipeline, metric and group of questions; the run comes first.

    Args:
        folder: of a finished run.
        metric: the only metric; None for all, as below.
        by: the only trait that questions are grouped by.
        stage: the only stage.

    Raises:
        DataError: there is no such row, or the table is damaged.
    """
    import pyarrow

    wanted = {name: value for name, value in (("metric", metric), ("by", by), ("stage", stage)) if value is not None}
    found = tidy(folder, "summary", **wanted)
    if not found.num_rows:
        raise DataError(
            f"{folder}: has no scores with {', '.join(f'{name} {value}' for name, value in wanted.items())}"
        )
    whole = found.add_column(0, "run", pyarrow.repeat(run_id(read_manifest(folder)), found.num_rows))
    opened = StringIO(newline="")
    write_csv(opened, whole.column_names, whole.to_batches())
    return opened.getvalue()
