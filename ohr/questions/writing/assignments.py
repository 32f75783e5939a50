"""Assignments: which questions a user wants, and the prompts that ask a model for them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ohr.contracts import EvidenceSource, Prompt
from ohr.files.prompts import filled, read_prompt_file
from ohr.keys import key
from ohr.questions.candidate import Candidate, Task

Form = Literal["String", "Numeric", "Yes/No", "List"]
FORMS: tuple[Form, ...] = ("String", "Numeric", "Yes/No", "List")
"""Forms of answers (OHRBench, Table 1)."""

ONE_PAGE: tuple[EvidenceSource, ...] = ("text", "table", "formula", "chart", "reading_order")
"""The sources of questions on one page."""

Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shares(_Keys):
    """How many of the single-page questions are about each source, one in relation to the others.

    The defaults are those of OHRBench (Table 1), rounded.
    """

    text: Annotated[Weight, Field(description="Plain text.")] = 0.41
    table: Annotated[Weight, Field(description="Tables.")] = 0.27
    formula: Annotated[Weight, Field(description="Formulas.")] = 0.15
    chart: Annotated[Weight, Field(description="Charts whose values the ground truth has.")] = 0.09
    reading_order: Annotated[Weight, Field(description="Two paragraphs that something else parts.")] = 0.08

    @model_validator(mode="after")
    def _asks_for_something(self) -> "Shares":
        if not any(self.of(source) for source in ONE_PAGE):
            raise ValueError("all shares are 0: nothing is asked for")
        return self

    def of(self, source: EvidenceSource) -> float:
        """Return the share of a source."""
        return float(getattr(self, source))


class Wanted(_Keys):
    """The questions to be written."""

    total: Annotated[int, Field(strict=True, gt=0, le=1_000_000, description="Questions that are to be left.")] = 200
    shares: Annotated[Shares, Field(description="Of the sources; one that is left out keeps its default.")] = Shares()
    reasoning: Annotated[
        float, Field(ge=0, le=1, description="Share of questions that take reasoning (OHRBench: 0.28).")
    ] = 0.28
    multi_page: Annotated[float, Field(ge=0, le=1, description="Share of questions on two pages (OHRBench: 0.1).")] = (
        0.1
    )
    answer_forms: Annotated[
        Mapping[Form, Weight],
        Field(description="Shares of the forms of answers; a form that is left out is not asked for."),
    ] = {"String": 0.5, "Numeric": 0.35, "Yes/No": 0.08, "List": 0.07}
    per_page: Annotated[
        int, Field(strict=True, gt=0, le=1000, description="Most questions that are asked for on one page.")
    ] = 8
    per_prompt: Annotated[
        int, Field(strict=True, ge=1, le=3, description="Questions of one prompt; 1 or 2 for small models.")
    ] = 2
    asked_per_question: Annotated[
        float,
        Field(ge=1, le=100, description="Questions asked for, for each of `total`: verification removes many."),
    ] = 1.8  # OHRBench kept 8,498 of 15,317 (section II.5)
    most_words: Annotated[
        int,
        Field(strict=True, ge=50, le=20_000, description="Longest passage of a prompt; a Chinese sign is a word."),
    ] = 300
    entities: Annotated[
        str | None,
        Field(description="A spaCy model, by name or folder, that finds names for questions on two pages."),
    ] = None

    @property
    def tasks(self) -> Mapping[Task, float]:
        """Shares of the tasks."""
        return {"understanding": 1 - self.reasoning, "reasoning": self.reasoning}

    @field_validator("answer_forms")
    @classmethod
    def _has_a_form(cls, forms: Mapping[Form, float]) -> Mapping[Form, float]:
        if not any(forms.values()):
            raise ValueError("all shares are 0: name at least one form of answers")
        return forms


class Passage(NamedTuple):
    """A part of a page that a prompt shows: the characters from `start` on, without change."""

    page: int
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """One prompt, and what is to come of it.

    Args:
        id: hash of the document and the prompt: the same in each build from the same inputs.
        questions: how many are asked for.
        parents: the two candidates that are to be joined; () where questions are written from passages.
        entity: what the two pages share, in an assignment on two pages.
    """

    id: str
    document: str
    passages: tuple[Passage, ...]
    source: EvidenceSource
    task: Task
    language: str
    questions: int
    prompt: Prompt
    parents: tuple[Candidate, ...] = ()
    entity: str = ""

    @property
    def pages(self) -> tuple[int, ...]:
        """The pages that its questions are about, each once."""
        numbers = [page for parent in self.parents for page in parent.pages]
        return tuple(dict.fromkeys(numbers or [passage.page for passage in self.passages]))


def short_hash(*parts: str | int) -> str:
    """Return 16 digits that stand for some texts and numbers."""
    return key("question writing", *parts)[:16]


def prompts_of(assignments: Sequence[Assignment]) -> list[Prompt]:
    """Return the prompts, in order: what a build will ask, for its cost."""
    return [assignment.prompt for assignment in assignments]


Level = Literal["easy", "medium", "hard"]
LEVELS: tuple[Level, ...] = ("easy", "medium", "hard")
"""Levels of difficulty; the paper asks for three (section I)."""
TASKS: tuple[Task, ...] = ("understanding", "reasoning")


_SIGNS = re.compile(r"[\W_]+")


class Parts(BaseModel):
    """The content of a file of prompts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: str
    passage: str
    passages: str
    user: str
    opening: str
    opening_pair: str
    opening_joined: str
    count: Mapping[int, str]
    source: Mapping[EvidenceSource, str]
    evidence: Mapping[EvidenceSource, str]
    task: Mapping[Task, str]
    level: Mapping[Level, str]
    form: Mapping[Form, str]
    example: Mapping[Literal["understanding", "reasoning", "pair", "joined"], str]
    joined: str
    answers: Mapping[Literal["true", "false", "and", "colon"], str]


@cache
def parts_of(language: str) -> Parts:
    """Return the parts of a language's prompts."""
    return read_prompt_file(language, Parts, "ohr.questions.writing.prompts", "prompt for questions", {})


class Asked(NamedTuple):
    """Kind of the questions that are asked for; `entity` is what two passages of different pages share."""

    source: EvidenceSource
    task: Task
    level: Level
    form: Form
    language: str
    questions: int
    entity: str = ""


def assigned(
    document: str, passages: tuple[Passage, ...], asked: Asked, title: str = "", section: str = ""
) -> Assignment:
    """Ask for questions on a passage, or on two.

    Args:
        title: of the document; by default its name, in words.
        section: heading above the first passage.
    """
    parts, shown = parts_of(asked.language), tuple(passage.text for passage in passages)
    title = title or _SIGNS.sub(" ", document.rpartition("/")[2]).strip()
    pair = dict(zip(("passage", "other"), shown, strict=False))
    layout = parts.passages if len(shown) > 1 else parts.passage
    user = filled(
        parts.user,
        shown=filled(layout, title=title, section=section or "-", **pair),
        count=parts.count[asked.questions],
        source=filled(parts.source[asked.source], entity=asked.entity),
        task=parts.task[asked.task],
        level=parts.level[asked.level],
        form=parts.form[asked.form],
        evidence=parts.evidence[asked.source],
        example=parts.example["pair" if len(shown) > 1 else asked.task or "understanding"],
        title=title,
    )
    system = filled(parts.system, example=parts.example["pair" if len(shown) > 1 else asked.task])
    opening = parts.opening_pair if len(shown) > 1 else parts.opening
    return _assignment(document, passages, asked, Prompt("", shown, system, user, opening=opening))


def joined(first: Candidate, second: Candidate, entity: str) -> Assignment:
    """Ask for the second question with a description, which the first explains, in place of an entity."""
    asked = Asked("multi", second.task or "reasoning", "medium", "String", second.language, 1, entity)
    parts = parts_of(second.language)
    user = filled(
        parts.joined,
        question1=first.question,
        answer1=first.answers[0],
        question2=second.question,
        answer2=second.answers[0],
        entity=entity,
    )
    system = filled(parts.system, example=parts.example["joined"])
    prompt = Prompt("", (), system, user, opening=parts.opening_joined)
    return replace(_assignment(second.document, (), asked, prompt), parents=(first, second))


def _assignment(document: str, passages: tuple[Passage, ...], asked: Asked, prompt: Prompt) -> Assignment:
    places = [number for passage in passages for number in (passage.page, passage.start)]
    name = short_hash(document, *places, prompt.system, prompt.user, prompt.opening)
    return Assignment(
        id=name,
        document=document,
        passages=passages,
        source=asked.source,
        task=asked.task,
        language=asked.language,
        questions=asked.questions,
        prompt=replace(prompt, id=name),
        entity=asked.entity,
    )
