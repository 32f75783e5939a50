"""Measures of ranked pages as metrics, and the binary judge."""

from math import isnan
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finqa_tablequest.metrics import (
    MEASURES,
    FinqaJudge,
    Measure,
    Trec,
    measures,
    parse_binary_judge,
)
from ohr.benchmarks.finqa_tablequest.report_questions import FinqaQuestion, misplaced
from ohr.benchmarks.tablequest.judges import binary_prompt
from ohr.contracts import Case, Ranking
from ohr.testing import check_metric

A, B, C = ("10K/a", 0), ("10K/b", 0), ("10K/a", 1)


def ranking(*hits, wanted=(A,), question="Why?"):
    return Ranking(question, hits, tuple("text" for _ in hits), frozenset(wanted), ())


def test_every_measure_may_be_named():
    assert get_args(Measure) == MEASURES
    for name in MEASURES:
        assert Trec(measure=name).score_ranking(ranking()) == 0
        assert isnan(Trec(measure=name).score_ranking(ranking((A,), wanted=())))


@pytest.mark.parametrize(
    ("measure", "value"),
    [("P@1", 0), ("P@3", 1 / 3), ("P@10", 0.1), ("R@3", 1), ("RR", 1 / 2), ("nDCG@3", 0.6309), ("Rprec", 0)],
)
def test_a_page_has_the_rank_of_its_best_chunk_and_counts_once(measure, value):
    ranked = ranking((B,), (B,), (B, A), (A,), (C,))
    assert Trec(measure=measure).score_ranking(ranked) == pytest.approx(value, abs=1e-4)


def test_merged_questions_are_scored_once_with_all_their_pages():
    merged = Trec(measure="R@1", merged=(("Why?", (A, B)),))
    assert merged.score_ranking(ranking((B,))) == 0.5
    assert isnan(merged.score_ranking(ranking((B,), wanted=(B,))))
    assert merged.score_ranking(ranking((B,), wanted=(B,), question="How?")) == 1
    assert isnan(merged.score_ranking(ranking((B,), wanted=())))
    check_metric(Trec(merged=merged.merged))


def judged(reply, protocol):
    return FinqaJudge(generator={"kind": "by_rule"}, protocol=protocol).score_reply(reply)


def test_a_judge_that_answers_nonsense_is_incorrect_in_reference_and_a_failed_score_in_clean():
    assert [judged("**JUDGMENT:** CORRECT", protocol) for protocol in ("reference", "clean")] == [0, 1]
    assert judged("bananas", "reference") == 0
    with pytest.raises(ValueError, match="no verdict in the judge's reply: 'bananas'"):
        judged("bananas", "clean")


def test_the_judge_sees_the_answer_and_not_the_json_around_it():
    metric = FinqaJudge(generator={"kind": "by_rule"})
    prompt = metric.prompt_for(Case("Why?", ("5",), (), '{"answer": "6"}', "easy-1"))
    assert prompt.id == "easy-1"
    assert prompt.passages == ("5", "6")
    assert "ANSWER TO CHECK: 6\n" in prompt.user
    assert metric.prompt_for(Case("Why?", (), (), "6")) is None


# --- replies of the judge -------------------------------------------------------------------------------


UNPARSED = ("INCORRECT", 0.0, "Failed to parse response")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("JUDGMENT: CORRECT\nCONFIDENCE: 0.95\nREASONING: same", ("CORRECT", 0.95, "same")),
        ("  JUDGMENT: correct  \n CONFIDENCE: 7", ("CORRECT", 1.0, "Failed to parse response")),
        ("JUDGMENT: [CORRECT/INCORRECT]", UNPARSED),
        ("JUDGMENT: NOT CORRECT", ("CORRECT", 0.0, "Failed to parse response")),
        ("JUDGMENT: INCORRECT\nJUDGMENT: CORRECT", ("CORRECT", 0.0, "Failed to parse response")),
        ("JUDGMENT: CORRECT\nJUDGMENT: unsure", UNPARSED),
        ("JUDGMENT: JUDGMENT: CORRECT", ("CORRECT", 0.0, "Failed to parse response")),
        ("JUDGMENT", UNPARSED),
        ("**JUDGMENT:** CORRECT", UNPARSED),
        ("judgment: CORRECT", UNPARSED),
        ("Correct!", UNPARSED),
        ("", UNPARSED),
        ("CONFIDENCE: high\nREASONING: a: b", ("INCORRECT", 0.0, "a: b")),
        ("CONFIDENCE: 95%", UNPARSED),
        ("CONFIDENCE: -1", UNPARSED),
        ("CONFIDENCE: nan", ("INCORRECT", 1.0, "Failed to parse response")),
        ("REASONING:", ("INCORRECT", 0.0, "")),
    ],
)
def test_reference_reads_replies_as_the_published_code_does(reply, read):
    assert parse_binary_judge(reply) == parse_binary_judge(reply, "reference") == read


@pytest.mark.parametrize(
    ("reply", "judgment", "confidence"),
    [
        ("JUDGMENT: CORRECT\nCONFIDENCE: 0.95", "CORRECT", 0.95),
        ("**JUDGMENT:** CORRECT\n**CONFIDENCE:** 0.9", "CORRECT", 0.9),
        ("**JUDGMENT: CORRECT**", "CORRECT", None),
        ("## Judgement: _incorrect_", "INCORRECT", None),
        ("- JUDGMENT = [CORRECT]", "CORRECT", None),
        ("JUDGMENT: CORRECT (the same amount)", "CORRECT", None),
        ("JUDGMENT: INCORRECT, the correct value is 5", "INCORRECT", None),
        ("JUDGMENT: not correct.\nConfidence: 95%", "INCORRECT", 0.95),
        ("Correct!", "CORRECT", None),
        ("**INCORRECT**", "INCORRECT", None),
        ("JUDGMENT: CORRECT\nCONFIDENCE: 7", "CORRECT", None),
        ("JUDGMENT: CORRECT\nCONFIDENCE: nan", "CORRECT", None),
        ("", "ERROR", None),
        ("JUDGMENT: [CORRECT/INCORRECT]", "ERROR", None),
        ("JUDGMENT: unsure", "ERROR", None),
        ("It looks correct to me.", "ERROR", None),
    ],
)
def test_clean_reads_decorated_verdicts_and_takes_a_reply_without_one_for_a_failed_one(reply, judgment, confidence):
    verdict = parse_binary_judge(reply, "clean")
    assert verdict.judgment == judgment
    assert isnan(verdict.confidence) if confidence is None else verdict.confidence == confidence


@given(st.sampled_from(["CORRECT", "INCORRECT"]), st.floats(0, 1), st.from_regex(r"[a-z ]{0,20}", fullmatch=True))
def test_both_protocols_read_a_reply_in_the_asked_form_equally(judgment, confidence, reasoning):
    reply = f"JUDGMENT: {judgment}\nCONFIDENCE: {confidence:.3f}\nREASONING: {reasoning}"
    assert parse_binary_judge(reply, "clean") == parse_binary_judge(reply, "reference")


def test_the_prompt_asks_for_the_published_keys():
    user = binary_prompt("Why {gold}?", "5", "six {question}").user
    assert "QUESTION: Why {gold}?\n" in user
    assert "ANSWER TO CHECK: six {question}\n" in user
    assert all(f"\n{key}: " in user for key in ("JUDGMENT", "CONFIDENCE", "REASONING"))


# --- queries and their pages ----------------------------------------------------------------------------


def question(number, text, page):
    return FinqaQuestion(f"easy-{number}", "easy", "A_2023_10K", page, "", text, "5", "10K", "")


ASKED = [question(1, "a", 1), question(2, "b", 2), question(3, "a", 3), question(4, "c", 4)]


def test_the_published_code_reads_pages_of_other_queries_after_a_merge():
    assert misplaced(ASKED) == ["easy-3", "easy-4"]
    assert misplaced(ASKED[:2]) == []


def test_measures_of_a_ranking_that_ir_measures_has_measured():
    """Values of ir_measures 0.4.3 for the ranking c, b, a with a and b relevant."""
    asked = measures(["c", "b", "a"], frozenset("ab"))
    assert asked["nDCG@1"] == asked["P@1"] == asked["R@1"] == 0
    assert asked["nDCG@3"] == pytest.approx(0.6934264036172708)
    assert (asked["P@3"], asked["R@3"], asked["RR"], asked["Rprec"]) == (pytest.approx(2 / 3), 1, 0.5, 0.5)
