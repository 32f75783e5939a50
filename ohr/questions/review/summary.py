"""Summary of a review: the verdicts of each reviewer, and of those that a rule had removed by its rule."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ohr.questions.candidate import Removal
from ohr.questions.review.outcome import CurrentDecisions


@dataclass(frozen=True, slots=True)
class ReviewerCounts:
    """Verdicts of a reviewer about candidates as they are now; `left` are without one."""

    reviewer: str
    kept: int
    dropped: int
    edited: int
    left: int


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """Candidates that a rule removed, and how many of those that a reviewer looked at he or she would keep."""

    rule: str
    removed: int
    looked_at: int
    kept: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A candidate with several verdicts, by reviewer."""

    candidate: str
    verdicts: Mapping[str, str]


def reviewer_counts(decided: CurrentDecisions, candidates: Sequence[str]) -> list[ReviewerCounts]:
    """Count each reviewer's verdicts, by name.

    Args:
        decided: the decisions.
        candidates: ids of those that count.
    """
    about = [decided.current.get(name, {}) for name in candidates]
    reviewers = sorted({reviewer for by_reviewer in about for reviewer in by_reviewer})
    counts = {name: Counter(given[name].verdict for given in about if name in given) for name in reviewers}
    return [
        ReviewerCounts(name, each["keep"], each["drop"], each["edit"], len(candidates) - each.total())
        for name, each in counts.items()
    ]


def rule_checks(decided: CurrentDecisions, removals: Sequence[Removal]) -> list[RuleCheck]:
    """Count by rule what reviewers say of candidates that it removed: one is kept where no reviewer drops it.

    Rules of which nobody looked at a removal are left out.
    """
    removed = Counter(removal.rule for removal in removals)
    seen = [(removal.rule, given.values()) for removal in removals if (given := decided.current.get(removal.candidate))]
    looked_at = Counter(rule for rule, _ in seen)
    kept = Counter(rule for rule, given in seen if all(decision.verdict != "drop" for decision in given))
    return [RuleCheck(rule, removed[rule], count, kept[rule]) for rule, count in looked_at.items()]


def disagreements(decided: CurrentDecisions) -> list[Disagreement]:
    """List the candidates about which reviewers have several verdicts."""
    verdicts = {
        name: {reviewer: decision.verdict for reviewer, decision in by_reviewer.items()}
        for name, by_reviewer in decided.current.items()
    }
    return [Disagreement(name, given) for name, given in verdicts.items() if len(set(given.values())) > 1]
