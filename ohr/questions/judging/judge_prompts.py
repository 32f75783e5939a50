"""Prompts about candidates: their settings, their templates in each language, and how many there are at most."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ohr.contracts import Prompt
from ohr.files.prompts import filled, read_prompt_file
from ohr.questions.candidate import Candidate

ModelRule = Literal[
    "judged_context_dependent",
    "answerable_without_documents",
    "unfaithful_to_task",
    "answerable_from_one_page",
    "answer_not_confirmed",
]
"""The rules that ask models, in the order in which they are run: what takes few prompts comes first."""


class Settings(BaseModel):
    """The part `verification` of a set's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: Annotated[
        int,
        Field(ge=1, le=100, description="Answers to each question from its evidence, shared among the models."),
    ] = 5
    confirmed: Annotated[
        int, Field(ge=1, le=100, description="Of these, how many must agree with the written answer.")
    ] = 3
    closed_book: Annotated[
        int,
        Field(ge=2, le=100, description="Answers to each question without documents, shared among the models."),
    ] = 2
    off: Annotated[tuple[ModelRule, ...], Field(description="Rules that are not run.")] = ()

    @model_validator(mode="after")
    def _can_be_confirmed(self) -> Self:
        if self.confirmed > self.samples:
            raise ValueError(f"confirmed must be at most samples (got {self.confirmed} of {self.samples})")
        return self


_WITH_PROMPTS = frozenset({"en", "zh"})


class Template(BaseModel):
    """Messages with the placeholders `{question}`, `{answer}` and `{passages}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: Annotated[str, Field(description="The system's message.")]
    user: Annotated[str, Field(pattern=r"\{question\}", description="The user's message.")]

    def prompt(self, candidate: Candidate, passages: Sequence[str] = (), answer: str = "", hint: str = "") -> Prompt:
        """Fill in the messages; a hint follows the question."""
        question = " ".join(filter(None, (candidate.question, hint)))
        values = {"question": question, "answer": answer, "passages": "\n\n".join(passages)}
        return Prompt(candidate.question, tuple(passages), self.system, filled(self.user, **values), id=candidate.id)


class Templates(BaseModel):
    """The prompts of a language."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    yes_or_no: Annotated[str, Field(description="The hint that is put after a question of yes or no.")]
    context_dependent: Template
    task: Template
    closed_book: Template
    claim: Template
    answer: Template
    claim_on_passages: Template


@cache
def templates(language: str) -> Templates:
    """Return the prompts of a language, English ones where it has none."""
    name = language if language in _WITH_PROMPTS else "en"
    return read_prompt_file(name, Templates, "ohr.questions.judging.prompts", "prompts of a language", {})


def longest(*names: str) -> int:
    """Return the characters of the longest of some prompts in any language, before they are filled."""
    every = [(getattr(own, name), own.yes_or_no) for own in map(templates, _WITH_PROMPTS) for name in names]
    return max(len(template.system) + len(template.user) + len(hint) + 1 for template, hint in every)


_WAYS = 3
"""Prompts for a question of yes or no: directly, and about either word."""
_PARTS = 2
"""Parts of evidence that are tried alone: questions are written on two pages or paragraphs."""


def shared(total: int, models: int) -> tuple[int, ...]:
    """Divide samples among models, each of which gives at least one."""
    return tuple(max(1, (total + place) // models) for place in range(models))


class Bound(NamedTuple):
    """The most that a rule asks of all models together: prompts, and characters of all prompts."""

    prompts: int
    characters: int


def prompts_bound(
    candidates: int, settings: Settings, judges: int, answerers: int, characters: int = 4000
) -> dict[ModelRule, Bound]:
    """Return the most that each rule asks; rules that do not run are left out.

    Questions are taken to need as many prompts as any kind does, and no rule to remove one before the next.

    Args:
        candidates: how many questions are verified.
        settings: as of `model_rules`.
        judges: how many models judge.
        answerers: how many models answer.
        characters: of the longest question with its answer and evidence.
    """
    closed_book = sum(shared(settings.closed_book, answerers))
    every: dict[ModelRule, tuple[int, tuple[str, ...]]] = {
        "judged_context_dependent": (judges, ("context_dependent",)),
        "answerable_without_documents": (closed_book * _WAYS, ("closed_book", "claim")),
        "unfaithful_to_task": (judges, ("task",)),
        "answerable_from_one_page": (answerers * _PARTS * _WAYS, ("answer", "claim_on_passages")),
        "answer_not_confirmed": (sum(shared(settings.samples, answerers)), ("answer",)),
    }
    bounds: dict[ModelRule, Bound] = {}
    for rule, (each, templates) in every.items():
        if each and rule not in settings.off:
            bounds[rule] = Bound(candidates * each, candidates * each * (longest(*templates) + characters))
    return bounds
