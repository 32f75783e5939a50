"""Assignments: what a model is asked to write, and about which passages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ohr.contracts import EvidenceSource, Prompt
from ohr.keys import key
from ohr.questions.candidate import Candidate, Task


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
