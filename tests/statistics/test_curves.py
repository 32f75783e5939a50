from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.statistics.curves import area, r50, retention, uncovered

share = st.floats(0, 1, allow_subnormal=False)
curve = st.lists(st.tuples(st.integers(0, 20).map(lambda x: x / 20), share), min_size=1, max_size=12)


def pooled(x, rho):
    """Falling fit by pooling neighbors one pair at a time."""
    blocks = []
    for place in sorted(set(x)):
        blocks.append([r for p, r in zip(x, rho, strict=True) if p == place])
    sizes = [1] * len(blocks)
    while (
        rise := next((i for i in range(len(blocks) - 1) if np.mean(blocks[i]) < np.mean(blocks[i + 1])), None)
    ) is not None:
        blocks[rise : rise + 2] = [blocks[rise] + blocks[rise + 1]]
        sizes[rise : rise + 2] = [sizes[rise] + sizes[rise + 1]]
    return sorted(set(x)), np.repeat([np.mean(block) for block in blocks], sizes)


def first_crossing(x, rho):
    places, fit = pooled(x, rho)
    if fit[0] <= 0.5:
        return places[0]
    for i in range(1, len(places)):
        if fit[i] <= 0.5:
            return places[i - 1] + (fit[i - 1] - 0.5) / (fit[i - 1] - fit[i]) * (places[i] - places[i - 1])
    return inf


def test_retention_is_one_without_noise_and_zero_at_the_floor():
    assert retention([0.8, 0.5, 0.2, 0.1], [0.2, 0.2, 0.2, 0.2], 0.8, 0.2) == pytest.approx([1, 0.5, 0, -1 / 6])


def test_retention_takes_each_points_own_floor():
    assert retention([0.8, 0.4], [0.2, 0.1], 0.8, 0.2) == pytest.approx([1, 0.5])


def test_retention_of_nothing_to_lose_is_undefined():
    assert np.isnan(retention([0.2, 0.1], 0.2, 0.2, 0.2)).all()


def test_area_of_a_straight_line_is_its_height_in_the_middle():
    x = np.linspace(0, 1, 6)
    assert area(x, 1 - x, 0.1, 0.6) == pytest.approx(0.65)


def test_area_of_a_bent_line_by_hand():
    # over [.1, .5]: heights .9, .8 at .2, .4 at .4, .4 at .5
    assert area([0, 0.2, 0.4, 0.6], [1, 0.8, 0.4, 0.4], 0.1, 0.5) == pytest.approx((0.085 + 0.12 + 0.04) / 0.4)


def test_area_ignores_order_and_undefined_points_and_averages_repeats():
    expected = area([0, 0.2, 0.4, 0.6], [1, 0.8, 0.4, 0.4], 0.1, 0.5)
    assert area([0.6, 0.4, 0.2, 0.4, 0, 0.3], [0.4, 0.3, 0.8, 0.5, 1, nan], 0.1, 0.5) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ([], "the doses are not known"),
        ([0.2, 0.3, 0.4, 0.6], "starts at dose 0.20, after 0.10"),
        ([0, 0.2, 0.3, 0.4], "reaches dose 0.40 of 0.50"),
        ([0, 0.05, 0.6, 0.7, 0.8], "needs 3 levels on or around 0.10 to 0.50, has 2"),
        ([0, 0, 0.6], "needs 3 levels on or around 0.10 to 0.50, has 2"),
        ([0, 0.45, 0.6], "no level between doses 0.00 and 0.45"),
        ([0.05, nan, 0.3, 0.6], ""),
        ([0.1, 0.2, 0.5], ""),
        ([0.1, 0.5, 0.9], "needs 3 levels on or around 0.10 to 0.50, has 2"),
    ],
)
def test_area_needs_three_points_without_a_wide_gap_that_cover_the_interval(x, reason):
    assert uncovered(np.array(x, dtype=float), 0.1, 0.5) == reason
    assert isnan(area(x, np.ones(len(x)), 0.1, 0.5)) == bool(reason)


@pytest.mark.parametrize(("x", "most"), [([0, 0.08, 0.44, 0.81], 0.06), ([0, 0.4, 0.74], 0.075)])
def test_area_from_three_levels_is_near_that_of_a_smooth_falling_curve(x, most):
    fine = np.linspace(0, 1, 1001)
    for falling in (lambda dose: np.exp(-4 * dose), lambda dose: np.exp(-dose), lambda dose: 1 - dose**2):
        assert area(x, falling(np.array(x)), 0.1, 0.6) == pytest.approx(area(fine, falling(fine), 0.1, 0.6), abs=most)


def test_points_at_the_ends_cover_the_interval():
    assert area([0.1, 0.2, 0.3, 0.5], [1, 1, 1, 1], 0.1, 0.5) == 1


def test_an_interval_without_width_is_refused():
    with pytest.raises(ValueError, match=r"^an area needs low < high, not 0.3 and 0.3$"):
        area([0, 1], [1, 0], 0.3, 0.3)


@given(st.lists(share, min_size=6, max_size=6), st.lists(share, min_size=6, max_size=6))
def test_area_is_monotone_and_within_its_heights(heights, losses):
    x = np.linspace(0, 1, 6)
    upper = np.array(heights)
    lower = upper - np.array(losses)
    assert area(x, lower, 0.1, 0.9) <= area(x, upper, 0.1, 0.9) + 1e-12
    assert upper.min() - 1e-12 <= area(x, upper, 0.1, 0.9) <= upper.max() + 1e-12


@pytest.mark.parametrize(
    ("x", "rho", "crossing"),
    [
        ([0, 0.2, 0.4], [1, 0.6, 0.4], 0.3),
        ([0.4, 0, 0.2], [0.4, 1, 0.6], 0.3),
        ([0, 0.2, 0.4], [1, 0.5, 0.5], 0.2),
        ([0, 0.2], [0.4, 0.3], 0),
        ([0, 0.2], [1, 0.9], inf),
        ([0, 0.1, 0.2, 0.3], [1, 0.4, 0.8, 0.2], 0.225),  # .4 and .8 pool to .6
        ([0, 0.1], [nan, nan], nan),
    ],
)
def test_r50_of_worked_cases(x, rho, crossing):
    assert r50(x, rho) == pytest.approx(crossing, nan_ok=True)


@given(curve)
def test_r50_agrees_with_pooling_pair_by_pair(points):
    x, rho = zip(*points, strict=True)
    _, fit = pooled(x, rho)
    expected = first_crossing(x, rho)
    close_to_half = np.any(np.abs(fit - 0.5) < 1e-9)
    assert close_to_half or r50(x, rho) == pytest.approx(expected, abs=1e-6)
