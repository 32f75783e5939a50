from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.tablequest.elo import elo_vs_baseline_mle
from ohr.benchmarks.tablequest.totals import rating

GAMES = st.integers(0, 60)


def test_half_of_the_points_is_the_opponents_rating():
    assert elo_vs_baseline_mle(40, 0, 40) == elo_vs_baseline_mle(0, 80, 0) == elo_vs_baseline_mle(1, 78, 1) == 1000


def test_ten_times_the_odds_are_400_points():
    assert elo_vs_baseline_mle(10, 0, 1) == pytest.approx(1400)
    assert elo_vs_baseline_mle(1, 0, 10) == pytest.approx(600)


def test_a_tie_is_half_a_win():
    assert elo_vs_baseline_mle(10, 20, 50) == elo_vs_baseline_mle(20, 0, 60) == pytest.approx(809.15, abs=0.005)


@pytest.mark.parametrize("games", [(80, 0, 0), (0, 0, 80), (0, 0, 0)])
def test_a_rating_without_both_results_is_undefined(games):
    assert isnan(elo_vs_baseline_mle(*games))


def test_the_clip_is_half_a_game():
    assert elo_vs_baseline_mle(80, 0, 0, clip=True) == pytest.approx(1880.56, abs=0.005)
    assert elo_vs_baseline_mle(0, 0, 80, clip=True) == pytest.approx(2000 - 1880.56, abs=0.005)
    assert elo_vs_baseline_mle(79, 1, 0, clip=True) == elo_vs_baseline_mle(79, 1, 0)
    assert isnan(elo_vs_baseline_mle(0, 0, 0, clip=True))


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="-1 won"):
        elo_vs_baseline_mle(-1, 0, 1)


@given(GAMES, GAMES, GAMES)
def test_the_closed_form_maximizes_the_likelihood(win, tie, loss):
    """The score of the Bradley-Terry likelihood, points less expected points, is 0 at the rating."""
    rating = elo_vs_baseline_mle(win, tie, loss)
    if not isnan(rating):
        expected = (win + tie + loss) / (1 + 10 ** ((1000 - rating) / 400))
        assert expected == pytest.approx(win + tie / 2)


def test_a_share_of_points_has_the_rating_of_its_games_clipped_at_half_a_game():
    assert rating([10 / 16], [16]) == pytest.approx(elo_vs_baseline_mle(8, 4, 4))
    assert rating([1.0], [80]) == pytest.approx(1880.56, abs=0.005)
    assert rating([0.5], [1], opponent=1100) == 1100
    assert isnan(rating([np.nan], [0]))
