"""Metrics without a judge: accuracy by rule, what rules decide, and the figures that a text has."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.tablequest import TableQuest
from ohr.benchmarks.tablequest.metrics import FiguresKept, TableAccuracy, TableDecided
from ohr.benchmarks.tablequest.ratings import rating
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
    assert isnan(metric.score_case(case("15.2%", gold="")))
    missing = [metric.score_missing(question) for question in TableQuest(root="sample").questions()]
    assert missing[:2] == [0.0, 0.0]
    assert isnan(missing[2])


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


# --- ratings ----------------------------------------------------------------------------------------------


def elo(win, tie, loss):
    games = win + tie + loss
    return float(rating([(win + tie / 2) / games], [games]))


@pytest.mark.parametrize(
    ("games", "rated"),
    [
        ((40, 0, 40), 1000), ((0, 80, 0), 1000), ((1, 78, 1), 1000),  # half of the points
        ((10, 0, 1), 1400), ((1, 0, 10), 600),  # ten times the odds
        ((10, 20, 50), 809.15), ((20, 0, 60), 809.15),  # a tie is half a win
        ((80, 0, 0), 1880.56), ((79, 1, 0), 1880.56), ((0, 0, 80), 119.44),  # clipped at half a game
    ],
)  # fmt: skip
def test_ratings_follow_from_the_points(games, rated):
    assert elo(*games) == pytest.approx(rated, abs=0.005)


@given(st.integers(1, 60), st.integers(0, 60), st.integers(1, 60))
def test_the_closed_form_maximizes_the_likelihood(win, tie, loss):
    """The score of the Bradley-Terry likelihood, points less expected points, is 0 at the rating."""
    expected = (win + tie + loss) / (1 + 10 ** ((1000 - elo(win, tie, loss)) / 400))
    assert expected == pytest.approx(win + tie / 2)


def test_the_opponent_may_have_another_rating_and_without_games_there_is_none():
    assert rating([0.5], [1], opponent=1100) == 1100
    assert isnan(rating([np.nan], [0]))
