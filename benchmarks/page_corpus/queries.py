"""The queries of a page corpus with the pages that were judged, as questions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ohr.contracts import EvidenceSource, Question, Relevant
from ohr.errors import DataError
from ohr.files.tables import is_blank
from ohr.messages.faults import Fault
from ohr.messages.wording import quoted

from .corpus import Pages
from .layout import NAMES, read_columns, require_text, shard

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
        answers=tuple(dict.fromkeys([*_texts(about.get("answer")), *_texts(about.get("answers"))])),
        document=document,
        pages=tuple(own),
        evidence=tuple(pages.text(places[page]) for page in own) if pages.texts else (),
        evidence_source=_source(content),
        domain=document.partition("/")[0],
        places=tuple((page.document, page.page) for page in judged),
        groups=tuple((group, "+".join(labels)) for group in _GROUPS if (labels := _labels(about.get(group)))),
        relevant=tuple(judged),
    )


def _texts(value: Any) -> list[str]:
    """Return the texts of a cell, which may be a list."""
    values = value if isinstance(value, list) else [value]
    return [str(each) for each in values if not is_blank(each)]


def _labels(value: Any) -> list[str]:
    """Return what a cell names, in lower case and in order; `N/A` is nothing."""
    return sorted({text.strip().casefold() for text in _texts(value) if not text.startswith("N/A")})


def _source(content: Sequence[str]) -> EvidenceSource:
    """Return the source of evidence: `text` where no type of content is named, `multi` where several are."""
    sources = {_SOURCES.get(label, "multi") for label in content} or {"text"}
    return sources.pop() if len(sources) == 1 else "multi"
