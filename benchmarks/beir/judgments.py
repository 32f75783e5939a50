"""Judgments of a BEIR data set: `query-id`, `corpus-id` and `score` with tabs, or the four columns of TREC's qrels."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.messages.faults import Fault, sentences

from .json_lines import opened


@dataclass(frozen=True, eq=False)
class Judgments:
    """The judgments of a split.

    Args:
        grades: by query id and corpus id, in the order of the file; of any sign.
        notes: what was left out.
    """

    grades: Mapping[str, Mapping[str, float]]
    notes: tuple[str, ...]


@kept_until_changed(most=4)
def read_judgments(path: Path) -> Judgments:
    """Read judgments; a file that did not change is read once.

    A first line whose last column is no number is a header. A row that is there again counts once.

    Raises:
        DataError: the file cannot be read, has no row, or rows that are wrong or contradict each other.
    """
    grades: dict[str, dict[str, float]] = {}
    lines: dict[tuple[str, str], int] = {}
    faults: list[Fault] = []
    again: list[Fault] = []
    with opened(path) as file:
        for number, content in enumerate(file, start=1):
            where, columns = f"{path}:{number}", _columns(content)
            if not any(columns) or (number == 1 and len(columns) in (3, 4) and _number(columns[-1]) is None):
                continue
            grade = _number(columns[-1]) if len(columns) in (3, 4) and all(columns) else None
            if grade is None:
                faults.append(Fault("row", "that is no `query-id corpus-id score` and no row of TREC's qrels", where))
                continue
            query, document = columns[0], columns[-2]
            before = grades.setdefault(query, {}).setdefault(document, grade)
            first = lines.setdefault((query, document), number)
            if before != grade:
                faults.append(Fault("row", "with another score than one before it", f"{where} (line {first})"))
            elif first != number:
                again.append(Fault("judgment", "there more than once, counted once", f"{path.name}:{number}"))
    if faults:
        raise DataError("\n".join(sentences(faults)))
    if not grades:
        raise DataError(f"{path}: has no judgment")
    return Judgments(grades, tuple(sentences(again)))


def _columns(content: bytes) -> list[str]:
    """Cut a line at its tabs, since ids may have spaces; one without tabs at its spaces."""
    line = content.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")
    return [column.strip() for column in line.split("\t")] if "\t" in line else line.split()


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if isfinite(found) else None
