"""OHRBench's folder layout: `<base>/<domain>/<document>.json`, a list of {"page_idx", "text"}."""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

from ohr.contracts import Page, Question
from ohr.errors import DataError
from ohr.files.json_input import parse_json, whole_number
from ohr.messages.faults import Fault

_MOST_PAGES = 100_000
"""No document has more; a larger page number is a mistake that would stand for as many missing pages."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file holds: its pages in ascending order, what is wrong with it, and why it could not be read."""

    pages: tuple[Page, ...]
    faults: tuple[Fault, ...]
    error: str | None = None


def has_bases(root: Path) -> bool:
    """Tell whether a folder is a benchmark in this layout: it holds the ground truth among its knowledge bases."""
    return (root / "retrieval_base" / "gt").is_dir()


def benchmark_root(base: Path) -> Path | None:
    """Find the benchmark's folder that a knowledge base lies in, as `<root>/retrieval_base/<base>`."""
    above = base.resolve().parent
    return above.parent if above.name == "retrieval_base" and has_bases(above.parent) else None


def document_files(base: Path) -> dict[str, Path]:
    """Give each document's file, in the order in which the published code reads them: by path, suffix included.

    Hidden files and folders are skipped, as there; what does not end in `.json` is no document.
    """
    above = len(str(base / "-")) - 1
    # thousands of files: cut as text, since a Path of each takes longer
    found = sorted(entry.path[above:].replace(os.sep, "/").split("/") for entry in json_files(base))
    return {"/".join(parts).removesuffix(".json"): base.joinpath(*parts) for parts in found if len(parts) > 1}


def json_files(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """List the JSON files below a folder, in any order; hidden files and folders are skipped."""
    left = [os.fspath(folder)]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir():
                    left.append(entry.path)
                elif entry.name.endswith(".json") and entry.is_file():
                    yield entry


def read_document(path: Path, name: str) -> Reading:
    """Read a document; what cannot be read is a fault, and a page whose text is no string has an error."""
    where = f"{path.parts[-2 - name.count('/')]}/{name}"
    try:
        entries = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return _unread("not readable as JSON", where)
    if not isinstance(entries, list):
        return _unread("not a list of pages", where)
    pages: dict[int, Page] = {}
    faults: list[Fault] = []
    for place, entry in enumerate(entries):
        number = _number(entry)
        if number is not None and number not in pages and _is_whole(entry):
            pages[number] = Page(name, number, entry["text"])
        elif number is None:
            faults.append(Fault("page", "without a page number, left out", f"{where} entry {place}"))
        elif number in pages:
            faults.append(Fault("page", "listed again, of which the first counts", f"{where} page {number}"))
        else:
            pages[number] = _page(name, number, entry)
            faults += _page_faults(pages[number], entry, where)
    if list(pages) != sorted(pages):
        faults.append(Fault("file", "with pages out of order, put in order", where))
    return Reading(tuple(pages[number] for number in sorted(pages)), tuple(faults))


def _unread(reason: str, where: str) -> Reading:
    return Reading((), (Fault("file", reason, where),), f"its file is {reason}")


def composed(name: str) -> str:
    """Give a name in the one Unicode form (NFC) in which names are compared."""
    return name if name.isascii() else normalize("NFC", name)


def other_form(name: str, names: Mapping[str, Sequence[str]]) -> str | None:
    """Find the one name that differs from `name` in its Unicode form only; None where `name` itself is there.

    Args:
        name: as it is written somewhere.
        names: the names that there are, by their composed form; names that differ in their form are told apart.
    """
    found = names.get(composed(name), ())
    return found[0] if name not in found and len(found) == 1 else None


def by_form(names: Iterable[str]) -> dict[str, list[str]]:
    """Gather names by their composed form."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[composed(name)].append(name)
    return found


def read_pages(base: Path, document: str) -> list[Page]:
    """Read one document of a knowledge base in page order; a document that is absent has no pages.

    Raises:
        DataError: the file is not a list of pages. A page whose text is null is a Page with an error.
    """
    path = base / f"{document}.json"
    return read_file(path, document) if path.is_file() else []


def read_file(path: Path, document: str) -> list[Page]:
    """Read a document's file in page order; raises as `read_pages` does."""
    try:
        entries = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{path}: must be a list of {{page_idx, text}}")
    pages: dict[int, Page] = {}
    for place, entry in enumerate(entries):
        number = entry.get("page_idx", entry.get("page_no"))
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise DataError(f"{path}: entry {place}: page_idx must be a whole number from 0 (got {number!r})")
        if number in pages:
            raise DataError(f"{path}: page {number} stands twice")
        text = entry.get("text")
        fault = None if isinstance(text, str) else f"text is {type(text).__name__}, not a string"
        pages[number] = Page(document, number, text if isinstance(text, str) else "", fault)
    return [pages[number] for number in sorted(pages)]


def with_texts(path: Path, texts: Mapping[int, str]) -> str:
    """Give a document's file with other texts by page index; all else stays, also keys that nobody here knows."""
    entries = parse_json(path.read_bytes())
    for entry in entries:
        number = entry.get("page_idx", entry.get("page_no"))
        if number in texts and isinstance(entry.get("text"), str):
            entry["text"] = texts[number]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


_ASKED = ("ID", "doc_name", "questions", "answers", "evidence_source", "evidence_page_no", "evidence_context")
_FORM = f"questions are a JSON list as in OHRBench, each with {', '.join(_ASKED)}"


def read_records(path: Path) -> list[Any]:
    """Read the entries of a question file as they stand; raises DataError when it is no JSON list."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        records = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}; {_FORM}") from None
    if not isinstance(records, list):
        raise DataError(f"{path}: must be a list of questions; {_FORM}")
    return records


def read_questions(path: Path) -> list[Question]:
    """Read a `qas.json`: evidence pages and passages may be single or listed, answers of any JSON scalar.

    Raises:
        DataError: the file is not a list of questions, or an id stands twice.
    """
    records = read_records(path)
    questions = [_question(record, f"{path}: question {place}") for place, record in enumerate(records)]
    repeated = [name for name, count in Counter(question.id for question in questions).items() if count > 1]
    if repeated:
        raise DataError(f"{path}: id {repeated[0]!r} stands more than once")
    return questions


def _question(record: Any, where: str) -> Question:
    if not isinstance(record, dict):
        raise DataError(f"{where}: must be an object with {', '.join(_ASKED)}, not {_kind(record)}")
    try:
        source = str(record["evidence_source"])
        return Question(
            id=str(record["ID"]),
            text=str(record["questions"]),
            answers=tuple(str(answer) for answer in _listed(record["answers"])),
            document=str(record["doc_name"]),
            pages=tuple(_asked_page(page) for page in _listed(record["evidence_page_no"])),
            evidence=tuple(str(passage) for passage in _listed(record["evidence_context"])),
            evidence_source="formula" if source == "equation" else source,
            domain=str(record.get("doc_type") or str(record["doc_name"]).split("/")[0]),
            answer_form=str(record.get("answer_form", "String")),
            task_type=str(record.get("task_type", "understanding")),
        )
    except KeyError as error:
        raise DataError(f"{where}: has no {error}; a question has {', '.join(_ASKED)}") from None
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: {error}") from None


def _asked_page(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"evidence_page_no must be a whole number from 0 on, not {value!r}") from None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _number(entry: Any) -> int | None:
    number = whole_number(entry.get("page_idx", entry.get("page_no"))) if isinstance(entry, dict) else None
    return number if number is not None and number < _MOST_PAGES else None


def _is_whole(entry: Mapping[str, Any]) -> bool:
    """Tell whether nothing is wrong with an entry that has a number: so it is with almost all."""
    text = entry.get("text")
    return (
        isinstance(text, str)
        and bool(text)
        and not text.isspace()
        and not isinstance(entry.get("page_idx", entry.get("page_no")), str)
    )


def _page(name: str, number: int, entry: Mapping[str, Any]) -> Page:
    text = entry.get("text")
    if isinstance(text, str):
        return Page(name, number, text)
    return Page(name, number, "", f"text is {_kind(text)}, not a string")


def _page_faults(page: Page, entry: Mapping[str, Any], where: str) -> Iterator[Fault]:
    if page.error is not None:
        yield Fault("page", "with a text that is not a string, counted as failed", f"{where} page {page.index}")
    elif not page.text.strip():
        yield Fault("page", f"without text in {where.split('/')[0]}", f"{where} page {page.index}")
    if isinstance(entry.get("page_idx", entry.get("page_no")), str):
        yield Fault("page number", "in quotes, read without them", f"{where} page {page.index}")


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__
