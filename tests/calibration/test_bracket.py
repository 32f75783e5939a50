"""The strength for a dose is found with few measurements, also where the dose does not grow with it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.runner.calibration.bracket import Found, Unreachable, search

SCAN = (0.0, 0.1, 1.0)


class Curve:
    """A dose as a function of the strength; counts what is measured."""

    def __init__(self, dose):
        self.dose, self.asked = dose, []

    def __call__(self, strengths):
        self.asked += strengths
        return [self.dose(strength) for strength in strengths]


CURVES = {
    "straight": lambda x: x,
    "square": lambda x: x * x,
    "saturating": lambda x: 1 - math.exp(-5 * x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-12 * (x - 0.5))),
    "helps first": lambda x: 0.2 - x if x < 0.1 else 0.1 + (x - 0.1),
    "falls": lambda x: 1 - x,
    "steps": lambda x: math.floor(x * 40) / 40,
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("target", [0.2, 0.4, 0.6])
def test_a_target_is_met_within_eight_measurements(name, target):
    curve = Curve(CURVES[name])
    (found,) = search(curve, [target], scan=SCAN, tolerance=0.03, passes=8)
    assert isinstance(found, Found) and found.met
    assert abs(curve.dose(found.value) - target) <= 0.03
    assert found.achieved == curve.dose(found.value)
    assert len(curve.asked) == len(set(curve.asked)) == len(found.passes) <= 8


def test_targets_share_their_scan_and_are_measured_side_by_side():
    curve, rounds = Curve(CURVES["sigmoid"]), []

    def measure(strengths):
        rounds.append(len(strengths))
        return curve(strengths)

    found = search(measure, [0.2, 0.4, 0.6], scan=SCAN, tolerance=0.005, passes=12)
    assert all(one.met for one in found)
    assert rounds[0] == len(SCAN) and rounds[1] in (2, 3)
    assert len(curve.asked) == len(set(curve.asked))


def test_a_target_out_of_reach_is_reported_with_the_range():
    low, high = search(Curve(lambda x: 0.1 + 0.5 * x), [0.02, 0.9], scan=SCAN, tolerance=0.01, passes=8)
    assert isinstance(low, Unreachable) and isinstance(high, Unreachable)
    assert (high.lowest, high.highest) == (0.1, 0.6)


def test_a_hill_between_two_strengths_of_the_scan_is_found():
    curve = Curve(lambda x: 0.1 + 0.5 * math.exp(-(((x - 0.6) / 0.2) ** 2)))
    (found,) = search(curve, [0.4], scan=SCAN, tolerance=0.03, passes=8)
    assert isinstance(found, Found) and found.met


@pytest.mark.parametrize("seed", range(5))
def test_questions_that_break_one_by_one_are_met_within_eight_measurements(seed):
    """Sixty questions, each with a strength of its own at which it breaks, as OCR does: most at small strengths."""
    draws = np.random.default_rng(seed)
    breaking = 0.15 * np.exp(draws.uniform(0.2, 0.8) * draws.standard_normal(60))
    curve = Curve(lambda x: float((breaking < x).mean()))
    for found in search(curve, [0.1, 0.3, 0.5, 0.8], scan=SCAN, tolerance=0.015, passes=8):
        assert isinstance(found, Found)
        assert abs(found.achieved - found.target) <= 0.03


def test_a_cliff_gives_the_nearest_dose_and_says_that_it_is_not_met():
    curve = Curve(lambda x: 0.22 if x < 0.3 else 0.97)
    (found,) = search(curve, [0.4], scan=SCAN, tolerance=0.01, passes=50)
    assert not found.met
    assert found.achieved == 0.22 and found.value < 0.3
    assert len(found.passes) < 30


@given(
    st.lists(st.floats(0, 1), min_size=3, max_size=9),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
    st.floats(0.001, 0.1),
    st.integers(4, 12),
)
def test_any_continuous_curve_is_searched_within_the_budget(heights, targets, tolerance, passes):
    def dose(x):
        place = x * (len(heights) - 1)
        low = min(int(place), len(heights) - 2)
        return heights[low] + (heights[low + 1] - heights[low]) * (place - low)

    for target, found in zip(
        targets, search(Curve(dose), targets, scan=SCAN, tolerance=tolerance, passes=passes), strict=True
    ):
        if isinstance(found, Unreachable):
            assert not found.lowest - tolerance <= target <= found.highest + tolerance
        else:
            assert found.achieved == dose(found.value)
            assert found.met == (abs(found.achieved - target) <= tolerance)
            assert len(found.passes) <= passes
            nearest = min(abs(y - target) for _, y in found.passes)
            assert abs(found.achieved - target) <= nearest
