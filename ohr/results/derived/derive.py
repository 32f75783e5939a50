"""Tables that follow from the measured ones of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ohr.contracts import Aggregate
from ohr.results.derived.aggregates import write_aggregates
from ohr.results.derived.curves import write_curves
from ohr.results.derived.doses import Counts, write_doses
from ohr.results.derived.effort import write_effort
from ohr.results.derived.hypotheses import write_hypotheses
from ohr.results.derived.pairs import silent_cells
from ohr.results.derived.repair import write_repair
from ohr.results.derived.repeats import write_repeats
from ohr.results.derived.summary import write_summary
from ohr.results.derived.variance import write_variance
from ohr.results.run import Run
from ohr.results.score_arrays import ScoreTable
from ohr.results.tables.schema import DERIVED
from ohr.results.tables.table_files import Tables, export_csv


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
    run = Run(folder)
    scores, choices, silent = ScoreTable.of(run), run.choices, silent_cells(run)
    with Tables(folder, DERIVED[:-1]) as tables:
        write_doses(scores, folder / "pages.parquet", counts, tables, "doses")
        write_summary(scores, silent, choices, tables)
        faults = write_aggregates(scores, aggregates, tables)
        write_curves(scores, choices.headline, tables)
        write_variance(scores, choices.headline, tables)
        write_repeats(scores, choices.headline, choices.repeats, tables)
        write_hypotheses(scores, silent, choices, tables)
        write_repair(scores, choices, tables)
    with Tables(folder, DERIVED[-1:]) as tables:  # it reads the summary
        write_effort(run, choices.headline, tables)
    for table in DERIVED:
        export_csv(folder, table)
    return faults
