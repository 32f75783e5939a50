"""olmOCR-bench's files: tests as JSON Lines, the PDFs that they are about, and results as published code names them."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from typing import Any

from ohr.contracts import Document, Question
from ohr.errors import DataError
from ohr.files import MOST_PAGES, pdf
from ohr.files.below import files_below
from ohr.files.changes import State, state_of
from ohr.files.json_input import read_records
from ohr.files.ohrbench_json import set_names
from ohr.messages.wording import counted, named, quoted
from ohr.parse_scores.olmocr import read_test

from ..copies import Copy, refuse_name

PDFS = "pdfs"
BASELINE = "baseline"
"""Type of the tests that every PDF has, and the group of those that the published code adds."""
_DIGITS = 9
"""Digits of a page's number; no document has more pages."""
_RESULT = re.compile(r"(?P<pdf>.+)_pg(?P<page>\d+)(?:_repeat(?P<repeat>\d+))?\.md")


@dataclass(frozen=True, slots=True)
class Tests(Copy):
    """The content of a copy.

    Args:
        pdfs: name of the PDF below `pdfs`, without its ending, of each document.
    """

    pdfs: Mapping[str, str]


def load(root: Path) -> Tests:
    """Read a copy; what is read is kept until its files change.

    Raises:
        DataError: there are no tests, or one cannot be used.
    """
    files = sorted(root.glob("*.jsonl"))
    if not files:
        raise DataError(f"{root}: holds no tests: files in JSON Lines, beside the folder {PDFS}")
    return _read(root, state_of(*files))


@lru_cache(maxsize=4)
def _read(root: Path, state: State) -> Tests:
    entries: dict[str, tuple[str, str, Mapping[str, Any]]] = {}
    for path in (Path(name) for name, *_ in state):
        own: dict[str, str] = {}
        for where, record in read_records(path, "tests"):
            try:
                test = read_test(record)
            except ValueError as error:
                raise DataError(f"{where}: {error}") from None
            refuse_name(test.pdf, where, "`pdf`")
            if own.setdefault(test.id, where) != where:
                raise DataError(f"{where}: the test {test.id} is that of {own[test.id]}, too")
            _refuse_page(root, test.pdf, test.page, where)
            entries[_free(test.id, path.stem, entries)] = path.stem, where, record
        if not own:
            raise DataError(f"{path}: holds no test")
    for name, record in _added([record for _, _, record in entries.values()]):
        added = f"{root}: added, as published, for {record['pdf']}"
        entries[_free(name, BASELINE, entries)] = BASELINE, added, record
    by_pdf: dict[str, list[str]] = defaultdict(list)
    for name, (_, _, record) in entries.items():
        by_pdf[str(record["pdf"])].append(name)
    names = set_names(_document(name, [entries[test][0] for test in tests]) for name, tests in by_pdf.items())
    documents = dict(zip(by_pdf, names.values(), strict=True))  # names of PDFs differ, so those of documents do
    pages = {name: _pages(root, name, [entries[test][2] for test in tests]) for name, tests in by_pdf.items()}
    return Tests(
        documents=tuple(Document(name, name.split("/")[0], "en", pages[of]) for of, name in documents.items()),
        questions=tuple(
            _question(name, file, record, documents[str(record["pdf"])]) for name, (file, _, record) in entries.items()
        ),
        places={name: where for name, (_, where, _) in entries.items()},
        notes=tuple(_notes(root, by_pdf, entries.values())),
        pdfs={name: of.removesuffix(".pdf") for of, name in documents.items()},
    )


def _free(name: str, file: str, taken: Collection[str]) -> str:
    """Return a test's id; where a test of another file has it, with its own file before it."""
    choices = chain((name, f"{file}/{name}"), (f"{file}/{name} ({number})" for number in count(2)))
    return next(choice for choice in choices if choice not in taken)


def _refuse_page(root: Path, name: str, page: int, where: str) -> None:
    if not name.lower().endswith(".pdf"):
        raise DataError(f"{where}: `pdf` must end in .pdf (got {quoted(name)})")
    pages = _size(root / PDFS / name)
    if page > pages:
        raise DataError(f"{where}: page {page:,}, and {name} has {counted(pages, 'page')} at most")


@lru_cache(maxsize=4096)
def _size(path: Path) -> int:
    return pdf.page_count(path) if path.is_file() else MOST_PAGES


def _added(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the baseline test of the first page that the published code adds for each PDF without one."""
    tested = {record["pdf"] for record in records if record["type"] == BASELINE}
    for name in dict.fromkeys(record["pdf"] for record in records if record["pdf"] not in tested):
        yield f"{name}_baseline", {"id": f"{name}_baseline", "pdf": name, "page": 1, "type": BASELINE}


def _document(name: str, files: Sequence[str]) -> str:
    """Name a PDF's document: its domain is its folder, else the file of its first test."""
    domain, slash, rest = name.removesuffix(".pdf").partition("/")
    return f"{domain}/{rest}" if slash else f"{files[0]}/{domain}"


def _pages(root: Path, name: str, records: Sequence[Mapping[str, Any]]) -> int:
    path = root / PDFS / name
    return _size(path) if path.is_file() else max(int(record["page"]) for record in records)


def _question(name: str, file: str, record: Mapping[str, Any], document: str) -> Question:
    return Question(
        id=name,
        text=f"{record['type']} test",
        answers=(json.dumps(record, ensure_ascii=False),),
        document=document,
        pages=(int(record["page"]) - 1,),
        evidence=(),
        evidence_source={"table": "table", "math": "formula", "order": "reading_order"}.get(record["type"], "text"),
        domain=document.split("/")[0],
        task_type=str(record["type"]),
        groups=(("file", file),),
        asked=False,
    )


def _notes(root: Path, by_pdf: Mapping[str, Sequence[str]], entries: Any) -> Iterator[str]:
    absent = [name for name in by_pdf if not (root / PDFS / name).is_file()]
    if absent:
        yield f"{counted(len(absent), 'PDF')} of the tests not below {root / PDFS}: {named(absent)}"
    kinds = Counter(record["type"] for _, _, record in entries)
    if kinds["math"]:
        tests = counted(kinds["math"], "math test")
        yield f"{tests}: normalized LaTeX is compared, where the published code draws the formulas: its scores differ"


def read_results(folder: Path, tests: Tests, repeat: int) -> Mapping[str, Sequence[str | None]] | None:
    """Return the texts of pages by document from `<PDF>_pg<page>_repeat<number>.md`; None where no file is named so.

    Raises:
        DataError: no file is of a PDF of this copy, or one is not UTF-8 text.
    """
    found = {path: _RESULT.fullmatch(path.relative_to(folder).as_posix()) for path in files_below(folder, ".md")}
    results = {path: match for path, match in found.items() if match}
    if not results:
        if files_below(folder, ".json") or not folder.is_dir():
            return None
        raise DataError(f"{folder}: holds no <PDF>_pg<page>_repeat<number>.md, nor <domain>/<document>.json")
    texts: dict[str, dict[int, str]] = defaultdict(dict)
    documents = {of: name for name, of in tests.pdfs.items()}
    sizes = {document.name: document.pages for document in tests.documents}
    for path, match in results.items():
        name, index = documents.get(match["pdf"], ""), int(match["page"][:_DIGITS]) - 1
        if 0 <= index < sizes.get(name, 0) and int(match["repeat"] or 1) == repeat:
            if index in texts[name]:
                raise DataError(f"{path}: another file of {folder} is of the same page and repeat")
            try:
                text = path.read_bytes().decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise DataError(f"{path}: is not UTF-8 text (byte {error.start})") from None
            texts[name][index] = text or "\n"
    if not texts:
        such = f"{next(iter(tests.pdfs.values()))}_pg1_repeat{repeat}.md"
        several = counted(len(results), "result")
        raise DataError(f"{folder}: none of its {several} is called as this copy's PDFs are, such as {such}")
    return {name: [pages.get(index) for index in range(max(pages) + 1)] for name, pages in texts.items()}
