"""Files of JSON Lines, plain or compressed: each line with its place, so that a text is read when it is needed."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from ohr.errors import DataError
from ohr.files.json_input import parse_json
from ohr.messages.faults import Fault
from ohr.messages.wording import keys_of

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not empty.

    Args:
        name: its `_id`.
        where: file and line number.
        start: of the line in the file, in bytes.
        size: of the line, in bytes.
        record: the JSON object.
    """

    name: str
    where: str
    start: int
    size: int
    record: Mapping[str, Any]


def opened(path: Path) -> BinaryIO:
    """Open a file to read its bytes at any place; a `.gz` is unpacked into a temporary file, which has no name.

    Raises:
        DataError: it cannot be read, or is damaged.
    """
    with _readable(path):
        if path.suffix != ".gz":
            return path.open("rb")
    unpacked = TemporaryFile()  # noqa: SIM115 # whoever reads it closes it
    try:
        with _readable(path), gzip.open(path) as packed:
            copyfileobj(packed, unpacked, 1 << 20)
    except DataError:
        unpacked.close()
        raise
    unpacked.seek(0)
    return unpacked


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: is damaged: {error}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def records(path: Path, file: BinaryIO, faults: list[Fault]) -> Iterator[Line]:
    """Read the records of an open file; a line that has none is a fault, and so is one with the `_id` of another.

    Args:
        path: for messages.
        faults: takes what is wrong.
    """
    first: dict[str, int] = {}
    start = 0
    for number, content in enumerate(file, start=1):
        line, where = content.removeprefix(_BOM) if number == 1 else content, f"{path}:{number}"
        place, start = start + len(content) - len(line), start + len(content)
        if not line.strip():
            continue
        record = _parsed(line)
        name = None if record is None else _name(record)
        if record is None:
            faults.append(Fault("line", "without a JSON object", where))
        elif name is None:
            there = f"{where} (it has {keys_of(record or ())})"
            faults.append(Fault("line", "without `_id`, a text or a whole number", there))
        elif first.setdefault(name, number) != number:
            faults.append(Fault("line", "with the `_id` of another", f"{where} ({name!r}, as line {first[name]})"))
        else:
            yield Line(name, where, place, len(line), record)


def text_of(line: Line, key: str, faults: list[Fault]) -> str:
    """Return a text of a record; one that is absent or null is empty, and anything else is a fault."""
    value = line.record.get(key)
    if value is not None and not isinstance(value, str):
        faults.append(Fault("line", f"whose `{key}` is no text", line.where))
        return ""
    return value or ""


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        found = parse_json(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _name(record: Mapping[str, Any]) -> str | None:
    name = record.get("_id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        return None
    return str(name).strip() or None
