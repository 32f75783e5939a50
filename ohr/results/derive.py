"""Tables that follow from the measured ones of a run."""

from collections.abc import Mapping
from pathlib import Path

from ohr.results.choices import read_choices
from ohr.results.curves import write_curves
from ohr.results.doses import Counts, write_doses
from ohr.results.scores import Questions, ScoreTable
from ohr.results.summary import write_summary
from ohr.results.tables import DERIVED, Tables, export_csv
from ohr.results.variance import write_variance


def derive(folder: Path, counts: Mapping[str, Counts]) -> None:
    """Make the tables that follow from the measured ones of a folder, also as CSV.

    Args:
        folder: of the run.
        counts: by the name of the knowledge base.

    Raises:
        DataError: a table cannot be read or written.
    """
    scores = ScoreTable(folder / "scores.parquet", Questions.read(folder))
    choices = read_choices(folder)
    with Tables(folder, DERIVED) as tables:
        write_doses(scores, folder / "pages.parquet", counts, tables, "doses")
        write_summary(scores, choices.margin, tables)
        write_curves(scores, choices.headline, tables)
        write_variance(scores, choices.headline, tables)
    for table in DERIVED:
        export_csv(folder, table)
