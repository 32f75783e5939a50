"""Questions of TableQuest, read from a user's JSON or JSON Lines file.

The schema is reconstructed from the paper, since no public copy of the data was found: `id`, `company`, `year`,
`difficulty` (easy, medium or hard), `context` (HTML with tables and text), `question`, `answer`, and `steps`, the
reference reasoning, which easy questions do not have ("-", null or absent). `image`, which is ours, is the path of the
context's page image, relative to the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ohr.errors import DataError
from ohr.files.json_input import read_records
from ohr.messages.wording import keys_of, quoted, shortened

Level = Literal["easy", "medium", "hard"]
"""Easy is the extraction of a cell, medium a calculation, hard an analysis in words."""

_TEXTS = ("company", "context", "question", "answer")
_LONGEST_PATH = 300
"""Characters of a path in a message: enough for a name of 255, the longest that file systems allow."""


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """One question with its context.

    Args:
        context: HTML of an excerpt of a report.
        steps: the reference reasoning; empty where there is none.
        image: as in the file; empty where there is none.
        where: file, and line or entry, for messages.
    """

    id: str
    company: str
    year: int
    difficulty: Level
    context: str
    question: str
    answer: str
    steps: str
    where: str
    image: str = ""


def read_questions(path: Path) -> list[TableQuestion]:
    """Read a file of questions, in order.

    Args:
        path: JSON Lines where its name ends with .jsonl or .ndjson, else a JSON list; UTF-8.

    Raises:
        DataError: the file cannot be read or has no questions, or a question lacks a part, has a wrong one, or has
            the id of another. The message names the file, and the line or entry.
    """
    found: dict[str, TableQuestion] = {}
    for where, record in read_records(path):
        question = _question(where, record)
        if question.id in found:
            raise DataError(f"{where}: id {quoted(question.id)} is already used in {found[question.id].where}")
        found[question.id] = question
    if not found:
        raise DataError(f"{path}: has no questions")
    return list(found.values())


def level_of(where: str, record: Mapping[str, Any]) -> Level:
    """Return a question's difficulty, or raise a DataError that names the allowed ones."""
    given = record.get("difficulty")
    for level in get_args(Level):
        if given == level:
            return level  # type: ignore[no-any-return]
    raise DataError(f"{where}: difficulty must be {', '.join(get_args(Level))} (got {quoted(given)})")


def require(where: str, record: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise a DataError for the first of some parts that is absent, or is no text or empty text."""
    for name in names:
        if name not in record:
            raise DataError(f"{where}: {name} is missing; a question has {', '.join(names)}; it has {keys_of(record)}")
        if not isinstance(record[name], str) or not record[name].strip():
            raise DataError(f"{where}: {name} must be text that is not empty (got {quoted(record[name])})")


def _question(where: str, record: Mapping[str, Any]) -> TableQuestion:
    for name in ("id", "year", "difficulty", *_TEXTS):
        if name not in record:
            raise DataError(
                f"{where}: {name} is missing; a question has id, year, difficulty, {', '.join(_TEXTS)}, steps; "
                f"it has {keys_of(record)}"
            )
    require(where, record, _TEXTS)
    level = level_of(where, record)
    return TableQuestion(
        id=_id(where, record["id"]),
        company=record["company"],
        year=_year(where, record["year"]),
        difficulty=level,
        context=record["context"],
        question=record["question"],
        answer=record["answer"],
        steps=_steps(where, record.get("steps"), level),
        where=where,
        image=_image(where, record.get("image")),
    )


def _id(where: str, given: object) -> str:
    name = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
    if not isinstance(name, str) or not name.strip():
        raise DataError(f"{where}: id must be text or a whole number (got {quoted(given)})")
    return name


def _year(where: str, given: object) -> int:
    text = str(given).strip()
    if isinstance(given, bool) or not (len(text) == 4 and text.isascii() and text.isdecimal()):
        raise DataError(f"{where}: year must have four digits (got {quoted(given)})")
    return int(text)


def _steps(where: str, given: object, level: Level) -> str:
    if given in (None, "", "-"):
        if level != "easy":
            raise DataError(f"{where}: steps are missing; only easy questions have none")
        return ""
    if not isinstance(given, str):
        raise DataError(f"{where}: steps must be text (got {quoted(given)})")
    return given


def shown(path: Path) -> str:
    """Write a path for a message; only one that no file has is cut."""
    return shortened(str(path), _LONGEST_PATH)


def _image(where: str, given: object) -> str:
    if given is None:
        return ""
    if not isinstance(given, str) or not given.strip():
        raise DataError(f"{where}: image must be the path of a page image (got {quoted(given)})")
    return given
