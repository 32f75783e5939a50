"""Assignments with their prompts, which are put together from the parts of a language's file."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from ohr.contracts import EvidenceSource, Prompt
from ohr.files.prompts import filled, read_prompt_file
from ohr.questions.candidate import Candidate, Task
from ohr.questions.writing.assignment import Assignment, Passage, short_hash
from ohr.questions.writing.wanted import Form

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
