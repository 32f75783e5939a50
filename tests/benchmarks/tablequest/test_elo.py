from math import isnan, log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.tablequest.elo import anchored, elo_raw_unanchored, elo_vs_baseline_mle, ratings_by_level

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


def test_raw_ratings_have_the_mean_1000():
    found = elo_raw_unanchored({"a": (60, 0, 20), "b": (20, 0, 60)}, "c")
    assert list(found) == ["a", "b", "c"]
    assert sum(found.values()) / 3 == pytest.approx(1000)
    assert found["a"] - found["c"] == pytest.approx(400 * log10(3))


def test_raw_ratings_of_one_model_straddle_1000():
    assert elo_raw_unanchored({"a": (60, 0, 20)}) == pytest.approx({"a": 1095.42, "gpt-4o": 904.58}, abs=0.005)


def test_an_anchor_shifts_all_ratings():
    raw = elo_raw_unanchored({"a": (60, 0, 20), "b": (30, 0, 50)}, "c")
    assert anchored(raw, "c") == pytest.approx(
        {
            "a": elo_vs_baseline_mle(60, 0, 20),
            "b": elo_vs_baseline_mle(30, 0, 50),
            "c": 1000,
        }
    )
    assert anchored(raw, "b")["b"] == 1000


def test_one_undefined_rating_leaves_no_mean():
    assert all(map(isnan, elo_raw_unanchored({"a": (8, 0, 0), "b": (4, 0, 4)}).values()))


OUTCOMES = {"easy": ["win"] * 6 + ["loss"] * 2, "hard": ["tie"] * 4 + ["loss"] * 4}


def test_ratings_are_per_level_and_pooled_over_questions():
    found = ratings_by_level(OUTCOMES, np.random.default_rng(1))
    assert list(found) == ["easy", "hard", "overall"]
    assert found["easy"].value == pytest.approx(elo_vs_baseline_mle(6, 0, 2))
    assert found["hard"].value == pytest.approx(elo_vs_baseline_mle(0, 4, 4))
    assert found["overall"].value == pytest.approx(elo_vs_baseline_mle(6, 4, 6))
    assert [one.games for one in found.values()] == [8, 8, 16]


def test_the_interval_holds_the_rating_and_depends_on_the_generator_alone():
    first, again, other = (ratings_by_level(OUTCOMES, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(one.low < one.value < one.high for one in first.values())


def test_the_overall_interval_draws_within_levels():
    """The questions of easy have no spread, so that only those of hard move the overall rating."""
    outcomes = {"easy": ["win"] * 50, "hard": ["win", "loss"]}
    found = ratings_by_level(outcomes, np.random.default_rng(1))["overall"]
    assert found.low == pytest.approx(elo_vs_baseline_mle(50, 0, 2))
    assert found.high == pytest.approx(elo_vs_baseline_mle(52, 0, 0, clip=True))


@pytest.mark.parametrize("result", ["win", "tie", "loss"])
def test_equal_results_have_no_interval(result):
    found = ratings_by_level({"easy": [result] * 9}, np.random.default_rng(1))["easy"]
    assert isnan(found.low)
    assert isnan(found.high)


def test_a_level_that_was_won_whole_is_clipped_and_marked():
    found = ratings_by_level({"easy": ["win"] * 80}, np.random.default_rng(1))["easy"]
    assert found.value == pytest.approx(1880.56, abs=0.005)
    assert found.clipped


def test_a_level_without_questions_has_no_rating_and_one_question_no_interval():
    found = ratings_by_level({"easy": [], "hard": ["tie"]}, np.random.default_rng(1))
    assert isnan(found["easy"].value)
    assert found["hard"].value == 1000
    assert isnan(found["hard"].low)
