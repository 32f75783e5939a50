"""TableQuest's questions and contexts as ohr's: read from a file, which is read again after a change."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ohr.contracts import Document, EvidenceSource, Question
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import quoted

from ..copies import Copy
from .baseline import SAMPLE
from .contexts import Block, as_page, evidence_of, facts_of
from .figures import figures
from .question_files import TableQuestion, read_questions

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
    made = tuple(_question(one, contexts[name]) for one, name in zip(read, names, strict=True))
    faults = [fault for one, question in zip(read, made, strict=True) for fault in _faults(one, question)]
    pictured = sum(context.image is not None for context in contexts.values())
    if 0 < pictured < len(contexts):
        faults += [Fault("context", "without a page image", one.name) for one in contexts.values() if not one.image]
    documents = tuple(Document(one.name, one.domain, "en", 1) for one in contexts.values())
    places = {one.id: one.where for one in read}
    return Contexts(documents, made, places, tuple(sentences(faults)), contexts, read)


def _contexts(read: Sequence[TableQuestion], folder: Path) -> tuple[dict[str, Context], list[str]]:
    """Return the contexts by name, and the name of each question's; equal texts of one report are one context."""
    found: dict[str, Context] = {}
    first: dict[tuple[str, str], tuple[str, TableQuestion]] = {}
    counts: Counter[str] = Counter()
    names = []
    for one in read:
        report = f"{_ODD.sub('_', one.company).strip('_.') or 'company'}/{one.year}"
        if (report, one.context) not in first:
            counts[report] += 1
            name = report if counts[report] == 1 else f"{report}-{counts[report]}"
            first[report, one.context] = name, one
            found[name] = Context(name, as_page(one.context), folder / one.image if one.image else None)
        name, other = first[report, one.context]
        if one.image != other.image:
            raise DataError(
                f"{one.where}: image is {quoted(one.image)}, and {quoted(other.image)} in {other.where}, of one context"
            )
        names.append(name)
    return found, names


def _question(one: TableQuestion, context: Context) -> Question:
    facts = facts_of(context.text, one.answer, one.steps)
    evidence = evidence_of(context.text, facts)
    return Question(
        id=one.id,
        text=one.question,
        answers=(one.answer,),
        document=context.name,
        pages=(0,),
        evidence=("\n".join(block.text for block in evidence),) if evidence else (context.text,),
        evidence_source=_source(evidence),
        domain=context.domain,
        task_type="understanding" if one.difficulty == "easy" else "reasoning",
        facts=facts,
        groups=(("level", one.difficulty),),
    )


def _source(evidence: Sequence[Block]) -> EvidenceSource:
    kinds = {block.is_row for block in evidence}
    return "multi" if len(kinds) > 1 else "table" if kinds == {True} else "text"


def _faults(one: TableQuestion, question: Question) -> Iterator[Fault]:
    if not any(map(str.isalnum, one.answer)):
        yield Fault("question", "whose gold answer has no word, so that no rule can judge it", one.id)
    elif one.difficulty == "easy" and not question.facts and figures(one.answer):
        yield Fault("easy question", "whose figure is not in its context, scored as it is", one.id)
