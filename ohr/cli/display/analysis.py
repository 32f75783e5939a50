"""The paper's analyses of a run, as `ohr show RUN --analysis NAME` prints them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohr.cli.display.console import say, say_json, say_table

if TYPE_CHECKING:
    from ohr.results.run import Run

EVERY = "every"
AGREEMENT = "agreement"


def show_analysis(run: "Run", analysis: str, as_json: bool, people: Path | None = None) -> None:
    """Print one analysis, or every one.

    Args:
        people: a file of people's labels, for `agreement`.

    Raises:
        SpecError: there is no analysis of that name.
    """
    from ohr.errors import SpecError
    from ohr.registry import choices
    from ohr.report.analyses import ANALYSES, report_data
    from ohr.report.views.view import with_intervals
    from ohr.results.derived.rater_agreement import agreement

    if analysis not in (*ANALYSES, EVERY):
        raise SpecError(f"no analysis {analysis!r}. {choices(analysis, (*ANALYSES, EVERY))}")
    if people is not None and analysis != AGREEMENT:
        raise SpecError(f"--people is for --analysis {AGREEMENT} (got {analysis!r})")
    if people is not None:
        found = {analysis: agreement(run, people)}
    else:
        found = report_data(run) if analysis == EVERY else {analysis: ANALYSES[analysis](run)}
    if as_json:
        say_json(found)
        return
    for name, listed in found.items():
        rows = [with_intervals(row) for row in listed]
        say(f"{name}:" if rows else f"{name}: nothing in this run to show")
        if rows:
            say_table(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])


def _cell(value: Any) -> str:
    from ohr.report.views.view import long

    return " ".join(map(_cell, value)) if isinstance(value, list | tuple) else long(value)
