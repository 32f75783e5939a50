"""Candidates: questions with answers and evidence, before and after they are verified."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ohr.contracts import EvidenceSource

Task = Literal["understanding", "reasoning"]
"""Whether the evidence holds the answer, or it is worked out."""
Origin = Literal["written", "joined", "imported"]
"""How a candidate came about: a model wrote it, two single-page ones were joined, or it was brought."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that an answer needs: characters [start, end) of a page's ground truth; -1 where it is not there."""

    page: int
    text: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that may become part of a set.

    Args:
        id: unique in the set, and the same in every build from the same inputs.
        answers: accepted answers; the first is the one that was written.
        document: its name, `<domain>/<name>`.
        evidence: in the order in which the answer needs them; of several pages in a multi-page question.
        source: of the evidence.
        task: "" where an import does not say.
        answer_form: as in OHRBench: String, Integer, Float, Boolean, List, ...
        language: ISO 639-1.
        origin: how it came about; `made_by` names the model, or the file and line.
        parents: ids of the candidates that it was joined from.
        notes: what is known of it beyond this, by name. `pages` is `single` where the task asked for one page.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    document: str
    evidence: tuple[Evidence, ...]
    source: EvidenceSource = "text"
    task: Task | Literal[""] = "understanding"
    answer_form: str = "String"
    language: str = "en"
    origin: Origin = "written"
    made_by: str = ""
    parents: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def pages(self) -> tuple[int, ...]:
        """The pages of its evidence, each once, in the order of the evidence."""
        return tuple(dict.fromkeys(passage.page for passage in self.evidence))


@dataclass(frozen=True, slots=True)
class Removal:
    """Why a candidate was removed: the rule, and its reason in words.

    Args:
        undecided: the rule needs a model's reply, and got none that it can use.
    """

    candidate: str
    rule: str
    reason: str
    undecided: bool = False
