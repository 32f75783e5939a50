"""Prompts about a candidate, in its language."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import Prompt
from ohr.files.prompts import filled, read_prompt_file
from ohr.questions.candidate import Candidate

_WITH_PROMPTS = frozenset({"en", "zh"})


class Template(BaseModel):
    """Messages with the placeholders `{question}`, `{answer}` and `{passages}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: Annotated[str, Field(description="The system's message.")]
    user: Annotated[str, Field(pattern=r"\{question\}", description="The user's message.")]

    @property
    def characters(self) -> int:
        """Characters of both messages before they are filled."""
        return len(self.system) + len(self.user)

    def prompt(self, candidate: Candidate, passages: Sequence[str] = (), answer: str = "", hint: str = "") -> Prompt:
        """Fill in the messages; a hint follows the question."""
        question = " ".join(filter(None, (candidate.question, hint)))
        values = {"question": question, "answer": answer, "passages": "\n\n".join(passages)}
        user = filled(self.user, **values)
        return Prompt(candidate.question, tuple(passages), self.system, user, id=candidate.id)


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
    own = [dict(templates(language)) for language in _WITH_PROMPTS]
    return max(int(each[name].characters) + len(each["yes_or_no"]) + 1 for each in own for name in names)
