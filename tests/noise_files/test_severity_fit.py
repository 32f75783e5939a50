"""Severities that are fitted to features, and sets that match a kind's noise or not."""

from math import isclose

import numpy as np
import pytest

from ohr.noise_files.severity_fit import RATE, Curves, Fit, fit, limits_of, nearest, own_tests

LEVELS = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
PAGES = 16
FLOOR = np.full(8, 1e-6)


def measured(severity: float, rng: np.random.Generator, kind: int = 0) -> np.ndarray:
    """Return features of pages, (16, 8): some rise with the severity, each kind's in its own way, the others do not."""
    page = np.random.default_rng(5).normal(0, 1, (PAGES, 8))
    rise = np.array([3.0, 1.0, np.sqrt(severity) * 4, 0, 0, 0, 0, 0]) * severity
    return page + np.roll(rise, 3 * kind) + rng.normal(0, 0.3, (PAGES, 8)) * np.linspace(0.3, 1, 8)


def levels(kind: int = 0) -> np.ndarray:
    """Return simulated features, (11, 16, 8)."""
    return np.array([measured(level, np.random.default_rng(100 + place), kind) for place, level in enumerate(LEVELS)])


def limited(simulated: np.ndarray, given: np.ndarray, floor: np.ndarray = FLOOR) -> Fit:
    """Fit pages with the limits of the kind alone."""
    limits = limits_of({"own": own_tests(LEVELS, simulated, floor)})["own"]
    return fit(LEVELS, simulated, given, floor, limits)


@pytest.mark.parametrize("severity", [0.1, 0.35, 0.6, 0.85])
def test_a_severity_is_recovered_and_its_interval_holds_it(severity: float) -> None:
    found = limited(levels(), measured(severity, np.random.default_rng(7)))
    assert found.severity.value == pytest.approx(severity, abs=0.05)
    assert found.severity.low <= severity <= found.severity.high
    assert found.matched


def test_the_interval_holds_all_severities_whose_noise_is_the_same() -> None:
    """As that of `multi_doc`, which has one, two or four further sheets."""
    stepped = [measured(np.ceil(3 * level) / 3, np.random.default_rng(50 + at)) for at, level in enumerate(LEVELS)]
    for severity in (0.4, 0.6):
        fitted = limited(np.array(stepped), measured(2 / 3, np.random.default_rng(7))).severity
        assert 0.3 < fitted.low <= severity <= fitted.high < 0.7


def test_noise_of_another_kind_does_not_match() -> None:
    given = measured(0.5, np.random.default_rng(7), kind=1)
    found = limited(levels(), given)
    assert found.distance > 2 * found.threshold
    assert found.worst in (3, 4, 5)


def test_a_kind_s_own_noise_is_rejected_about_as_often_as_stated() -> None:
    limits, wrong = limits_of({"own": own_tests(LEVELS, levels(), FLOOR)})["own"], 0
    for seed in range(20):
        given = measured(0.5, np.random.default_rng(1000 + seed))
        wrong += not fit(LEVELS, levels(), given, FLOOR, limits).matched
    assert wrong <= 20 * RATE + 4


def test_the_largest_score_is_used_where_the_severity_bounds_what_is_drawn() -> None:
    """An angle drawn from [0, severity]: the largest of 40 says more than their mean."""
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        simulated = rng.uniform(0, 1, (11, 40, 1)) * LEVELS[:, None, None]
        curves = Curves(LEVELS, simulated, rng.uniform(0, 0.6, (40, 1)))
        errors.append(curves.severity(np.arange(40)).value - 0.6)
    mean_of_40 = 0.6 / np.sqrt(3 * 40)  # the error of twice the mean
    assert np.std(errors) < mean_of_40


def test_the_feature_that_measures_what_is_drawn_says_more_than_scores() -> None:
    """Of 24 angles up to .6 the largest is some .02 below .6; a score of 40 features has their noise, too."""
    off: dict[int | None, list[float]] = {0: [], None: []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        angles = rng.uniform(-1, 1, (12, 24, 1)) * np.append(LEVELS, 0.6)[:, None, None]
        others = angles.clip(0) + rng.normal(0, 1, (12, 24, 40))
        pages = np.concatenate((6 * angles, others), axis=2)
        for drawn, errors in off.items():
            severity = Curves(LEVELS, pages[:-1], pages[-1], drawn).severity(np.arange(24))
            errors.append(severity.value - 0.6)
    by_angle, by_score = (float(np.sqrt(np.mean(np.square(errors)))) for errors in off.values())
    assert by_angle < 0.05 < by_score / 2


def test_features_that_never_change_fit_nothing_and_raise_nothing() -> None:
    same = np.ones((11, PAGES, 8))
    fitted = limited(same, same[0])
    assert isclose(fitted.distance, 0)
    severity = Curves(LEVELS, same, same[0], 0).severity(np.arange(PAGES))
    assert 0 <= severity.low <= severity.value <= severity.high <= 1


def test_the_nearest_kind_comes_first() -> None:
    given = measured(0.5, np.random.default_rng(9), kind=1)
    assert nearest(given, {"a": levels(0)[[2, 5, 9]], "b": levels(1)[[2, 5, 9]]}, 1) == ["b"]


def test_noise_with_a_single_feature_that_is_off_does_not_match() -> None:
    """Of 64 features one is two spreads off on each page: the root mean square alone hides it."""
    rng = np.random.default_rng(8)
    simulated = np.concatenate([levels(), rng.normal(0, 1, (len(LEVELS), PAGES, 56))], axis=2)
    given = np.concatenate([measured(0.5, rng), rng.normal(0, 1, (PAGES, 56))], axis=1)
    given[:, 40] += 2.0
    found = limited(simulated, given, np.full(64, 1e-6))
    assert found.distance <= found.threshold
    assert (found.worst, found.most > found.most_threshold) == (40, True)


def test_a_feature_that_is_far_off_on_all_pages_is_refused_whatever_the_limit() -> None:
    given = measured(0.5, np.random.default_rng(7))
    given[:, 7] += 100
    assert not fit(LEVELS, levels(), given, FLOOR, np.array([99.0, 99.0])).matched
