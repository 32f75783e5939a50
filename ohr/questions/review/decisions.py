"""Decisions of reviewers: a file of JSON Lines that only grows, and so survives every rebuild of the candidates."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from ohr.errors import DataError
from ohr.files.json_input import read_records, refuse_lines
from ohr.keys import key
from ohr.messages.wording import quoted
from ohr.questions.candidate import Candidate
from ohr.registry import choices

FILE = "decisions.jsonl"
"""Its name in the folder of a set."""

Verdict = Literal["keep", "drop", "edit", "undo"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
UNDO: Verdict = "undo"

_DIGITS = 16
"""Hexadecimal digits of a digest: two versions of a candidate have the same by chance once in 2^64."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A reviewer's verdict about one version of a candidate.

    Args:
        candidate: its id.
        digest: of the version that the reviewer saw: see `candidate_digest`.
        reviewer: the name of the reviewer.
        verdict: whether the question stays, goes, or stays with other words; `undo` takes the reviewer's last verdict
            about this version back, so that the one before it counts again.
        reason: in the reviewer's words.
        question: the new text of an edited question; "" leaves it.
        answer: the new answer of an edited question, which replaces all accepted ones; "" leaves them.
        time: when, as in ISO 8601.
    """

    candidate: str
    digest: str
    reviewer: str
    verdict: Verdict
    reason: str = ""
    question: str = ""
    answer: str = ""
    time: str = ""


_KEYS = tuple(field.name for field in fields(Decision))
_REQUIRED = ("candidate", "digest", "reviewer", "verdict")


def candidate_digest(candidate: Candidate) -> str:
    """Hash what a reviewer judges: question, answers, document, and the pages and texts of the evidence.

    The place of the evidence on its page is left out: a passage that moves is the same passage.
    """
    evidence = [[passage.page, passage.text] for passage in candidate.evidence]
    return key("reviewed", candidate.question, list(candidate.answers), candidate.document, evidence)[:_DIGITS]


def decision_of(record: Mapping[str, Any]) -> Decision:
    """Read a decision from the object of a line.

    Raises:
        DataError: a key is missing, unknown, or has a value that cannot be; the message names no place.
    """
    if unknown := [name for name in record if name not in _KEYS]:
        raise DataError(f"there is no key {quoted(unknown[0])}. {choices(unknown[0], _KEYS)}")
    if wrong := [name for name, value in record.items() if not isinstance(value, str)]:
        raise DataError(f"{wrong[0]} must be a text (got {quoted(record[wrong[0]])})")
    if missing := [name for name in _REQUIRED if not record.get(name, "").strip()]:
        raise DataError(f"{missing[0]} is missing or empty")
    if record["verdict"] not in VERDICTS:
        raise DataError(f"there is no verdict {quoted(record['verdict'])}. {choices(record['verdict'], VERDICTS)}")
    changes = [name for name in ("question", "answer") if record.get(name, "").strip()]
    if record["verdict"] == "edit" and not changes:
        raise DataError("an edit needs a new question or a new answer")
    if record["verdict"] != "edit" and changes:
        raise DataError(f"{changes[0]} is for the verdict edit only (got {record['verdict']})")
    return Decision(**record)


def read_decisions(path: Path) -> list[Decision]:
    """Read a file of decisions, in their order.

    Raises:
        DataError: the file cannot be read, or has lines that are no decisions; the message names the first ones.
    """
    _refuse_other_formats(path)
    decisions, wrong = [], []
    for where, record in read_records(path, "decisions"):
        try:
            decisions.append(decision_of(record))
        except DataError as error:
            wrong.append(f"{where}: {error}")
    refuse_lines(path, wrong)
    return decisions


def add_decision(path: Path, decision: Decision) -> None:
    """Write a decision to the end of the file, and wait until it is on disk; a file that is not there is begun.

    Raises:
        DataError: the file cannot be written.
    """
    _refuse_other_formats(path)
    stated = {name: value for name, value in asdict(decision).items() if value}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as opened:
            opened.write((_lacking_line_end(opened) + _as_line(stated)).encode("utf-8", "replace"))
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise DataError(f"{path}: the decision cannot be written: {error.strerror}") from None


def _lacking_line_end(opened: Any) -> str:
    """Return the line end that an editor may have left out at the end of the file."""
    if opened.seek(0, os.SEEK_END) == 0:
        return ""
    opened.seek(-1, os.SEEK_END)
    return "" if opened.read(1) == b"\n" else "\n"


def _as_line(stated: Mapping[str, str]) -> str:
    return json.dumps(stated, ensure_ascii=False) + "\n"


def _refuse_other_formats(path: Path) -> None:
    if path.suffix.lower() != ".jsonl":
        raise DataError(f"{path}: decisions are JSON Lines: name a file that ends with .jsonl")
