"""Reads records of questions from a table of any form."""

import re
from ast import literal_eval
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ohr.files.json_input import parse_json, whole_number
from ohr.files.ohrbench_questions import listed
from ohr.files.tables import DOCUMENT, QUESTION, Table, is_blank, read_table

NAMES: Mapping[str, tuple[str, ...]] = {
    "question": QUESTION,
    "answers": ("answers", "answer", "expected_answer", "expected_answers", "correct_answer", "gold_answer"),
    "document": DOCUMENT,
    "page": ("page", "pages", "page_number", "page_numbers", "page_no"),
    "evidence": ("evidence", "quote", "passage"),
    "id": ("id", "question_id", "qid"),
    "evidence_source": ("evidence_source",),
    "answer_form": ("answer_form",),
    "task_type": ("task_type",),
}
"""The parts of a question, and the names that each part may go by."""

_MOST_PAGES = 1_000  # of a range: a year or a number that was taken for one is a fault
_PAGE = re.compile(r"(?:pages?|pp?)?\.?\s*(\d+)(?:\.0+)?(?:\s*[-–—]\s*(\d+))?", re.IGNORECASE)  # prose: ok
_NOTHING = ("none", "null")
_LISTS = ("answers", "evidence", "page")


def read_records(path: Path) -> Table:
    """Read a file's records, in order; a list in a cell becomes one.

    Raises:
        DataError: it is not readable, or a record is no mapping.
    """
    table = read_table(path, NAMES, ("question",), entry="question")
    rows = [row._replace(parts={part: _cell(part, value) for part, value in row.parts.items()}) for row in table.rows]
    return table._replace(rows=rows)


def page_numbers(given: Any) -> list[int]:
    """Return the numbers of pages as people write them: 3, 3.0, `p. 3`, `3; 5`, `3-5`, or a list of them.

    Raises:
        ValueError: a page is something else; it is the error's text.
    """
    numbers: list[int] = []
    for page in listed(given):
        if is_blank(page):
            continue
        text = "" if isinstance(page, bool) else str(page).strip()
        for part in re.split(r"[,;]\s*|(?<=\d)\s+(?![-–—])(?<![-–—]\s)", text):  # prose: ok
            found = _PAGE.fullmatch(part)
            first, last = (whole_number(number or "") for number in found.groups()) if found else (None, None)
            last = first if last is None else last
            if first is None or last is None or not first <= last < first + _MOST_PAGES:
                raise ValueError(repr(part if isinstance(page, str) else page))
            numbers += range(first, last + 1)
    return numbers


def _cell(part: str, value: Any) -> Any:
    """Read a cell: a list of texts where it is one, in JSON or as Python prints it; else what it holds."""
    if isinstance(value, list):
        return [each for each in value if not is_blank(each)]
    if not isinstance(value, str):
        return value
    if part not in ("question", "answers") and value.strip().lower() in _NOTHING:
        return None
    if part in _LISTS and value.strip().startswith("["):
        for read in (lambda text: parse_json(text.encode()), literal_eval):
            try:
                found = read(value.strip())
            except (ValueError, SyntaxError, MemoryError):
                continue
            # [1] is a footnote's mark, and no list of answers
            if isinstance(found, list) and (part == "page" or all(isinstance(each, str) for each in found)):
                return [each for each in found if not is_blank(each)]
    return value
