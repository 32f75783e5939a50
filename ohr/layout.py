"""OHRBench's folder layout: `<base>/<domain>/<document>.json`, a list of {"page_idx", "text"}."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ohr.contracts import Page, Question
from ohr.errors import DataError


def read_pages(base: Path, document: str) -> list[Page]:
    """Read one document of a knowledge base in page order; a document that is absent has no pages.

    Raises:
        DataError: the file is not a list of pages. A page whose text is null is a Page with an error.
    """
    path = base / f"{document}.json"
    if not path.is_file():
        return []
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
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
    entries = json.loads(path.read_text(encoding="utf-8"))
    for entry in entries:
        number = entry.get("page_idx", entry.get("page_no"))
        if number in texts and isinstance(entry.get("text"), str):
            entry["text"] = texts[number]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def read_records(path: Path) -> list[Any]:
    """Read the entries of a question file as they stand; raises DataError when it is no JSON list."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    if not isinstance(records, list):
        raise DataError(f"{path}: must be a list of questions")
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
    try:
        source = str(record["evidence_source"])
        return Question(
            id=str(record["ID"]),
            text=str(record["questions"]),
            answers=tuple(str(answer) for answer in _listed(record["answers"])),
            document=str(record["doc_name"]),
            pages=tuple(int(page) for page in _listed(record["evidence_page_no"])),
            evidence=tuple(str(passage) for passage in _listed(record["evidence_context"])),
            evidence_source="formula" if source == "equation" else source,
            domain=str(record.get("doc_type") or str(record["doc_name"]).split("/")[0]),
            answer_form=str(record.get("answer_form", "String")),
            task_type=str(record.get("task_type", "understanding")),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{where}: missing or wrong: {error}") from None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
