"""Reads FinMMDocR as it is published: `test.json`, page images, and texts of pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ohr.errors import DataError
from ohr.files.json_input import lines, parse_json
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted, named, shortened

from .checking import HARMLESS, NO_OBJECT, NO_OBJECTS, faults_of, record_of
from .records import Record

FILES = ("test.json", "test.jsonl")
_BLANK = b"\xef\xbb\xbf \t\r\n"
"""A byte order mark, and white space."""
_FORM = "FinMMDocR's test.json is a list of records, each with question_id, doc_id, question, evidence, ground_truth"


@dataclass(frozen=True, slots=True)
class Survey:
    """The records of a folder, and everything that is not as published.

    Args:
        records: in the order of the file; those that cannot be used are left out.
        faults: `HARMLESS` ones are notes, all others are errors.
    """

    records: tuple[Record, ...]
    faults: tuple[Fault, ...]

    @property
    def errors(self) -> list[Fault]:
        """Faults with which scores would be wrong."""
        return [fault for fault in self.faults if fault.about not in HARMLESS]

    @property
    def notes(self) -> list[str]:
        """One sentence for each kind of harmless fault."""
        return sentences(fault for fault in self.faults if fault.about in HARMLESS)

    def refuse_errors(self, path: Path) -> None:
        """Raise a DataError that lists all kinds of errors of the file, if there are any."""
        if self.errors:
            raise DataError(f"{path}: {'; '.join(sentences(self.errors))}")


def survey(root: Path) -> Survey:
    """Read the questions of a folder and report all faults.

    Raises:
        DataError: there is no such file, or it is not JSON or JSON Lines of records.
    """
    path = questions_file(root)
    records: list[Record] = []
    faults: list[Fault] = []
    for where, value in _values(path):
        record, wrong = record_of(value, where)
        faults += wrong
        if record is not None:
            records.append(record)
    strangers = sum(fault.about == NO_OBJECT for fault in faults)
    if strangers > 1:
        faults = [fault._replace(about=NO_OBJECTS) if fault.about == NO_OBJECT else fault for fault in faults]
    if not records and not faults:
        raise DataError(f"{path}: holds no record; {_FORM}")
    faults += faults_of(records)
    return Survey(tuple(records), tuple(faults))


def questions_file(root: Path) -> Path:
    """Return the file of the questions.

    Raises:
        DataError: the folder has none.
    """
    for name in FILES:
        if (root / name).is_file():
            return root / name
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; FinMMDocR is to be downloaded from its publishers")
    raise DataError(f"{root}: no {' or '.join(FILES)}; FinMMDocR is to be downloaded from its publishers")


def texts_file(root: Path, record: Record) -> Path | None:
    """Return the file of the texts of a document's pages; None where there is none."""
    return _found(root, record.texts)


def page_texts(root: Path, record: Record) -> list[str]:
    """Read the texts of a document's pages, in order.

    Raises:
        DataError: the file is missing, is not a JSON list of strings, or has another number of pages.
    """
    path = _found(root, record.texts)
    if path is None:
        raise DataError(f"{root / shortened(record.texts)}: no such file ({record.where})")
    found = _json(path)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise DataError(f"{path}: must be a list of strings, one for each page ({record.where})")
    if len(found) != record.pages_num:
        raise DataError(f"{path}: has {counted(len(found), 'page')}, not {record.pages_num} ({record.where})")
    return found


def page_image_file(root: Path, record: Record, index: int) -> Path:
    """Return the file of a page image; pages count from 0 here.

    Raises:
        DataError: it is missing, or the record names none for this page.
    """
    if not 0 <= index < len(record.images):
        raise DataError(f"{root}: {shortened(record.doc_id)} has no image of page {index + 1} ({record.where})")
    path = _found(root, record.images[index])
    if path is None:
        raise DataError(f"{root / shortened(record.images[index])}: no such file ({record.where})")
    return path


def missing_images(root: Path, record: Record) -> list[str]:
    """List the page images of a document that are not there, as the record names them."""
    return [path for path in record.images if _found(root, path) is None]


def empty_images(root: Path, record: Record) -> list[str]:
    """List the page images of a document whose files are empty, as the record names them."""
    found = ((name, _found(root, name)) for name in record.images)
    return [name for name, path in found if path is not None and not path.stat().st_size]


def named_paths(paths: Sequence[str]) -> str:
    """List the first of some paths; long ones are cut."""
    return named([shortened(path) for path in paths])


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each record with file and place; the file is a JSON list, or JSON Lines, whatever it is called."""
    content = path.read_bytes()
    if content.lstrip(_BLANK)[:1] == b"{":
        yield from _of_lines(path, content)
        return
    found = _json(path)
    if not isinstance(found, list):
        raise DataError(f"{path}: must be a list (it is {type(found).__name__}); {_FORM}")
    for place, value in enumerate(found):
        yield f"{path.name} record {place}", value


def _of_lines(path: Path, content: bytes) -> Iterator[tuple[str, Any]]:
    try:
        whole = parse_json(content)
    except ValueError:
        whole = None  # several lines
    if whole is not None and "question_id" not in whole:
        raise DataError(f"{path}: must be a list (it is an object); {_FORM}")
    values, broken = [], []
    for number, line in lines(_text(path, content)):
        try:
            values.append((f"{path.name} line {number}", parse_json(line.encode())))
        except ValueError as error:
            broken.append(f"line {number} ({error})")
    if broken:
        raise DataError(f"{path}: {counted(len(broken), 'line')} not JSON: {named(broken)}")
    yield from values


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: {_encoding(content, error)}") from None


def _json(path: Path) -> Any:
    content = path.read_bytes()
    try:
        return parse_json(content)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: {_encoding(content, error)}") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}") from None


def _encoding(content: bytes, error: UnicodeDecodeError) -> str:
    """Describe text that is not UTF-8; Chinese is often written in GB 18030."""
    try:
        content.decode("gb18030")
        guess = "; it may be GB 18030: save it as UTF-8"
    except UnicodeDecodeError:
        guess = ": save it as UTF-8"
    return f"not UTF-8 from byte {error.start} on{guess}"


def _found(root: Path, path: str) -> Path | None:
    """Find a file below the root; records name paths of their authors' machine, whose first folders may differ."""
    parts = [part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in ("/", ".", "..")]
    tails = (root.joinpath(*parts[start:]) for start in range(len(parts)))
    try:
        return next((tail for tail in tails if tail.is_file()), None)
    except OSError:  # a name that is too long
        return None
