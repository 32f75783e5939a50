"""Measures of ranked pages as metrics, and the binary judge."""

from math import isnan
from typing import get_args

import pytest

from ohr.benchmarks.finqa_tablequest.metrics import FinqaJudge, Measure, Trec
from ohr.benchmarks.finqa_tablequest.retrieval import MEASURES
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
    found = ranking((B,), (B,), (B, A), (A,), (C,))
    assert Trec(measure=measure).score_ranking(found) == pytest.approx(value, abs=1e-4)


def test_merged_questions_are_scored_once_with_all_their_pages():
    merged = Trec(measure="R@1", merged=(("Why?", (A, B)),))
    assert merged.score_ranking(ranking((B,))) == 0.5
    assert isnan(merged.score_ranking(ranking((B,), wanted=(B,))))
    assert merged.score_ranking(ranking((B,), wanted=(B,), question="How?")) == 1
    assert isnan(merged.score_ranking(ranking((B,), wanted=())))
    check_metric(Trec(merged=merged.merged))


def judged(reply, protocol):
    return FinqaJudge(generator={"kind": "by_rule"}, protocol=protocol).score_reply(reply)


def test_a_decorated_verdict_is_incorrect_in_reference_and_read_in_clean():
    assert judged("**JUDGMENT:** CORRECT", "reference") == 0
    assert judged("**JUDGMENT:** CORRECT", "clean") == 1


def test_a_judge_that_answers_nonsense_is_incorrect_in_reference_and_a_failed_score_in_clean():
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
