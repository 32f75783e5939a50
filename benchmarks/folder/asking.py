"""Reads a user's questions from JSON, JSON Lines or CSV; everything that is wrong is told at once."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

from ohr.contracts import SOURCES, Question
from ohr.errors import DataError
from ohr.files.json_input import lines, parse_json, whole_number
from ohr.messages.wording import counted

from .documents import DOMAIN

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
"""What a question may have, and the names that each part may go by."""
_SUFFIX = re.compile(r"\.(?:pdf|png|jpe?g|tiff?|bmp|webp)$", re.IGNORECASE)
_TOLD = 12
"""Faults that are told at most."""


class Asking:
    """Makes questions from records.

    Args:
        path: the file, for messages.
        pages: pages of each document, by name.
        broken: documents that cannot be used; questions about them stay, and score 0.
        first_page: the number of a document's first page in the file.
    """

    def __init__(self, path: Path, pages: Mapping[str, int], broken: Sequence[str], first_page: int) -> None:
        self._path, self._pages, self._broken, self._first = path, pages, broken, first_page
        self.faults: list[str] = []
        self.unused: set[str] = set()

    def questions(self) -> list[Question]:
        """Read all questions.

        Raises:
            DataError: the file cannot be read, or a question is wrong; all faults are told.
        """
        made: dict[str, Question] = {}
        for where, record in _records(self._path):
            question = self._question(where, record, f"q{len(made) + 1}")
            if question.id in made:
                self._fault(where, f"the id {question.id!r} stands twice")
            made[question.id] = question
        if not made and not self.faults:
            self.faults.append(f"{self._path}: holds no question")
        if self.faults:
            more = len(self.faults) - _TOLD
            rest = [f"and {counted(more, 'more fault')}"] if more > 0 else []
            raise DataError("\n".join(self.faults[:_TOLD] + rest))
        return list(made.values())

    def _question(self, where: str, record: Mapping[str, Any], default: str) -> Question:
        parts = {name: _pick(record, names) for name, names in _NAMES.items()}
        known = {name for names in _NAMES.values() for name in names}
        self.unused |= {str(key) for key in record if key is not None and str(key).strip().lower() not in known}
        text = _text(parts["question"]).strip()
        if not text:
            self._fault(where, "has no question")
        named = _text(parts["document"]).strip()
        document = self._document(where, named)
        pages = self._page_numbers(where, parts["page"], document, named)
        evidence = tuple(passage for passage in map(_text, _listed(parts["evidence"])) if passage.strip())
        source = _text(parts["evidence_source"]).strip() or "text"
        if source not in SOURCES:
            self._fault(where, f"evidence_source must be one of {', '.join(SOURCES)} (got {source!r})")
        if len(evidence) not in (0, 1, len(pages)):
            evidence = ("\n".join(evidence),)
        return Question(
            id=_text(parts["id"]).strip() or default,
            text=text,
            answers=tuple(answer for answer in map(_text, _listed(parts["answers"])) if answer.strip()),
            document=document,
            pages=pages,
            # where its page is not known, nobody can say whether evidence was found on it
            evidence=(evidence or ("",)) if pages else (),
            evidence_source=source,
            domain=document.split("/")[0] if document else DOMAIN,
            answer_form=_text(parts["answer_form"]).strip() or "String",
            task_type=_text(parts["task_type"]).strip() or "understanding",
        )

    def _document(self, where: str, given: str) -> str:
        names = [*self._pages, *self._broken]
        if not given:
            return names[0] if len(names) == 1 else ""
        wanted = _plain(given)
        for name in names:
            if wanted in (_plain(name), _plain(name.partition("/")[2])):
                return name
        same = [name for name in names if wanted == _plain(name.rpartition("/")[2])]
        if len(same) == 1:
            return same[0]
        near = get_close_matches(given, names, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        told = f"could be any of {', '.join(map(repr, same))}" if same else f"is not in the folder{hint}"
        self._fault(where, f"the document {given!r} {told}")
        return ""

    def _page_numbers(self, where: str, given: Any, document: str, named: str) -> tuple[int, ...]:
        listed = re.split(r"[,;\s]+", given.strip()) if isinstance(given, str) else _listed(given)
        numbers: set[int] = set()
        for page in listed:
            if page is None or page == "":
                continue
            digits = str(page).strip()
            number = None if isinstance(page, bool) else whole_number(digits)
            if number is None:
                self._fault(where, f"a page must be a whole number (got {page!r})")
                continue
            numbers.add(number - self._first)
        if numbers and not document:
            if not named:  # that a document is not there is told already
                self._fault(where, "names a page, but not of which document")
            return ()
        last = self._pages.get(document)
        for number in sorted(numbers):
            if number < 0:
                self._fault(where, f"page {number + self._first}: pages count from {self._first} (see first_page)")
            elif last is not None and number >= last:
                end = last - 1 + self._first
                self._fault(where, f"page {number + self._first} of {document!r}, whose last page is {end}")
        return tuple(sorted(numbers))

    def _fault(self, where: str, told: str) -> None:
        self.faults.append(f"{where}: {told}")


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give each record with the place where it stands."""
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
        for number, line in lines(text):
            yield f"{path}:{number}", _mapping(_loaded(line, f"{path}:{number}"), f"{path}:{number}")
    else:
        found = _loaded(text, str(path))
        if not isinstance(found, list):
            raise DataError(f"{path}: must be a list of questions (got {type(found).__name__})")
        for place, record in enumerate(found):
            yield f"{path}: question {place}", _mapping(record, f"{path}: question {place}")


def _loaded(text: str, where: str) -> Any:
    try:
        return parse_json(text.encode())
    except ValueError as error:
        raise DataError(f"{where}: not readable as JSON: {error}") from None


def _mapping(record: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(record, Mapping):
        raise DataError(f"{where}: must be a mapping with a question (got {record!r:.60})")
    return record


def _csv(text: str, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)  # spreadsheets of many countries write semicolons
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            where = f"{path}:{reader.line_num}"
            if None in row:
                raise DataError(f"{where}: has more cells than the header; quote text that contains {delimiter!r}")
            yield where, {key: _cell(value) for key, value in row.items()}
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


def _pick(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    lowered = {str(key).strip().lower(): value for key, value in record.items()}
    return next((lowered[name] for name in names if lowered.get(name) is not None), None)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(name: str) -> str:
    """Give a name as it is compared: one Unicode form, no suffix of a PDF or image, either slash."""
    return _SUFFIX.sub("", normalize("NFC", name).replace("\\", "/").strip("/"))
