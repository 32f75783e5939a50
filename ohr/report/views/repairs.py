"""Faults that the owner of an imported question set can repair: for readers, and as a file to work through."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ohr.questions.imports import Repair
from ohr.report.views.view import View
from ohr.results.tables.table_files import write_csv

_HOW = "An answer that is not in the evidence is listed also where the question stays; other faults remove a question."


def repairs(faults: Sequence[Repair]) -> View:
    """Make the table of faults, a row for each."""
    rows = tuple((repair.candidate, repair.where, repair.fault, repair.detail) for repair in faults)
    return View("Questions to repair", _HOW, ("question", "where", "fault", "detail"), rows, labels=4)


def repair_counts(faults: Sequence[Repair]) -> View:
    """Make the table of how many faults of each kind there are, and how many questions have them."""
    questions = {
        fault: len({repair.candidate for repair in faults if repair.fault == fault}) for fault in _kinds(faults)
    }
    rows = tuple((fault, count, questions[fault]) for fault, count in _kinds(faults).items())
    return View("Faults of questions", "A question may have several.", ("fault", "faults", "questions"), rows)


def write_repairs(faults: Sequence[Repair], path: Path) -> None:
    """Write the table of faults as CSV: `question`, `where`, `fault`, `detail`."""
    import pyarrow

    view = repairs(faults)
    columns = [pyarrow.array([row[place] for row in view.rows], pyarrow.string()) for place in range(len(view.headers))]
    with path.open("w", encoding="utf-8", newline="") as opened:
        write_csv(opened, view.headers, pyarrow.table(columns, names=list(view.headers)).to_batches())


def _kinds(faults: Sequence[Repair]) -> Counter[str]:
    return Counter(repair.fault for repair in faults)
