"""Makes questions of a user's records; reports all faults at once."""

import re
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
from ohr.files.json_input import text_of
from ohr.files.names import printable
from ohr.files.ohrbench_questions import listed
from ohr.files.tables import Row, is_blank, is_template, lacking
from ohr.messages.wording import counted, named

from .documents import DOMAIN
from .records import NAMES, page_numbers, read_records

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
    made: dict[str, Question] = {}
    origins: dict[str, str] = {}
    for record in table.rows:
        question = maker.question(record, f"q{len(made) + 1}")
        if question.id in made:
            maker.faults.append(f"{record.where}: the id {question.id!r} is used twice")
        made[question.id], origins[question.id] = question, record.where
    unnamed = _once(maker.unnamed, "names a page, but not of which document", "does", "")
    faults = [*_unwritten(table.rows), *unnamed, *maker.faults] or ([] if made else [f"{path}: holds no question"])
    if faults:
        more = len(faults) - _MOST_FAULTS
        raise DataError("\n".join(faults[:_MOST_FAULTS] + [f"and {counted(more, 'more fault')}"] * (more > 0)))
    names = sorted(set(table.unused) - {"evidence_proposed"})  # `ohr init` writes this one
    unused = [f"{path.name}: not used: {named(names)}"] if names else []
    return Asked(tuple(made.values()), (*table.notes, *unused), origins)


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
            for wanted in (name, name.partition("/")[2]):
                self._by_name.setdefault(_plain(wanted), name)
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
        wanted = _plain(given)
        if wanted in self._by_name:
            return self._by_name[wanted]
        same = self._by_last.get(wanted, [])
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
