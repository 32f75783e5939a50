"""Reads OHRBench's questions, qas.json and qas_v2.json, whatever state they are in."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ohr.contracts import SOURCES, Document, Question
from ohr.errors import DataError
from ohr.files.json_input import whole_number
from ohr.files.ohrbench_json import read_records
from ohr.messages.faults import Fault

FILES = ("qas_v2.json", "qas.json")
_SOURCES = {"equation": "formula", "reading order": "reading_order"}
"""Evidence sources of the first version under their present names."""


def question_file(root: Path) -> Path:
    """Find the newest questions under `root`.

    Raises:
        DataError: there are none.
    """
    for name in FILES:
        if (root / name).is_file():
            return root / name
    raise DataError(f"{root}: holds neither {' nor '.join(FILES)}")


def read_questions(path: Path, *, as_published: bool = False) -> tuple[list[Question], list[Fault]]:
    """Read all questions; those without a text are left out, all others are kept and score 0 where they must.

    Args:
        path: the file.
        as_published: an answer that is not a string is no accepted answer, as in the published code, which fails on
            it; otherwise its text is.

    Raises:
        DataError: the file is not a list.
    """
    records = read_records(path)
    questions: dict[str, Question] = {}
    faults: list[Fault] = []
    for place, record in enumerate(records):
        if not isinstance(record, dict):
            faults.append(Fault("item", "other than a question, left out", f"{path.name} entry {place}"))
            continue
        name = _name(record, place)
        if not _text(record.get("questions")).strip():
            faults.append(Fault("question", "without a text, left out", name))
            continue
        if name in questions:
            faults.append(Fault("question", "whose ID stands more than once, renamed", name))
            name = f"{name} (entry {place})"
        questions[name] = question = _question(name, record)
        if not _is_usual(question, record):
            faults += _question_faults(question, record, as_published=as_published)
        if as_published and not isinstance(record.get("answers"), str):
            questions[name] = replace(question, answers=())
            faults.append(Fault("answer", "other than a string, scored -1 as in the published code", name))
    return list(questions.values()), faults


def document_fault(question: Question, document: Document | None) -> Fault | None:
    """Tell a question about a document or a page that does not exist; it stays in the count and scores 0."""
    if document is None:
        return Fault("question", "about an absent document, scored 0 in a run", f"{question.id} ({question.document})")
    if question.pages and question.pages[-1] >= document.pages:
        where = f"{question.id} (page {question.pages[-1]} of {document.pages})"
        return Fault("question", "with evidence beyond the document, scored 0 in a run", where)
    return None


def _question(name: str, record: Mapping[str, Any]) -> Question:
    source = _text(record.get("evidence_source"))
    document = _text(record.get("doc_name"))
    pages, evidence = _evidence(record)
    return Question(
        id=name,
        text=_text(record.get("questions")),
        answers=tuple(_text(answer) for answer in _listed(record.get("answers"))) or ("",),
        document=document,
        pages=pages,
        evidence=evidence,
        evidence_source=_SOURCES.get(source, source),
        # the folder decides the index; the record's own `doc_type` does not always say the same
        domain=document.split("/")[0] if "/" in document else _text(record.get("doc_type")),
        answer_form=_text(record.get("answer_form")) or "String",
        task_type=_text(record.get("task_type")) or "understanding",
    )


def _evidence(record: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Give the pages in ascending order, and a passage for each; else all passages as one, in the file's order."""
    given, passage = record.get("evidence_page_no"), record.get("evidence_context")
    if type(given) is int and given >= 0 and isinstance(passage, str):  # as with almost all
        return (given,), (passage,)
    listed = [whole_number(page) for page in _listed(given)]
    pages = tuple(page for page in listed if page is not None)
    passages = [_text(one) for one in _listed(passage)]
    ascending = tuple(sorted(set(pages)))
    if len(passages) == len(pages) and pages == ascending:
        return ascending, tuple(passages)
    return ascending, ("\n".join(passages),)


def _is_usual(question: Question, record: Mapping[str, Any]) -> bool:
    """Tell whether nothing has to be told of a question: so it is with almost all."""
    return (
        isinstance(record.get("answers"), str)
        and type(record.get("evidence_page_no")) is int
        and bool(question.pages)
        and question.evidence[0].strip() != ""
        and question.evidence_source in SOURCES
        and record.get("doc_type") == question.domain
    )


def _question_faults(question: Question, record: Mapping[str, Any], *, as_published: bool) -> Iterator[Fault]:
    given = [answer for answer in _listed(record.get("answers")) if answer is not None]
    if not given:
        yield Fault("question", "without an answer", question.id)
    elif not all(isinstance(answer, str) for answer in given):
        yield Fault("answer", "other than text, read as in the file", question.id)
    if not question.pages:
        yield Fault("question", "without an evidence page, scored 0 in a run", question.id)
    elif any(isinstance(page, str) for page in _listed(record.get("evidence_page_no"))):
        yield Fault("evidence page", "in quotes, read without them", question.id)
    if not any(passage.strip() for passage in question.evidence):
        # where the published code finds a chunk of their page it gives them half
        told = "scored 0.5 where the page is found, else 0, as in the published code"
        without = "not scored in retrieval"
        yield Fault("question", f"without evidence, {told if as_published else without}", question.id)
    if question.evidence_source not in SOURCES:
        yield Fault("question", "with an unknown evidence source", f"{question.id} ({question.evidence_source!r})")
    stated = _text(record.get("doc_type"))
    if stated and stated != question.domain:
        yield Fault("question", "whose doc_type is not the folder, which counts", f"{question.id} ({stated})")


def _name(record: Mapping[str, Any], place: int) -> str:
    given = record.get("ID")
    return f"entry {place}" if given is None else _text(given)


def _text(value: object) -> str:
    """Write a JSON value as text: a string as it is, null as nothing, all else as in the file."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
