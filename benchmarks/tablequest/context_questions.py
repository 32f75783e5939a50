"""TableQuest's questions and contexts as ohr's, from a user's JSON or JSON Lines file, read again after a change.

The schema is reconstructed from the paper, since no public copy of the data was found: `id`, `company`, `year`,
`difficulty` (easy, medium or hard), `context` (HTML with tables and text), `question`, `answer`, and `steps`, the
reference reasoning, which easy questions do not have ("-", null or absent). `image`, which is ours, is the path of the
context's page image, relative to the file.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ohr.contracts import Document, EvidenceSource, Question
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.json_input import read_records
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import keys_of, quoted, shortened

from ..copies import Copy
from .contexts import Block, as_page, evidence_of, facts_of
from .figures import figures
from .judges import SAMPLE

Level = Literal["easy", "medium", "hard"]
"""Easy is the extraction of a cell, medium a calculation, hard an analysis in words."""

_TEXTS = ("company", "context", "question", "answer")
_LONGEST_PATH = 300
"""Characters of a path in a message: enough for a name of 255, the longest that file systems allow."""


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """One question with its context.

    Args:
        context: HTML of an excerpt of a report.
        steps: the reference reasoning; empty where there is none.
        image: as in the file; empty where there is none.
        where: file, and line or entry, for messages.
    """

    id: str
    company: str
    year: int
    difficulty: Level
    context: str
    question: str
    answer: str
    steps: str
    where: str
    image: str = ""


def read_questions(path: Path) -> list[TableQuestion]:
    """Read a file of questions, in order.

    Args:
        path: JSON Lines where its name ends with .jsonl or .ndjson, else a JSON list; UTF-8.

    Raises:
        DataError: the file cannot be read or has no questions, or a question lacks a part, has a wrong one, or has
            the id of another. The message names the file, and the line or entry.
    """
    questions: dict[str, TableQuestion] = {}
    for where, record in read_records(path):
        question = _read(where, record)
        if question.id in questions:
            raise DataError(f"{where}: id {quoted(question.id)} is already used in {questions[question.id].where}")
        questions[question.id] = question
    if not questions:
        raise DataError(f"{path}: has no questions")
    return list(questions.values())


def level_of(where: str, record: Mapping[str, Any]) -> Level:
    """Return a question's difficulty, or raise a DataError that names the allowed ones."""
    given = record.get("difficulty")
    for level in get_args(Level):
        if given == level:
            return level  # type: ignore[no-any-return]
    raise DataError(f"{where}: difficulty must be {', '.join(get_args(Level))} (got {quoted(given)})")


def require(where: str, record: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise a DataError for the first of some parts that is absent, or is no text or empty text."""
    for name in names:
        if name not in record:
            raise DataError(f"{where}: {name} is missing; a question has {', '.join(names)}; it has {keys_of(record)}")
        if not isinstance(record[name], str) or not record[name].strip():
            raise DataError(f"{where}: {name} must be text that is not empty (got {quoted(record[name])})")


def _read(where: str, record: Mapping[str, Any]) -> TableQuestion:
    for name in ("id", "year", "difficulty", *_TEXTS):
        if name not in record:
            raise DataError(
                f"{where}: {name} is missing; a question has id, year, difficulty, {', '.join(_TEXTS)}, steps; "
                f"it has {keys_of(record)}"
            )
    require(where, record, _TEXTS)
    level = level_of(where, record)
    return TableQuestion(
        id=_id(where, record["id"]),
        company=record["company"],
        year=_year(where, record["year"]),
        difficulty=level,
        context=record["context"],
        question=record["question"],
        answer=record["answer"],
        steps=_steps(where, record.get("steps"), level),
        where=where,
        image=_image(where, record.get("image")),
    )


def _id(where: str, given: object) -> str:
    name = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
    if not isinstance(name, str) or not name.strip():
        raise DataError(f"{where}: id must be text or a whole number (got {quoted(given)})")
    return name


def _year(where: str, given: object) -> int:
    text = str(given).strip()
    if isinstance(given, bool) or not (len(text) == 4 and text.isascii() and text.isdecimal()):
        raise DataError(f"{where}: year must have four digits (got {quoted(given)})")
    return int(text)


def _steps(where: str, given: object, level: Level) -> str:
    if given in (None, "", "-"):
        if level != "easy":
            raise DataError(f"{where}: steps are missing; only easy questions have none")
        return ""
    if not isinstance(given, str):
        raise DataError(f"{where}: steps must be text (got {quoted(given)})")
    return given


def shown(path: Path) -> str:
    """Write a path for a message; only one that no file has is cut."""
    return shortened(str(path), _LONGEST_PATH)


def _image(where: str, given: object) -> str:
    if given is None:
        return ""
    if not isinstance(given, str) or not given.strip():
        raise DataError(f"{where}: image must be the path of a page image (got {quoted(given)})")
    return given


NAMES = ("questions.jsonl", "questions.json")
_ODD = re.compile(r"[^\w&.-]+")
"""Characters that a company's name loses as a domain, which names folders."""


@dataclass(frozen=True, slots=True)
class Context:
    """A document: one context, with its page image where there is one.

    Args:
        name: company and year, and a number where there are several contexts of both.
        image: path of the page image; None where there is none.
    """

    name: str
    text: str
    image: Path | None

    @property
    def domain(self) -> str:
        """The company."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Contexts(Copy):
    """The content of a file.

    Args:
        contexts: by name, in the order of their first questions, as their documents are.
    """

    contexts: Mapping[str, Context]
    read: tuple[TableQuestion, ...]


def question_file(root: Path) -> Path:
    """Return the file of the questions: `root` itself, or the one in this folder; `sample` is the shipped sample.

    Raises:
        DataError: there is none.
    """
    if root.is_file():
        return root
    for name in NAMES:
        if (root / name).is_file():
            return root / name
    raise DataError(f"{root}: holds neither {' nor '.join(NAMES)}; or name the file of the questions itself")


def load(root: Path | str) -> Contexts:
    """Read a file of questions; one that did not change is read once.

    Raises:
        DataError: as for `read_questions`, or contexts that are equal have different images.
    """
    return _load(question_file(SAMPLE if root == "sample" else Path(root)))


@kept_until_changed()
def _load(path: Path) -> Contexts:
    read = tuple(read_questions(path))
    contexts, names = _contexts(read, path.parent)
    questions = tuple(_question(each, contexts[name]) for each, name in zip(read, names, strict=True))
    faults = [fault for each, question in zip(read, questions, strict=True) for fault in _faults(each, question)]
    pictured = sum(context.image is not None for context in contexts.values())
    if 0 < pictured < len(contexts):
        faults += [Fault("context", "without a page image", each.name) for each in contexts.values() if not each.image]
    documents = tuple(Document(each.name, each.domain, "en", 1) for each in contexts.values())
    places = {each.id: each.where for each in read}
    return Contexts(documents, questions, places, tuple(sentences(faults)), contexts, read)


def _contexts(read: Sequence[TableQuestion], folder: Path) -> tuple[dict[str, Context], list[str]]:
    """Return the contexts by name, and the name of each question's; equal texts of one report are one context."""
    contexts: dict[str, Context] = {}
    first: dict[tuple[str, str], tuple[str, TableQuestion]] = {}
    counts: Counter[str] = Counter()
    names = []
    for question in read:
        report = f"{_ODD.sub('_', question.company).strip('_.') or 'company'}/{question.year}"
        if (report, question.context) not in first:
            counts[report] += 1
            name = report if counts[report] == 1 else f"{report}-{counts[report]}"
            first[report, question.context] = name, question
            contexts[name] = Context(
                name, as_page(question.context), folder / question.image if question.image else None
            )
        name, other = first[report, question.context]
        if question.image != other.image:
            images = f"image is {quoted(question.image)}, and {quoted(other.image)} in {other.where}"
            raise DataError(f"{question.where}: {images}, of one context")
        names.append(name)
    return contexts, names


def _question(read: TableQuestion, context: Context) -> Question:
    facts = facts_of(context.text, read.answer, read.steps)
    evidence = evidence_of(context.text, facts)
    return Question(
        id=read.id,
        text=read.question,
        answers=(read.answer,),
        document=context.name,
        pages=(0,),
        evidence=("\n".join(block.text for block in evidence),) if evidence else (context.text,),
        evidence_source=_source(evidence),
        domain=context.domain,
        task_type="understanding" if read.difficulty == "easy" else "reasoning",
        facts=facts,
        groups=(("level", read.difficulty),),
    )


def _source(evidence: Sequence[Block]) -> EvidenceSource:
    kinds = {block.is_row for block in evidence}
    return "multi" if len(kinds) > 1 else "table" if kinds == {True} else "text"


def _faults(read: TableQuestion, question: Question) -> Iterator[Fault]:
    if not any(map(str.isalnum, read.answer)):
        yield Fault("question", "whose gold answer has no word, so that no rule can judge it", read.id)
    elif read.difficulty == "easy" and not question.facts and figures(read.answer):
        yield Fault("easy question", "whose figure is not in its context, scored as it is", read.id)
