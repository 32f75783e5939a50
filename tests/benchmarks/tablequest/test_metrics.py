"""Metrics without a judge: accuracy by rule, what rules decide, and the figures that a text has."""

from math import isnan

import pytest

from ohr.benchmarks.tablequest import TableQuest
from ohr.benchmarks.tablequest.metrics import FiguresKept, TableAccuracy, TableDecided
from ohr.contracts import Case


def case(reply, gold="15.2%", level="easy"):
    return Case("How much?", (gold,) if gold else (), (), reply, "q", {"level": level})


@pytest.mark.parametrize(
    ("reply", "accuracy", "decided"),
    [
        ('{"steps": "", "answer": "15.2%"}', 1, 1),
        ('{"answer": "15.3%"}', 0, 1),
        ('{"answer": "0.152"}', 0, 0),
        ("It is 15.2%.", 1, 1),
        ("", 0, 1),
        ('{"answer": null}', 0, 1),
        ('{"answer": "15.2%"', 1, 1),
        ('{"answer": NaN}', 0, 1),
        ('{"answer": "1,234%"}', 0, 1),
        ("I do not know: it may be 15.2% or 17%.", 0, 0),
    ],
)
def test_an_answer_that_rules_leave_open_counts_as_wrong_and_as_undecided(reply, accuracy, decided):
    assert TableAccuracy().score_case(case(reply)) == accuracy
    assert TableDecided().score_case(case(reply)) == decided


@pytest.mark.parametrize("metric", [TableAccuracy(), TableDecided()])
def test_hard_questions_have_no_accuracy_with_or_without_a_reply(metric):
    assert isnan(metric.score_case(case("15.2%", level="hard")))
    missing = [metric.score_missing(question) for question in TableQuest(root="sample").questions()]
    assert missing[:2] == [0.0, 0.0]
    assert isnan(missing[2])


@pytest.mark.parametrize("metric", [TableAccuracy(), TableDecided()])
def test_without_a_gold_answer_there_is_no_accuracy(metric):
    assert isnan(metric.score_case(case("15.2%", gold="")))


@pytest.mark.parametrize(
    ("text", "figures", "share"),
    [
        ('<tr><td colspan="2">Net</td><td>(21.70)</td></tr>', "21.7", 1),
        ("| Net | $ 1,204.5 |", "1204.5 and 7", 0.5),
        ("Net & 217 \\\\", "21.7", 0),
        ("", "21.7", 0),
        ("2", '<td colspan="2">5</td>', 0),
    ],
)
def test_figures_are_kept_by_their_digits(text, figures, share):
    assert FiguresKept().score(text, figures) == share


def test_a_text_without_figures_keeps_none():
    assert isnan(FiguresKept().score("5", "none"))
