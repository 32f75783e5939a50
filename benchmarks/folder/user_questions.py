"""Makes questions of a user's records, from a table of any form; reports all faults at once."""

import re
from ast import literal_eval
from collections import defaultdict
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from ohr.contracts import SOURCES, Question
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.foreign_answers.answer_rows import id_of, spelled
from ohr.files.json_input import parse_json, text_of, whole_number
from ohr.files.names import printable
from ohr.files.ohrbench_questions import listed
from ohr.files.tables import DOCUMENT, QUESTION, Row, Table, is_blank, is_template, lacking, read_table
from ohr.messages.wording import counted, named

from .own_documents import DOMAIN

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
            match = _PAGE.fullmatch(part)
            first, last = (whole_number(number or "") for number in match.groups()) if match else (None, None)
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
                values = read(value.strip())
            except (ValueError, SyntaxError, MemoryError):
                continue
            # [1] is a footnote's mark, and no list of answers
            if isinstance(values, list) and (part == "page" or all(isinstance(each, str) for each in values)):
                return [each for each in values if not is_blank(each)]
    return value


_SUFFIX = re.compile(r"\.(?:pdf|png|jpe?g|tiff?|bmp|webp)$", re.IGNORECASE)
_MOST_FAULTS = 12
"""Faults that one message lists; nobody reads more at once."""


class Asked(NamedTuple):
    """The questions of a file, what to know of it, and file and line of each question by its id."""

    questions: tuple[Question, ...]
    notes: tuple[str, ...]
    origins: Mapping[str, str]


@kept_until_changed()
def ask(path: Path, pages: tuple[tuple[str, int], ...], broken: tuple[str, ...], first_page: int) -> Asked:
    """Read all questions; a file that changed is read again.

    Args:
        path: the file.
        pages: each document by name, with its number of pages.
        broken: documents that cannot be used; questions about them stay, and score 0.
        first_page: the number of a document's first page in the file.

    Raises:
        DataError: the file cannot be read, or a question is wrong; all faults are listed.
    """
    table = read_records(path)
    has_documents = any("document" in row.parts for row in table.rows)
    undocumented = "" if has_documents else f"{path}: names pages, but {lacking('document', NAMES, table.columns)}"
    maker = _Maker(dict(pages), broken, first_page, undocumented)
    questions: dict[str, Question] = {}
    origins: dict[str, str] = {}
    for record in table.rows:
        question = maker.question(record, f"q{len(questions) + 1}")
        if question.id in questions:
            maker.faults.append(f"{record.where}: the id {question.id!r} is used twice")
        questions[question.id], origins[question.id] = question, record.where
    unnamed = _once(maker.unnamed, "names a page, but not of which document", "does", "")
    faults = [*_unwritten(table.rows), *unnamed, *maker.faults] or ([] if questions else [f"{path}: holds no question"])
    if faults:
        more = len(faults) - _MOST_FAULTS
        raise DataError("\n".join(faults[:_MOST_FAULTS] + [f"and {counted(more, 'more fault')}"] * (more > 0)))
    names = sorted(set(table.unused) - {"evidence_proposed"})  # `ohr init` writes this one
    unused = [f"{path.name}: not used: {named(names)}"] if names else []
    return Asked(tuple(questions.values()), (*table.notes, *unused), origins)


def _unwritten(rows: Sequence[Row]) -> list[str]:
    """Report rows that nobody has written a question into since `ohr init` made them, all in one sentence."""
    places = [row.where for row in rows if is_template(row.parts.get("question"))]
    return _once(places, "is as `ohr init` wrote it", "is", ": replace it by a question of yours")


def _once(places: Sequence[str], fault: str, verb: str, hint: str) -> list[str]:
    """Report a fault of several rows at the first of them; `verb` says `so is 1 more row` of two."""
    so = verb if len(places) == 2 else {"is": "are", "does": "do"}[verb]
    more = f", and so {so} {counted(len(places) - 1, 'more row')}" if places[1:] else ""
    return [f"{place}: {fault}{more}{hint}" for place in places[:1]]


class _Maker:
    """Makes questions, gathers faults and unnamed documents; `undocumented` is the fault of a file that names none."""

    def __init__(self, pages: Mapping[str, int], broken: Sequence[str], first_page: int, undocumented: str) -> None:
        self.faults: list[str] = []
        self.unnamed: list[str] = []
        self._undocumented = undocumented
        self._pages, self._first, self._names = pages, first_page, [*pages, *broken]
        self._by_name: dict[str, str] = {}
        self._by_last: dict[str, list[str]] = defaultdict(list)
        for name in self._names:
            for known in (name, name.partition("/")[2]):
                self._by_name.setdefault(_plain(known), name)
            self._by_last[_plain(name.rpartition("/")[2])].append(name)

    def question(self, row: Row, default: str) -> Question:
        """Make a question; `default` is its id where it has none."""
        where, parts = row.where, dict.fromkeys(NAMES) | dict(row.parts)
        text = text_of(parts["question"]).strip()
        if not text:
            self._fault(where, "has no question")
        named = text_of(parts["document"]).strip()
        document = self._document(where, named)
        pages = self._page_numbers(where, parts["page"], document, named)
        evidence = tuple(passage for passage in map(text_of, listed(parts["evidence"])) if passage.strip())
        source = text_of(parts["evidence_source"]).strip() or "text"
        if source not in SOURCES:
            self._fault(where, f"evidence_source must be one of {', '.join(SOURCES)} (got {source!r})")
        if len(evidence) not in (0, 1, len(pages)):
            evidence = ("\n".join(evidence),)
        return Question(
            id=default if is_blank(parts["id"]) else id_of(parts["id"], where),
            text=text,
            answers=tuple(answer for answer in map(text_of, listed(spelled(parts["answers"]))) if answer.strip()),
            document=document,
            pages=pages,
            # where its page is not known, nobody can say whether evidence was found on it
            evidence=(evidence or ("",)) if pages else (),
            evidence_source=source,
            domain=document.split("/")[0] if document else DOMAIN,
            answer_form=text_of(parts["answer_form"]).strip() or "String",
            task_type=text_of(parts["task_type"]).strip() or "understanding",
        )

    def _document(self, where: str, given: str) -> str:
        if not given:
            return self._names[0] if len(self._names) == 1 else ""
        plain = _plain(given)
        if plain in self._by_name:
            return self._by_name[plain]
        same = self._by_last.get(plain, [])
        if len(same) == 1:
            return same[0]
        if same:
            self._fault(where, f"the document {given!r} could be any of {', '.join(map(repr, same))}")
        else:
            near = get_close_matches(given, self._names, n=1, cutoff=0.4)
            hint = f"; did you mean {near[0]!r}?" if near else f"; it has {named(self._names)}"
            self._fault(
                where, f"the document {given!r} is not in the folder{hint} (images in one folder are one document)"
            )
        return ""

    def _page_numbers(self, where: str, given: Any, document: str, named: str) -> tuple[int, ...]:
        try:
            numbers = {number - self._first for number in page_numbers(given)}
        except ValueError as error:
            self._fault(where, f"a page must be a whole number (got {error}); several are written 3; 5 or 3-5")
            return ()
        if numbers and not document:
            if self._undocumented:
                self.faults += [self._undocumented] * (self._undocumented not in self.faults)
            elif not named:  # a document that is not there is a fault already
                self.unnamed.append(where)
            return ()
        last = self._pages.get(document)
        for number in sorted(numbers):
            if number < 0:
                self._fault(where, f"page {number + self._first}: pages count from {self._first} (see first_page)")
            elif last is not None and number >= last:
                end = last - 1 + self._first
                self._fault(where, f"page {number + self._first} of {document!r}, whose last page is {end}")
        return tuple(sorted(numbers))

    def _fault(self, where: str, fault: str) -> None:
        self.faults.append(f"{where}: {fault}")


def _plain(name: str) -> str:
    """Return a name as it is compared: one Unicode form, no suffix of a PDF or image, either slash, printable."""
    name = " ".join(normalize("NFC", printable(name)).split())  # a no-break space is a space
    return _SUFFIX.sub("", name.replace("\\", "/").strip("/"))
