"""Tables that follow from the measured ones of a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ohr.contracts import Aggregate
from ohr.results.derived.aggregate_rows import aggregate_rows
from ohr.results.derived.curve_rows import curve_rows
from ohr.results.derived.dose_rows import Counts, dose_rows
from ohr.results.derived.effort_rows import effort_rows
from ohr.results.derived.hygiene_rows import hygiene_rows
from ohr.results.derived.hypothesis_rows import hypothesis_rows
from ohr.results.derived.pairs import ScoredRun
from ohr.results.derived.pipeline_rows import pipeline_rows
from ohr.results.derived.repair_rows import repair_rows
from ohr.results.derived.repeat_rows import repeat_rows
from ohr.results.derived.summary_rows import summary_rows
from ohr.results.derived.variance_rows import variance_rows
from ohr.results.run import Run
from ohr.results.tables.schema import DERIVED
from ohr.results.tables.table_files import export_csv, write_table

MadeOf = Callable[[ScoredRun], Iterable[Mapping[str, Any]]]
"""Yields the rows of a table, each with all of its columns."""

ROWS: Mapping[str, MadeOf] = {
    "summary": summary_rows,
    "curves": curve_rows,
    "variance": variance_rows,
    "repeats": repeat_rows,
    "hypotheses": hypothesis_rows,
    "pipelines": pipeline_rows,
    "repair": repair_rows,
    "effort": effort_rows,
    "hygiene": hygiene_rows,
}
"""The rows of each table that follows from a run alone; those of `effort` from its summary, too."""


def derive(folder: Path, counts: Mapping[str, Counts], aggregates: Sequence[Aggregate] = ()) -> list[str]:
    """Make the tables that follow from the measured ones of a folder, also as CSV.

    Args:
        folder: of the run.
        counts: by the name of the knowledge base.
        aggregates: the benchmark's.

    Returns:
        sentences about aggregates that could not be computed.

    Raises:
        DataError: a table cannot be read or written.
    """
    run, faults = ScoredRun(Run(folder)), dict[str, None]()
    further: dict[str, MadeOf] = {
        "doses": lambda run: dose_rows(run.scores, folder / "pages.parquet", counts),
        "aggregates": partial(aggregate_rows, aggregates=aggregates, faults=faults),
    }
    for table in DERIVED:
        write_table(folder, table, {**ROWS, **further}[table](run))
        export_csv(folder, table)
    return list(faults)
