"""OHRBench's question files, qas.json and qas_v2.json, whatever state they are in."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ohr.contracts import SOURCES, Question
from ohr.errors import DataError
from ohr.files.json_input import parse_json, text_of, whole_number
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import keys_of

_KEYS = ("ID", "doc_name", "questions", "answers", "evidence_source", "evidence_page_no", "evidence_context")
_FORM = f"questions are a JSON list as in OHRBench, each with {', '.join(_KEYS)}"
_SOURCES = {"equation": "formula", "reading order": "reading_order"}
"""Evidence sources of the first version under their present names."""

_HARMLESS = frozenset(
    (
        "other than text, read as in the file",
        "in quotes, read without them",
        "with an unknown evidence source",
        "whose doc_type is not the folder, which counts",
    )
)
"""Faults of a question that is read all the same."""


def read_questions(path: Path) -> list[Question]:
    """Read a user's question file, which must be complete.

    Raises:
        DataError: the file is not a list of questions, or one lacks a part or has the ID of another.
    """
    questions, faults = survey_questions(path)
    if wrong := [fault for fault in faults if fault.about not in _HARMLESS]:
        raise DataError(f"{path}: {'; '.join(sentences(wrong))}; {_FORM}")
    return questions


def survey_questions(path: Path, *, as_published: bool = False) -> tuple[list[Question], list[Fault]]:
    """Read all questions and their faults; those without a text are left out, all others score 0 where they must.

    Evidence pages and passages may be single or listed, answers of any JSON type.

    Args:
        path: the file.
        as_published: an answer that is not a string is no accepted answer, as in the published code, which fails on
            it; otherwise its text is.

    Raises:
        DataError: the file is not a list.
    """
    questions: dict[str, Question] = {}
    faults: list[Fault] = []
    for place, record in enumerate(_records(path)):
        if not isinstance(record, dict):
            faults.append(Fault("item", "other than a question, left out", f"{path.name} entry {place}"))
            continue
        name = f"entry {place}" if record.get("ID") is None else text_of(record["ID"])
        if not text_of(record.get("questions")).strip():
            there = "" if "questions" in record else f" (it has {keys_of(record)})"
            faults.append(Fault("question", "without a text, left out", f"{name}{there}"))
            continue
        if name in questions:
            faults.append(Fault("question", "whose ID is listed more than once, renamed", name))
            name = f"{name} (entry {place})"
        questions[name] = question = _question(name, record)
        faults += _question_faults(question, record, as_published=as_published)
        if as_published and not isinstance(record.get("answers"), str):
            questions[name] = replace(question, answers=())
            faults.append(Fault("answer", "other than a string, scored -1 as in the published code", name))
    return list(questions.values()), faults


def _records(path: Path) -> list[Any]:
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        records = parse_json(path.read_bytes(), spelled=True)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}; {_FORM}") from None
    if not isinstance(records, list):
        raise DataError(f"{path}: must be a list of questions; {_FORM}")
    return records


def _question(name: str, record: Mapping[str, Any]) -> Question:
    source = text_of(record.get("evidence_source"))
    document = text_of(record.get("doc_name"))
    pages, evidence = _evidence(record)
    return Question(
        id=name,
        text=text_of(record.get("questions")),
        answers=tuple(text_of(answer) for answer in listed(record.get("answers"))) or ("",),
        document=document,
        pages=pages,
        evidence=evidence,
        evidence_source=_SOURCES.get(source, source),
        # the folder decides the index; the record's own `doc_type` does not always say the same
        domain=document.split("/")[0] if "/" in document else text_of(record.get("doc_type")),
        answer_form=text_of(record.get("answer_form")) or "String",
        task_type=text_of(record.get("task_type")) or "understanding",
    )


def _evidence(record: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the pages in ascending order with a passage for each; else all passages as one, in the file's order."""
    given, passage = record.get("evidence_page_no"), record.get("evidence_context")
    if type(given) is int and given >= 0 and isinstance(passage, str):  # as with almost all
        return (given,), (passage,)
    numbers = (whole_number(page) for page in listed(given))
    pages = tuple(number for number in numbers if number is not None)
    passages = [text_of(one) for one in listed(passage)]
    ascending = tuple(sorted(set(pages)))
    if len(passages) == len(pages) and pages == ascending:
        return ascending, tuple(passages)
    return ascending, ("\n".join(passages),)


def _question_faults(question: Question, record: Mapping[str, Any], *, as_published: bool) -> Iterator[Fault]:
    given = [answer for answer in listed(record.get("answers")) if answer is not None]
    if not given:
        yield Fault("question", "without an answer", question.id)
    elif not all(isinstance(answer, str) for answer in given):
        yield Fault("answer", "other than text, read as in the file", question.id)
    if not question.pages:
        yield Fault("question", "without an evidence page, scored 0 in a run", question.id)
    elif any(isinstance(page, str) for page in listed(record.get("evidence_page_no"))):
        yield Fault("evidence page", "in quotes, read without them", question.id)
    if not any(passage.strip() for passage in question.evidence):
        # the published code gives them half where it finds a chunk of their page
        half = "scored 0.5 where the page is found, else 0, as in the published code"
        without = "not scored in retrieval"
        yield Fault("question", f"without evidence, {half if as_published else without}", question.id)
    if question.evidence_source not in SOURCES:
        yield Fault("question", "with an unknown evidence source", f"{question.id} ({question.evidence_source!r})")
    stated = text_of(record.get("doc_type"))
    if stated and stated != question.domain:
        yield Fault("question", "whose doc_type is not the folder, which counts", f"{question.id} ({stated})")


def listed(value: Any) -> list[Any]:
    """Return a list as it is, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]
