"""Summary of a review, as `ohr data review` prints it: verdicts, where reviewers disagree, and what rules removed."""

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from ohr.cli.display.console import say, say_first, say_table
from ohr.messages.wording import counted, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ohr.questions.candidate import Record
    from ohr.questions.human_review import Decision, Disagreement, ReviewerAgreement, ReviewerCounts, RuleCheck


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """Review of a set.

    Args:
        survivors: candidates that no rule removed.
        dropped, edited, undecided: how many of these; a dropped one leaves the set.
        sample: how many survivors `reviewers` counts; None where it counts all.
        notes: decisions that are not applied, in sentences.
    """

    survivors: int
    dropped: int
    edited: int
    undecided: int
    sample: int | None
    reviewers: "list[ReviewerCounts]"
    agreements: "list[ReviewerAgreement]"
    disagreements: "list[Disagreement]"
    rules: "list[RuleCheck]"
    notes: list[str]


def summarize(
    records: "Sequence[Record]", decisions: "Sequence[Decision]", sample: "Sequence[Record] | None" = None
) -> ReviewSummary:
    """Hold decisions against the candidates of a set, also those that a rule removed.

    Args:
        records: all of them.
        decisions: those that count.
        sample: those of which each reviewer's verdicts are counted, where it is not all.
    """
    from ohr.questions.human_review import (
        agreements,
        current_decisions,
        disagreements,
        reviewed,
        reviewer_counts,
        rule_checks,
    )

    survivors = [record.candidate for record in records if not record.removal]
    counted_ids = [record.candidate.id for record in (records if sample is None else sample) if not record.removal]
    decided = current_decisions(decisions, [record.candidate for record in records])
    after = reviewed(survivors, decided)
    return ReviewSummary(
        len(survivors),
        len(after.removals),
        sum("edited_by" in candidate.notes for candidate in after.candidates),
        len(after.undecided),
        None if sample is None else len(counted_ids),
        reviewer_counts(decided, counted_ids),
        agreements(decided),
        disagreements(decided),
        rule_checks(decided, [record.removal for record in records if record.removal]),
        decided.notes(disputes=False),
    )


def print_summary(summary: ReviewSummary, questions: "dict[str, str]") -> None:
    """Print a summary; `questions` has the text of each candidate."""
    from ohr.questions.verification import rule_name

    if summary.reviewers:
        if summary.sample is not None:
            say(f"verdicts about the sample of {counted(summary.sample, 'question')}:")
        say_table(
            ("reviewer", "kept", "dropped", "edited", "left"),
            [(r.reviewer, *map(str, (r.kept, r.dropped, r.edited, r.left))) for r in summary.reviewers],
        )
    stay = summary.survivors - summary.dropped
    say(
        f"{counted(stay, 'question')} of {summary.survivors:,} stay: {summary.dropped:,} dropped, {summary.edited:,} "
        f"edited, {summary.undecided:,} undecided"
    )
    for pair in summary.agreements:
        say(_agreement(pair))
    say_first(
        "verdicts differ; a question that one drops is dropped:",
        [_disagreement(each, questions) for each in summary.disagreements],
    )
    if summary.rules:
        say_table(
            ("rule", "removed", "looked at", "reviewers would keep"),
            [(rule_name(rule.rule), *map(str, (rule.removed, rule.looked_at, rule.kept))) for rule in summary.rules],
        )
    say_first("notes:", summary.notes)


def _agreement(pair: "ReviewerAgreement") -> str:
    names = " and ".join(pair.reviewers)
    if not pair.candidates:
        return f"{names} have decided about no question in common"
    kappa = "" if isnan(pair.kappa) else f"; Cohen's kappa {pair.kappa:.2f}"
    return f"{names} agree on {pair.equal:,} of {counted(pair.candidates, 'question')}{kappa}"


def _disagreement(each: "Disagreement", questions: "dict[str, str]") -> str:
    verdicts = ", ".join(f"{reviewer}: {verdict}" for reviewer, verdict in each.verdicts.items())
    return f"{each.candidate} ({verdicts}): {quoted(questions[each.candidate])}"
