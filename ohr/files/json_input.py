"""Reads JSON that others wrote: every fault is a ValueError, and its texts can be written to any file."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.messages.wording import named, quoted

_HALF = re.compile(rb"\\u[dD]|\xed[\xa0-\xbf]")
"""The beginning of half a character (a lone surrogate), as of a cut emoji, which no file can hold."""

_LONGEST_NUMBER = 18
"""Most digits of a page number; Python refuses to convert some thousands of digits."""


class Number(float):
    """A number with a point or an exponent that `str` writes as its file does: 2.0, 1.50 or 1e3."""

    spelling: str

    def __new__(cls, spelling: str) -> "Number":
        """Read a number from its spelling."""
        number = super().__new__(cls, spelling)
        number.spelling = str(spelling)
        return number

    def __str__(self) -> str:
        return self.spelling


def text_of(value: object) -> str:
    """Write a value of a file as text: a string as it is, what is blank as nothing, all else as the file spells it.

    A number that no file spells, as of Parquet, has at most 15 digits and no zeros at the end of its fraction.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, str | Number):
        return str(value)
    return f"{value:.15g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def parse_json(content: bytes, *, unique: bool = False, spelled: bool = False) -> Any:
    """Read JSON; replace halves of characters with question marks.

    Args:
        content: of the file.
        unique: refuse a mapping with the same key twice, of which the last would count.
        spelled: numbers that are not whole remember how they are written (`Number`).

    Raises:
        ValueError: it is not JSON, not UTF-8, or too deeply nested.
    """
    try:
        # plain bytes are found in a fifth of the time that the expression takes
        hooks: dict[str, Any] = {
            "object_pairs_hook": _once if unique else None,
            "parse_float": Number if spelled else None,
        }
        found = json.loads(content, **hooks)
        if (b"\\ud" in content or b"\\uD" in content or b"\xed" in content) and _HALF.search(content):
            found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"), **hooks)
    except RecursionError:
        raise ValueError("too deeply nested") from None
    return found


def mapping_in(path: Path) -> dict[str, Any]:
    """Return the mapping in a JSON file; an empty one where there is no such file, or it holds anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:60]!r} is there twice")
    return found


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Number the lines of JSON Lines that are not empty; only a line feed ends one: texts hold other separators."""
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def refuse_lines(path: Path, wrong: Sequence[str]) -> None:
    """Raise a DataError that names the first of some lines of a file; nothing without any.

    Args:
        wrong: place and fault of each.
    """
    if wrong:
        raise DataError(wrong[0] if len(wrong) == 1 else f"{path}: {len(wrong):,} lines cannot be used: {named(wrong)}")


def read_records(path: Path, things: str = "questions") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Read the JSON objects of a file with their places: `file:line` in JSON Lines, `file: entry N` in a list.

    Args:
        path: JSON Lines where its name ends with .jsonl or .ndjson, else a JSON list; UTF-8.
        things: what the objects are, for messages.

    Raises:
        DataError: the file cannot be read, or has something else.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise DataError(f"{path}: is no file")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        entries = ((f"{path}:{number}", _parsed(f"{path}:{number}", line)) for number, line in lines(text))
    else:
        listed = _parsed(str(path), text)
        if not isinstance(listed, list):
            raise DataError(f"{path}: must be a JSON list of {things} (got {type(listed).__name__})")
        entries = ((f"{path}: entry {place}", entry) for place, entry in enumerate(listed, start=1))
    for where, entry in entries:
        if not isinstance(entry, Mapping):
            raise DataError(f"{where}: must be an object, as all {things} (got {quoted(entry)})")
        yield where, entry


@kept_until_changed()
def read_replies(path: Path) -> Mapping[str, str]:
    """Read a file of replies by question: objects with `id` and `reply`.

    Raises:
        DataError: the file cannot be read, or a record lacks an id or a reply, or has the id of another.
    """
    found: dict[str, str] = {}
    for where, record in read_records(path, "replies"):
        name, reply = record.get("id"), record.get("reply")
        if not isinstance(name, str | int) or isinstance(name, bool) or not isinstance(reply, str):
            raise DataError(f"{where}: must have `id` and `reply`, a text (got {quoted(record)})")
        if str(name) in found:
            raise DataError(f"{where}: question {quoted(name)} has a reply already")
        found[str(name)] = reply
    return found


def _parsed(where: str, text: str) -> Any:
    try:
        return parse_json(text.encode())
    except ValueError as error:
        raise DataError(f"{where}: not readable as JSON: {error}") from None


def whole_number(value: object) -> int | None:
    """Read a number from 0 on, also where it is written as text; None for anything else."""
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if digits.isdecimal() and len(digits) <= _LONGEST_NUMBER else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
