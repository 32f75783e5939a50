"""Lets a model write questions: on one page each, then on two."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ohr.questions.candidate import Candidate
from ohr.questions.model import Model
from ohr.questions.writing.assignment import Assignment, prompts_of
from ohr.questions.writing.entities import entities_of
from ohr.questions.writing.joins import join_assignments
from ohr.questions.writing.plan import Pages, Plan, plan_writing
from ohr.questions.writing.reading import Fault, candidates_of
from ohr.questions.writing.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Written:
    """Candidates that a model wrote, and what became of the other replies.

    Args:
        candidates: in the order of the assignments, with ids that differ.
        assignments: all that were asked.
        faults: of replies that made no candidate, or fewer than there were.
        notes: what was asked for and cannot be had, in sentences.
    """

    candidates: tuple[Candidate, ...]
    assignments: tuple[Assignment, ...]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]

    @property
    def fault_counts(self) -> Mapping[str, int]:
        """How often each fault occurred, the most frequent one first."""
        return dict(Counter(fault.name for fault in self.faults).most_common())


def write(model: Model, pages: Pages, wanted: Wanted, seed: int) -> Written:
    """Write the questions on one page each; the model gets all prompts in one call.

    Args:
        pages: usable pages of the ground truth by document.
    """
    return _ask(model, plan_writing(pages, wanted, seed))


def join(model: Model, candidates: Sequence[Candidate], pages: Pages, wanted: Wanted, seed: int) -> Written:
    """Write the questions on two pages; the model gets all prompts in one call.

    Args:
        candidates: verified ones on one page each.

    Raises:
        MissingExtra: spaCy is not installed, and the settings name a model of it.
        SpecError: spaCy does not have that model.
    """
    return _ask(model, join_assignments(candidates, pages, entities_of(pages, wanted.entities), wanted, seed))


def _ask(model: Model, plan: Plan) -> Written:
    replies = model.ask(prompts_of(plan.assignments)) if plan.assignments else ()
    candidates: dict[str, Candidate] = {}
    faults: list[Fault] = []
    for assignment, completion in zip(plan.assignments, replies, strict=True):
        written, troubles = candidates_of(assignment, completion, model.name)
        candidates.update({candidate.id: candidate for candidate in written})
        faults += troubles
    return Written(tuple(candidates.values()), plan.assignments, tuple(faults), plan.notes)
