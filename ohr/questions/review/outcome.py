"""Results of a review: the decisions that apply to a build, its candidates after them, and reviewers' agreement."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from ohr.messages.faults import Fault, sentences
from ohr.questions.candidate import Candidate, Removal
from ohr.questions.funnel import EXAMPLES, Example, Funnel, FunnelRow
from ohr.questions.review.decisions import UNDO, Decision, candidate_digest, read_decisions
from ohr.statistics.agreement import cohen_kappa

RULE = "review"
"""The rule of a removal by a reviewer."""


@dataclass(frozen=True, slots=True)
class CurrentDecisions:
    """Decisions held against the candidates of a build.

    Attributes:
        current: those about candidates as they are now, by candidate and then reviewer; the last one of each counts.
        stale: those about another version of a candidate, whose reviewer has not seen the present one.
        unknown: those about candidates that this build does not have.
        repeated: those that a later one of the same reviewer replaces.
    """

    current: dict[str, dict[str, Decision]]
    stale: tuple[Decision, ...]
    unknown: tuple[Decision, ...]
    repeated: tuple[Decision, ...]

    @property
    def disputed(self) -> tuple[str, ...]:
        """The candidates that some reviewers drop and others do not."""
        return tuple(
            name
            for name, by_reviewer in self.current.items()
            if len({decision.verdict == "drop" for decision in by_reviewer.values()}) > 1
        )

    def notes(self, *, disputes: bool = True) -> list[str]:
        """Return sentences about what is not applied, with counts and the first candidates.

        Args:
            disputes: also about candidates that one reviewer drops and another does not.
        """
        faults = [
            *(Fault("decision", "about a candidate that has changed since, not applied", _of(d)) for d in self.stale),
            *(Fault("decision", "about no candidate of this set, not applied", _of(d)) for d in self.unknown),
            *(Fault("decision", "replaced by a later one of the same reviewer", _of(d)) for d in self.repeated),
            *(
                Fault("candidate", "dropped by one reviewer and not by another: dropped", name)
                for name in (self.disputed if disputes else ())
            ),
        ]
        return sentences(faults)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Candidates after review.

    Attributes:
        candidates: those that no reviewer drops, in their order, with their edits; undecided ones are among them.
        removals: of those that a reviewer drops.
        undecided: ids of those that nobody has decided about as they are now.
    """

    candidates: tuple[Candidate, ...]
    removals: tuple[Removal, ...]
    undecided: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewerAgreement:
    """Agreement of two reviewers on the candidates that both have decided about.

    Attributes:
        reviewers: their names.
        candidates: how many both have decided about.
        equal: how many have the same verdict of both.
        kappa: Cohen's, over the verdicts keep, drop and edit; nan without common candidates.
    """

    reviewers: tuple[str, str]
    candidates: int
    equal: int
    kappa: float


def remaining_decisions(decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions that no later one took back, in their order; also those that a later one replaces."""
    given: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    remaining: dict[int, Decision] = {}
    for place, decision in enumerate(decisions):
        places = given[decision.candidate, decision.digest, decision.reviewer]
        if decision.verdict != UNDO:
            places.append(place)
            remaining[place] = decision
        elif places:
            del remaining[places.pop()]
    return list(remaining.values())


def current_decisions(decisions: Iterable[Decision], candidates: Sequence[Candidate]) -> CurrentDecisions:
    """Hold decisions against the candidates of a build."""
    digests = {candidate.id: candidate_digest(candidate) for candidate in candidates}
    current: defaultdict[str, dict[str, Decision]] = defaultdict(dict)
    older: dict[tuple[str, str], Decision] = {}
    unknown, repeated = [], []
    for decision in remaining_decisions(decisions):
        name, reviewer = decision.candidate, decision.reviewer
        if name not in digests:
            unknown.append(decision)
        elif decision.digest != digests[name]:
            older[name, reviewer] = decision
        else:
            if earlier := current[name].pop(
                reviewer, None
            ):  # so that a reviewer's last decision comes last, as in the file
                repeated.append(earlier)
            current[name][reviewer] = decision
    stale = tuple(decision for (name, reviewer), decision in older.items() if reviewer not in current.get(name, {}))
    return CurrentDecisions(dict(current), stale, tuple(unknown), tuple(repeated))


def reviewed(candidates: Sequence[Candidate], decided: CurrentDecisions) -> Reviewed:
    """Apply the decisions about candidates as they are now.

    A candidate that one reviewer drops is removed, whatever others say. Of several edits the last one in the file
    counts. An edited candidate keeps its id; it is not verified again here.
    """
    remaining, removals, undecided = [], [], []
    for candidate in candidates:
        about = list(decided.current.get(candidate.id, {}).values())
        if not about:
            undecided.append(candidate.id)
        if dropped := [decision for decision in about if decision.verdict == "drop"]:
            reasons = "; ".join(f"{d.reviewer}: {d.reason}" if d.reason else d.reviewer for d in dropped)
            removals.append(Removal(candidate.id, RULE, f"dropped by {reasons}"))
            continue
        edits = [decision for decision in about if decision.verdict == "edit"]
        remaining.append(_edited(candidate, edits[-1]) if edits else candidate)
    return Reviewed(tuple(remaining), tuple(removals), tuple(undecided))


def reviewed_by(path: Path, candidates: Sequence[Candidate]) -> tuple[Reviewed, CurrentDecisions]:
    """Apply a file of decisions to the candidates of a build.

    Args:
        path: of the file; without one nothing is decided.
        candidates: those that no rule removed.

    Raises:
        DataError: the file cannot be read, or has lines that are no decisions.
    """
    decided = current_decisions(read_decisions(path) if path.exists() else (), candidates)
    return reviewed(candidates, decided), decided


def with_review(funnel: Funnel, after: Reviewed) -> Funnel:
    """Add what reviewers dropped to a funnel, where somebody has decided: one more rule, after all others."""
    questions = {each.id: each.question for each in funnel.survivors}
    if len(after.undecided) == len(questions):
        return funnel
    examples = tuple(
        Example(each.candidate, questions[each.candidate], each.reason) for each in after.removals[:EXAMPLES]
    )
    row = FunnelRow(RULE, len(questions), len(after.removals), examples=examples)
    return Funnel((*funnel.rows, row), after.candidates, (*funnel.removals, *after.removals))


def agreements(decided: CurrentDecisions) -> list[ReviewerAgreement]:
    """Return the agreement of each two reviewers, by their names."""
    reviewers = sorted({reviewer for by_reviewer in decided.current.values() for reviewer in by_reviewer})
    return [_agreement(decided, first, second) for first, second in combinations(reviewers, 2)]


def _agreement(decided: CurrentDecisions, first: str, second: str) -> ReviewerAgreement:
    pairs = [
        (by_reviewer[first].verdict, by_reviewer[second].verdict)
        for by_reviewer in decided.current.values()
        if first in by_reviewer and second in by_reviewer
    ]
    kappa = cohen_kappa([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    return ReviewerAgreement((first, second), len(pairs), sum(a == b for a, b in pairs), kappa)


def _edited(candidate: Candidate, edit: Decision) -> Candidate:
    return replace(
        candidate,
        question=edit.question.strip() or candidate.question,
        answers=(edit.answer.strip(),) if edit.answer.strip() else candidate.answers,
        notes={**candidate.notes, "edited_by": edit.reviewer},
    )


def _of(decision: Decision) -> str:
    return f"{decision.candidate} ({decision.reviewer})"
