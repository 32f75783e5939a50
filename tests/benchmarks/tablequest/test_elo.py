from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.tablequest.totals import rating


def elo(win, tie, loss):
    games = win + tie + loss
    return float(rating([(win + tie / 2) / games], [games]))


def test_half_of_the_points_is_the_opponents_rating():
    assert elo(40, 0, 40) == elo(0, 80, 0) == elo(1, 78, 1) == 1000


def test_ten_times_the_odds_are_400_points():
    assert elo(10, 0, 1) == pytest.approx(1400)
    assert elo(1, 0, 10) == pytest.approx(600)


def test_a_tie_is_half_a_win():
    assert elo(10, 20, 50) == elo(20, 0, 60) == pytest.approx(809.15, abs=0.005)


def test_ratings_are_clipped_at_half_a_game():
    assert elo(80, 0, 0) == elo(79, 1, 0) == pytest.approx(1880.56, abs=0.005)
    assert elo(0, 0, 80) == pytest.approx(2000 - 1880.56, abs=0.005)


@given(st.integers(1, 60), st.integers(0, 60), st.integers(1, 60))
def test_the_closed_form_maximizes_the_likelihood(win, tie, loss):
    """The score of the Bradley-Terry likelihood, points less expected points, is 0 at the rating."""
    expected = (win + tie + loss) / (1 + 10 ** ((1000 - elo(win, tie, loss)) / 400))
    assert expected == pytest.approx(win + tie / 2)


def test_the_opponent_may_have_another_rating_and_without_games_there_is_none():
    assert rating([0.5], [1], opponent=1100) == 1100
    assert isnan(rating([np.nan], [0]))
