"""A page corpus: its pages put together to documents, and its queries with the pages that were judged, as questions."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ohr.contracts import Document, EvidenceSource, Question, Relevant
from ohr.errors import DataError
from ohr.files.changes import State, state_of
from ohr.files.names import quoted_id
from ohr.files.tables import is_blank
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import quoted

from ..copies import Copy
from .parquet_pages import NAMES, SAMPLE, Shard, parquet_files, read_columns, require_text, shard

if TYPE_CHECKING:
    from pyarrow import ChunkedArray

_CODES = {
    "arabic": "ar", "chinese": "zh", "dutch": "nl", "english": "en", "french": "fr", "german": "de", "italian": "it",
    "japanese": "ja", "korean": "ko", "polish": "pl", "portuguese": "pt", "russian": "ru", "spanish": "es",
}  # fmt: skip
"""Languages by the names that data sets give them; others are kept as codes."""
_CODE = re.compile("[a-z]{2,3}")


class Place(NamedTuple):
    """Where a page is in the corpus: the number of its file, and its row there."""

    id: str
    file: int
    row: int


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a corpus.

    Args:
        documents: in the order of their first rows.
        places: of the pages of each document, by its name, in their order.
        by_id: document and index of each page, by its id in the corpus.
        texts: of the rows of each file; empty where no page has any.
    """

    shards: tuple[Shard, ...]
    documents: tuple[Document, ...]
    places: Mapping[str, tuple[Place, ...]]
    by_id: Mapping[str, tuple[str, int]]
    texts: tuple["ChunkedArray", ...]

    def text(self, place: Place) -> str:
        """Return the text of a page; "" where it has none."""
        return str(self.texts[place.file][place.row].as_py() or "")


def read_pages(files: Mapping[str, Sequence[Path]], domain: str, language: str, faults: list[Fault]) -> Pages:
    """Read all of a corpus but its images.

    Args:
        files: of each configuration.
        language: of documents whose metadata name none.
        faults: where what is counted is put.

    Raises:
        DataError: a file is damaged or lacks a column, or pages contradict one another.
    """
    shards = tuple(shard(path, "corpus") for path in files["corpus"])
    by_document = {
        f"{domain}/{quoted_id(document)}": (document, _in_order(document, rows))
        for document, rows in _by_document(shards, faults).items()
    }
    languages = _languages(files.get("documents", ()))
    documents = tuple(
        Document(name, domain, languages.get(document, language), len(places))
        for name, (document, places) in by_document.items()
    )
    by_id = {place.id: (name, index) for name, (_, places) in by_document.items() for index, place in enumerate(places)}
    read = {name: places for name, (_, places) in by_document.items()}
    return Pages(shards, documents, read, by_id, _texts(shards, faults))


def _by_document(shards: Sequence[Shard], faults: list[Fault]) -> dict[str, list[tuple[Place, Any]]]:
    """Return the places of each document's pages with their numbers; a page without a document is one by itself."""
    rows: dict[str, list[tuple[Place, Any]]] = defaultdict(list)
    known: dict[str, tuple[str, Any]] = {}
    for file, read in enumerate(shards):
        for row, about in enumerate(read_columns(read, ("id", "document", "page number")).to_pylist()):
            where = f"{read.path}: row {row}"
            lacking = [part for part, value in about.items() if is_blank(value)]
            if lacking:
                raise DataError(f"{where}: has no {lacking[0]}")
            page, number = str(about["id"]), about.get("page number")
            document = str(about.get("document", page))
            if page not in known:
                known[page] = document, number
                rows[document].append((Place(page, file, row), number))
            elif known[page] == (document, number):
                faults.append(Fault("page", "that is there twice, taken once", page))
            else:
                raise DataError(f"{where}: the id {quoted(page)} is that of another page, too")
    return rows


def _in_order(document: str, rows: Sequence[tuple[Place, Any]]) -> tuple[Place, ...]:
    """Order a document's pages by their numbers; without numbers they are in the order of the rows."""
    if rows[0][1] is None:
        return tuple(place for place, _ in rows)
    numbered: dict[float, Place] = {}
    for place, number in rows:
        try:
            key = float(number)
        except (TypeError, ValueError):
            raise DataError(f"page {place.id} of {document}: its page number is {quoted(number)}") from None
        if key in numbered:
            raise DataError(f"pages {numbered[key].id} and {place.id} of {document} have the same number {number}")
        numbered[key] = place
    return tuple(numbered[key] for key in sorted(numbered))


def _texts(shards: Sequence[Shard], faults: list[Fault]) -> tuple["ChunkedArray", ...]:
    """Read the texts of the pages, and count the empty ones; where all are empty, the corpus has none."""
    from pyarrow import compute

    tables = [read_columns(read, ("id", "text")) for read in shards if "text" in read.columns]
    if len(tables) < len(shards):
        return ()
    blank = []
    for read, table in zip(shards, tables, strict=True):
        require_text(read, "text", table["text"].type)
        trimmed = compute.utf8_trim_whitespace(table["text"].cast("string").fill_null(""))
        blank += table["id"].filter(compute.equal(trimmed, "")).to_pylist()
    if len(blank) == sum(map(len, tables)):
        return ()
    faults += [Fault("page", "without text in the corpus", str(page)) for page in blank]
    return tuple(table["text"] for table in tables)


def _languages(paths: Sequence[Path]) -> dict[str, str]:
    """Return the code of the language of each document whose metadata name one."""
    known = {}
    for path in paths:
        read = shard(path, "documents")
        if {"document", "language"} <= read.columns.keys():
            for about in read_columns(read, ("document", "language")).to_pylist():
                name = str(about["language"] or "").casefold()
                code = _CODES.get(name, name.partition("-")[0])
                if _CODE.fullmatch(code):
                    known[str(about["document"])] = code
    return known


Grades = Mapping[str, Mapping[str, float]]
"""The grade of each judged page, by query and page."""
_GROUPS = ("language", "query_type", "query_format", "content_type")
_SOURCES: Mapping[str, EvidenceSource] = {
    "text": "text",
    "table": "table",
    "chart": "chart",
    "formula": "formula",
    "equation": "formula",
}
"""Types of content that are one of ohr's sources of evidence; others, such as infographics, are several of them."""


def read_questions(
    files: Mapping[str, Sequence[Path]], pages: Pages, languages: Sequence[str] | None, faults: list[Fault]
) -> tuple[dict[str, str], tuple[Question, ...]]:
    """Read the queries in these languages that have relevant pages, in the order of their rows.

    Returns:
        file and row of every query by its id, also of those that are left out, and the questions.

    Raises:
        DataError: a file is damaged or lacks a column, queries contradict one another, or there is no such language.
    """
    queries = {name: (where, about) for name, where, about in _queries(files["queries"], faults)}
    grades = _grades(files["qrels"], queries.keys(), pages, faults)
    kept = _in_languages({name: about for name, (_, about) in queries.items()}, languages)
    questions = []
    for name, about in kept.items():
        relevant = {page: grade for page, grade in grades.get(name, {}).items() if grade > 0}
        if is_blank(about["text"]):
            faults.append(Fault("question", "without text, left out", name))
        elif not relevant:
            faults.append(Fault("question", "without a relevant page, left out", name))
        else:
            questions.append(_question(name, about, relevant, pages))
    return {name: where for name, (where, _) in queries.items()}, tuple(questions)


def _queries(paths: Iterable[Path], faults: list[Fault]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield id, place and values of each query, each once."""
    known: dict[str, dict[str, Any]] = {}
    for path in paths:
        read = shard(path, "queries")
        table = read_columns(read, tuple(NAMES["queries"]))
        require_text(read, "text", table["text"].type)
        for row, about in enumerate(table.to_pylist()):
            where, name = f"{path}: row {row}", str(about["id"])
            if is_blank(about["id"]):
                raise DataError(f"{where}: has no id")
            if known.setdefault(name, about) != about:
                raise DataError(f"{where}: the id {quoted(name)} is that of another query, too")
            if known[name] is about:
                yield name, where, about
            else:
                faults.append(Fault("question", "that is there twice, taken once", name))


def _grades(paths: Iterable[Path], queries: Iterable[str], pages: Pages, faults: list[Fault]) -> Grades:
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    known = set(queries)
    for path in paths:
        for about in read_columns(shard(path, "qrels"), ("query", "page", "grade")).to_pylist():
            query, page, grade = str(about["query"]), str(about["page"]), _number(about["grade"])
            where = f"{query} with page {page}"
            if query not in known:
                faults.append(Fault("judgment", "of a query that is not there, left out", where))
            elif page not in pages.by_id:
                faults.append(Fault("judgment", "of a page that is not in the corpus, left out", where))
            elif grade is None:
                faults.append(Fault("judgment", "without a number as its grade, left out", where))
            else:
                if grade < 0:
                    faults.append(Fault("judgment", "with a grade below 0, taken as not relevant", where))
                if page in grades[query]:
                    faults.append(Fault("judgment", "that is there twice, of which the highest grade counts", where))
                grades[query][page] = max(grade, grades[query].get(page, grade))
    return grades


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) else None


def _in_languages(queries: Mapping[str, Any], languages: Sequence[str] | None) -> Mapping[str, Any]:
    if languages is None:
        return queries
    there = {str(about.get("language") or "") for about in queries.values()} - {""}
    by_name = {language.casefold(): language for language in there}
    if absent := [language for language in languages if language.casefold() not in by_name]:
        known = f"they are in {', '.join(sorted(there))}" if there else "the queries name no language"
        raise DataError(f"languages: no query is in {quoted(absent[0])}; {known}")
    kept = {by_name[language.casefold()] for language in languages}
    return {name: about for name, about in queries.items() if about.get("language") in kept}


def _question(name: str, about: Mapping[str, Any], relevant: Mapping[str, float], pages: Pages) -> Question:
    judged = [Relevant(*pages.by_id[page], grade) for page, grade in relevant.items()]
    judged.sort(key=lambda page: -page.grade)  # of the same grade, in the order of the judgments
    document = judged[0].document
    own = sorted(page.page for page in judged if page.document == document)
    places = pages.places[document]
    content = _labels(about.get("content_type"))
    return Question(
        id=name,
        text=about["text"],
        answers=tuple(dict.fromkeys([*_texts_in(about.get("answer")), *_texts_in(about.get("answers"))])),
        document=document,
        pages=tuple(own),
        evidence=tuple(pages.text(places[page]) for page in own) if pages.texts else (),
        evidence_source=_source(content),
        domain=document.partition("/")[0],
        places=tuple((page.document, page.page) for page in judged),
        groups=tuple((group, "+".join(labels)) for group in _GROUPS if (labels := _labels(about.get(group)))),
        relevant=tuple(judged),
    )


def _texts_in(value: Any) -> list[str]:
    """Return the texts of a cell, which may be a list."""
    values = value if isinstance(value, list) else [value]
    return [str(each) for each in values if not is_blank(each)]


def _labels(value: Any) -> list[str]:
    """Return what a cell names, in lower case and in order; `N/A` is nothing."""
    return sorted({text.strip().casefold() for text in _texts_in(value) if not text.startswith("N/A")})


def _source(content: Sequence[str]) -> EvidenceSource:
    """Return the source of evidence: `text` where no type of content is named, `multi` where several are."""
    sources = {_SOURCES.get(label, "multi") for label in content} or {"text"}
    return sources.pop() if len(sources) == 1 else "multi"


@dataclass(frozen=True, slots=True)
class PageCopy(Copy):
    """The content of a copy."""

    pages: Pages


def root_of(root: Path | str) -> Path:
    """Return the folder that `root` names."""
    return (SAMPLE if root == "sample" else Path(root)).resolve()


def load(root: Path | str, split: str | None, languages: tuple[str, ...] | None, language: str) -> PageCopy:
    """Read a page corpus without its images; one whose files did not change is read once.

    Raises:
        DataError: a file is missing or damaged, lacks a column, or contradicts another; or there is no such language.
    """
    folder = root_of(root)
    files = parquet_files(folder, split)
    state = state_of(*(path for paths in files.values() for path in paths))
    return _load(folder.name, tuple(files.items()), state, languages, language)


@lru_cache(maxsize=4)
def _load(
    name: str,
    files: tuple[tuple[str, tuple[Path, ...]], ...],
    state: State,  # noqa: ARG001 # a key
    languages: tuple[str, ...] | None,
    language: str,
) -> PageCopy:
    faults: list[Fault] = []
    paths: Mapping[str, tuple[Path, ...]] = dict(files)
    pages = read_pages(paths, quoted_id(name), language, faults)
    places, questions = read_questions(paths, pages, languages, faults)
    notes = (*sentences(faults), *_absent(pages))
    return PageCopy(pages.documents, questions, places, notes, pages)


def _absent(pages: Pages) -> Iterator[str]:
    """Yield what follows where the corpus has no column of documents or of texts."""
    held = pages.shards[0].columns.keys()
    if "document" not in held:
        names = " or ".join(NAMES["corpus"]["document"])
        yield f"the corpus has no column {names}: each page is a document, and intervals do not cluster pages"
    if "text" not in held:
        names = " or ".join(NAMES["corpus"]["text"])
        yield f"the corpus has no column {names}: there is no ground truth, and text retrieval needs an OCR engine"
