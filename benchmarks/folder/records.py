"""Reads records of questions from JSON, JSON Lines or CSV."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from ohr.errors import DataError
from ohr.files.json_input import lines, parse_json

_NAMES = {
    "question": ("question", "questions", "query"),
    "answers": ("answers", "answer"),
    "document": ("document", "documents", "doc", "file"),
    "page": ("page", "pages"),
    "evidence": ("evidence",),
    "id": ("id", "question_id"),
    "evidence_source": ("evidence_source",),
    "answer_form": ("answer_form",),
    "task_type": ("task_type",),
}
"""The parts of a question, and the names that each part may go by."""


class Record(NamedTuple):
    """One question as it is written.

    Attributes:
        where: file, and line or entry, for messages.
        parts: the parts of `_NAMES`; None where one is absent.
        unused: keys that are no part.
    """

    where: str
    parts: Mapping[str, Any]
    unused: Sequence[str]


def read_records(path: Path) -> Iterator[Record]:
    """Read a file's records, in order.

    Raises:
        DataError: it is not readable, or a record is no mapping.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        yield from _csv(text, path)
    elif suffix in (".jsonl", ".ndjson"):
        yield from _json((f"{path}:{number}", _loaded(line, f"{path}:{number}")) for number, line in lines(text))
    else:
        found = _loaded(text, str(path))
        if not isinstance(found, list):
            raise DataError(f"{path}: must be a list of questions (got {type(found).__name__})")
        yield from _json((f"{path}: question {place}", record) for place, record in enumerate(found))


def _json(records: Iterable[tuple[str, Any]]) -> Iterator[Record]:
    for where, record in records:
        if not isinstance(record, Mapping):
            raise DataError(f"{where}: must be a mapping with a question (got {record!r:.60})")
        yield _record(where, tuple(record), list(record.values()))


def _loaded(text: str, where: str) -> Any:
    try:
        return parse_json(text.encode())
    except ValueError as error:
        raise DataError(f"{where}: not readable as JSON: {error}") from None


def _csv(text: str, path: Path) -> Iterator[Record]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)  # spreadsheets of many countries write semicolons
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = tuple(next(reader, ()))
        for row in filter(None, reader):
            where = f"{path}:{reader.line_num}"
            if len(row) > len(header):
                raise DataError(f"{where}: has more cells than the header; quote text that contains {delimiter!r}")
            record = _record(where, header, row)
            yield record._replace(parts={name: _cell(value) for name, value in record.parts.items()})
    except csv.Error as error:
        raise DataError(f"{path}:{reader.line_num}: not readable as CSV: {error}") from None


def _cell(value: str | None) -> Any:
    """Read a cell: a JSON list where it is one, else its text."""
    if value and value.lstrip().startswith("["):
        try:
            return parse_json(value.encode())
        except ValueError:
            return value
    return value


def _record(where: str, keys: tuple[str, ...], values: Sequence[Any]) -> Record:
    places, unused = _places(keys)
    parts = {
        name: next((values[place] for place in found if place < len(values) and values[place] is not None), None)
        for name, found in places.items()
    }
    return Record(where, parts, unused)


@lru_cache(maxsize=64)
def _places(keys: tuple[str, ...]) -> tuple[Mapping[str, Sequence[int]], Sequence[str]]:
    """Find where each part is among the keys of a record, once for all records with these keys."""
    lowered = {key.strip().lower(): place for place, key in enumerate(keys)}
    known = {alias for names in _NAMES.values() for alias in names}
    places = {name: [lowered[alias] for alias in names if alias in lowered] for name, names in _NAMES.items()}
    return places, [keys[place] for name, place in lowered.items() if name and name not in known]
