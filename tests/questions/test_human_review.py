"""The file of decisions, also one that was edited by hand, and what it does to candidates."""

import json
from dataclasses import replace
from math import isnan

import pytest

from ohr.errors import DataError
from ohr.questions.candidate import Candidate, Evidence, Removal
from ohr.questions.human_review import (
    Decision,
    Disagreement,
    ReviewerCounts,
    RuleCheck,
    add_decision,
    agreements,
    candidate_digest,
    current_decisions,
    disagreements,
    read_decisions,
    reviewed,
    reviewed_by,
    reviewer_counts,
    rule_checks,
)

EVIDENCE = Evidence(0, "The lease began in 1964.", 4, 28)
SET = [Candidate(f"q{number}", f"When {number}?", ("1964", "64"), "law/lease", (EVIDENCE,)) for number in range(4)]


def decision(number, verdict, reviewer="ada", **changes):
    return Decision(f"q{number}", candidate_digest(SET[number]), reviewer, verdict, **changes)


def written(path, *records):
    path.write_text("".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records))
    return path


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "new folder" / "review.jsonl"
    decisions = [
        decision(0, "keep"),
        decision(1, "edit", question="Wann\n“so”?", reason="租", time="2026-01-02T03:04:05"),
    ]
    for saved in decisions:
        add_decision(path, saved)
    assert read_decisions(path) == decisions


def test_a_line_end_that_an_editor_left_out_is_added(tmp_path):
    path = tmp_path / "review.jsonl"
    add_decision(path, decision(0, "keep"))
    path.write_text(path.read_text().rstrip("\n"))
    add_decision(path, decision(1, "drop"))
    assert [saved.candidate for saved in read_decisions(path)] == ["q0", "q1"]


GOOD = {"candidate": "q0", "digest": "d", "reviewer": "ada", "verdict": "keep"}


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (GOOD | {"verdict": "keeep"}, "no verdict 'keeep'.*one of: keep, drop, edit, undo. Did you mean 'keep'?"),
        (GOOD | {"anwser": "1964"}, "no key 'anwser'.*Did you mean 'answer'?"),
        (GOOD | {"reason": 7}, r"reason must be a text \(got 7\)"),
        (GOOD | {"reviewer": " "}, "reviewer is missing or empty"),
        ({"candidate": "q0", "reviewer": "ada", "verdict": "keep"}, "digest is missing or empty"),
        (GOOD | {"verdict": "edit", "question": " "}, "an edit needs a new question or a new answer"),
        (GOOD | {"answer": "1965"}, r"answer is for the verdict edit only \(got keep\)"),
        (GOOD | {"verdict": "undo", "question": "When?"}, "question is for the verdict edit only"),
        ("[1]\n", "must be an object, as all decisions"),
        ("{\n", "not readable as JSON"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path, record, fault):
    path = written(tmp_path / "review.jsonl", GOOD, "\n", record)
    with pytest.raises(DataError, match=rf"review\.jsonl:3: .*{fault}"):
        read_decisions(path)


def test_several_mistakes_are_counted(tmp_path):
    path = written(tmp_path / "review.jsonl", *[GOOD | {"verdict": "no"}] * 5)
    with pytest.raises(DataError, match=r"5 lines cannot be used: .*:1: .*:2: .*:3: .* and 2 more"):
        read_decisions(path)


def test_files_that_cannot_be_used_are_refused(tmp_path):
    for action in (read_decisions, lambda path: add_decision(path, decision(0, "keep"))):
        with pytest.raises(DataError, match=r"ends with \.jsonl"):
            action(tmp_path / "review.csv")
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_decisions(tmp_path / "none.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(DataError, match="cannot be written: Is a directory"):
        add_decision(tmp_path / "folder.jsonl", decision(0, "keep"))


def test_decisions_are_applied():
    decisions = [
        decision(1, "drop", reason="ambiguous"),
        decision(2, "edit", question=" When did it begin? "),
        decision(3, "edit", answer="in 1964"),
    ]
    after = reviewed(SET, current_decisions(decisions, SET))
    assert [candidate.id for candidate in after.candidates] == ["q0", "q2", "q3"]
    assert after.candidates[0] is SET[0]
    assert (after.candidates[1].question, after.candidates[1].answers) == ("When did it begin?", ("1964", "64"))
    assert (after.candidates[2].question, after.candidates[2].answers) == ("When 3?", ("in 1964",))
    assert after.candidates[2].notes == {"edited_by": "ada"}
    assert [(gone.candidate, gone.rule, gone.reason) for gone in after.removals] == [
        ("q1", "review", "dropped by ada: ambiguous")
    ]
    assert after.undecided == ("q0",)


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Where?"},
        {"answers": ("1965",)},
        {"document": "law/other"},
        {"evidence": (replace(EVIDENCE, text="It began."),)},
        {"evidence": (replace(EVIDENCE, page=1),)},
    ],
)
def test_a_decision_about_a_candidate_that_has_changed_is_not_applied(change):
    rebuilt = [replace(SET[0], **change), *SET[1:]]
    decided = current_decisions([decision(0, "drop")], rebuilt)
    assert decided.notes() == ["1 decision about a candidate that has changed since, not applied: q0 (ada)"]
    assert reviewed(rebuilt, decided).candidates == tuple(rebuilt)
    again = replace(decision(0, "keep"), digest=candidate_digest(rebuilt[0]))
    assert current_decisions([decision(0, "drop"), again], rebuilt).stale == ()


def test_a_decision_survives_a_rebuild_that_moves_the_evidence():
    moved = [replace(SET[0], evidence=(replace(EVIDENCE, start=5, end=29),), made_by="another model")]
    assert reviewed(moved, current_decisions([decision(0, "drop")], moved)).candidates == ()


@pytest.mark.parametrize(
    ("verdicts", "present"),
    [
        (("keep", "undo"), None),
        (("keep", "drop", "undo"), "keep"),
        (("keep", "drop", "undo", "undo"), None),
        (("undo", "keep"), "keep"),
        (("keep", "undo", "undo", "drop"), "drop"),
    ],
)
def test_an_undo_takes_back_the_last_decision_that_counts(verdicts, present):
    others = [decision(0, "drop", "bob"), decision(1, "drop")]
    decided = current_decisions([*others, *(decision(0, verdict) for verdict in verdicts)], SET)
    ada = decided.current["q0"].get("ada")
    assert (ada.verdict if ada else None) == present
    assert decided.current["q0"]["bob"].verdict == decided.current["q1"]["ada"].verdict == "drop"


def test_an_undo_of_another_version_takes_nothing_back():
    decided = current_decisions([decision(0, "drop"), Decision("q0", "an earlier version", "ada", "undo")], SET)
    assert decided.current["q0"]["ada"].verdict == "drop"
    assert decided.notes() == []


def test_a_file_of_decisions_is_applied_to_a_build(tmp_path):
    path = tmp_path / "decisions.jsonl"
    assert reviewed_by(path, SET) == (reviewed(SET, nothing := current_decisions([], SET)), nothing)
    for saved in (decision(0, "drop"), decision(1, "keep"), Decision("q9", "d", "ada", "drop")):
        add_decision(path, saved)
    after, decided = reviewed_by(path, SET)
    assert [candidate.id for candidate in after.candidates] == ["q1", "q2", "q3"]
    assert after.undecided == ("q2", "q3")
    assert decided.notes() == ["1 decision about no candidate of this set, not applied: q9 (ada)"]


def test_verdicts_are_counted_by_reviewer():
    decisions = [decision(0, "keep"), decision(1, "drop"), decision(2, "edit", answer="x"), decision(0, "drop", "bob")]
    decided = current_decisions(decisions, SET)
    names = [candidate.id for candidate in SET]
    assert reviewer_counts(decided, names) == [ReviewerCounts("ada", 1, 1, 1, 1), ReviewerCounts("bob", 0, 1, 0, 3)]
    assert reviewer_counts(decided, names[1:]) == [ReviewerCounts("ada", 0, 1, 1, 1)]
    assert disagreements(decided) == [Disagreement("q0", {"ada": "keep", "bob": "drop"})]


def test_verdicts_about_removed_candidates_are_counted_by_rule():
    removals = [Removal(f"q{number}", "short" if number < 3 else "vague", "") for number in range(4)]
    decisions = [decision(0, "keep"), decision(1, "keep"), decision(1, "drop", "bob")]
    assert rule_checks(current_decisions(decisions, SET), removals) == [RuleCheck("short", 3, 2, 1)]


def test_the_last_decision_of_a_reviewer_counts_and_others_are_counted():
    gone = Decision("q9", "d", "ada", "drop")
    decided = current_decisions([decision(0, "drop"), gone, decision(0, "keep"), decision(1, "keep")], SET)
    assert decided.current["q0"]["ada"].verdict == "keep"
    assert decided.notes() == [
        "1 decision about no candidate of this set, not applied: q9 (ada)",
        "1 decision replaced by a later one of the same reviewer: q0 (ada)",
    ]


def test_reviewers_who_disagree():
    decisions = [
        decision(0, "keep"),
        decision(0, "drop", "bob"),
        decision(1, "edit", question="First?"),
        decision(1, "edit", "bob", question="Second?"),
        decision(1, "edit", question="Third?"),
    ]
    decided = current_decisions(decisions, SET)
    after = reviewed(SET, decided)
    assert decided.disputed == ("q0",)
    assert after.removals[0].reason == "dropped by bob"
    assert after.candidates[0].question == "Third?"
    assert "1 candidate dropped by one reviewer and not by another: dropped: q0" in decided.notes()


def test_agreement_of_two_reviewers_which_is_undefined_without_common_candidates():
    verdicts = zip(("keep", "keep", "drop", "drop"), ("keep", "drop", "drop", "drop"), strict=True)
    decisions = [
        decision(number, verdict, reviewer)
        for number, pair in enumerate(verdicts)
        for reviewer, verdict in zip(("ada", "bob"), pair, strict=True)
    ]
    (both,) = agreements(current_decisions(decisions, SET))
    assert (both.reviewers, both.candidates, both.equal) == (("ada", "bob"), 4, 3)
    assert both.kappa == pytest.approx((0.75 - 0.5) / (1 - 0.5))
    assert agreements(current_decisions([decision(0, "keep")], SET)) == []
    (both,) = agreements(current_decisions([decision(0, "keep"), decision(1, "keep", "bob")], SET))
    assert both.candidates == 0
    assert isnan(both.kappa)
