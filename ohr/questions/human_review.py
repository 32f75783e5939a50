"""Human review: a file of decisions that only grows, what they make of the candidates of a build, and summaries."""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from operator import eq
from pathlib import Path
from typing import Any, Literal, get_args

from ohr.errors import DataError
from ohr.files.json_input import read_records, refuse_lines
from ohr.keys import key
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import quoted
from ohr.questions.candidate import Candidate, Removal
from ohr.questions.verification import EXAMPLES, Example, Funnel, FunnelRow
from ohr.registry import choices
from ohr.statistics.agreement import cohen_kappa

FILE = "decisions.jsonl"
"""Its name in the folder of a set."""

Verdict = Literal["keep", "drop", "edit", "undo"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
UNDO: Verdict = "undo"

_DIGITS = 16
"""Hexadecimal digits of a digest: two versions of a candidate have the same by chance once in 2^64."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A reviewer's verdict about one version of a candidate.

    Args:
        candidate: its id.
        digest: of the version that the reviewer saw: see `candidate_digest`.
        reviewer: the name of the reviewer.
        verdict: whether the question stays, goes, or stays with other words; `undo` takes the reviewer's last verdict
            about this version back, so that the one before it counts again.
        reason: in the reviewer's words.
        question: the new text of an edited question; "" leaves it.
        answer: the new answer of an edited question, which replaces all accepted ones; "" leaves them.
        time: when, as in ISO 8601.
    """

    candidate: str
    digest: str
    reviewer: str
    verdict: Verdict
    reason: str = ""
    question: str = ""
    answer: str = ""
    time: str = ""


_KEYS = tuple(field.name for field in fields(Decision))
_REQUIRED = ("candidate", "digest", "reviewer", "verdict")


def candidate_digest(candidate: Candidate) -> str:
    """Hash what a reviewer judges: question, answers, document, and the pages and texts of the evidence.

    The place of the evidence on its page is left out: a passage that moves is the same passage.
    """
    evidence = [[passage.page, passage.text] for passage in candidate.evidence]
    return key("reviewed", candidate.question, list(candidate.answers), candidate.document, evidence)[:_DIGITS]


def decision_of(record: Mapping[str, Any]) -> Decision:
    """Read a decision from the object of a line.

    Raises:
        DataError: a key is missing, unknown, or has a value that cannot be; the message names no place.
    """
    if unknown := [name for name in record if name not in _KEYS]:
        raise DataError(f"there is no key {quoted(unknown[0])}. {choices(unknown[0], _KEYS)}")
    if wrong := [name for name, value in record.items() if not isinstance(value, str)]:
        raise DataError(f"{wrong[0]} must be a text (got {quoted(record[wrong[0]])})")
    if missing := [name for name in _REQUIRED if not record.get(name, "").strip()]:
        raise DataError(f"{missing[0]} is missing or empty")
    if record["verdict"] not in VERDICTS:
        raise DataError(f"there is no verdict {quoted(record['verdict'])}. {choices(record['verdict'], VERDICTS)}")
    changes = [name for name in ("question", "answer") if record.get(name, "").strip()]
    if record["verdict"] == "edit" and not changes:
        raise DataError("an edit needs a new question or a new answer")
    if record["verdict"] != "edit" and changes:
        raise DataError(f"{changes[0]} is for the verdict edit only (got {record['verdict']})")
    return Decision(**record)


def read_decisions(path: Path) -> list[Decision]:
    """Read a file of decisions, in their order.

    Raises:
        DataError: the file cannot be read, or has lines that are no decisions; the message names the first ones.
    """
    _refuse_other_formats(path)
    decisions, wrong = [], []
    for where, record in read_records(path, "decisions"):
        try:
            decisions.append(decision_of(record))
        except DataError as error:
            wrong.append(f"{where}: {error}")
    refuse_lines(path, wrong)
    return decisions


def add_decision(path: Path, decision: Decision) -> None:
    """Write a decision to the end of the file, and wait until it is on disk; a file that is not there is begun.

    Raises:
        DataError: the file cannot be written.
    """
    _refuse_other_formats(path)
    stated = {name: value for name, value in asdict(decision).items() if value}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as opened:
            line = f"{_lacking_line_end(opened)}{json.dumps(stated, ensure_ascii=False)}\n"
            opened.write(line.encode("utf-8", "replace"))
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise DataError(f"{path}: the decision cannot be written: {error.strerror}") from None


def _lacking_line_end(opened: Any) -> str:
    """Return the line end that an editor may have left out at the end of the file."""
    if opened.seek(0, os.SEEK_END) == 0:
        return ""
    opened.seek(-1, os.SEEK_END)
    return "" if opened.read(1) == b"\n" else "\n"


def _refuse_other_formats(path: Path) -> None:
    if path.suffix.lower() != ".jsonl":
        raise DataError(f"{path}: decisions are JSON Lines: name a file that ends with .jsonl")


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
            # taken out, so that a reviewer's last decision comes last, as in the file
            if earlier := current[name].pop(reviewer, None):
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
        for edit in [decision for decision in about if decision.verdict == "edit"][-1:]:
            candidate = replace(
                candidate,
                question=edit.question.strip() or candidate.question,
                answers=(edit.answer.strip(),) if edit.answer.strip() else candidate.answers,
                notes={**candidate.notes, "edited_by": edit.reviewer},
            )
        remaining.append(candidate)
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
    pairs = []
    for both in combinations(reviewers, 2):
        common = [given for given in decided.current.values() if given.keys() >= {*both}]
        first, second = ([given[name].verdict for given in common] for name in both)
        equal = sum(map(eq, first, second))
        pairs.append(ReviewerAgreement(both, len(common), equal, cohen_kappa(first, second)))
    return pairs


def _of(decision: Decision) -> str:
    return f"{decision.candidate} ({decision.reviewer})"


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
