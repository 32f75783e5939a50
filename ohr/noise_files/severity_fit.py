"""How severe a kind of noise must be to look like given images, and how far it then is from them.

The severity comes from indirect inference with a learned summary (Fearnhead and Prangle, JRSS B 2012): a ridge
regression of the severity on the features of simulated pages gives a score of each page; the mean score of a set of
pages, or its largest one, is then read off the curve that simulated sets of known severity lie on. The score of a page
comes from pages of another fold. Where a kind draws something of each page up to the severity, and a feature measures
it, the largest size of that feature is a third summary.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.statistics.estimate import quantile

Array = NDArray[np.floating[Any]]
RATE = 0.05
"""Share of sets with a kind's own noise that are called not matched."""
_PENALTIES = (1.0, 10.0, 100.0, 1000.0)
_FOLDS = 4
_DEGREE = 3  # of the curve of scores over the severity
_NEAR = 0.3  # severities around the fitted one whose scatter is that of the fit
_WINDOW = 4  # levels beside the fitted severity from which features there are predicted
_CLIPPED = 3.0
"""Spreads by which a page's feature is off at most: a feature that is mostly 0 jumps on single pages."""


@dataclass(frozen=True, slots=True)
class Severity:
    """A severity with the interval in which it is with 95%."""

    value: float
    low: float
    high: float
    se: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A kind at the severity that fits best.

    Args:
        distance: root mean square of the features' differences, in standard errors of a set of pages.
        threshold: what it stays below for the kind's own noise.
        most: the largest difference of a feature, in standard errors.
        most_threshold: what it stays below for the kind's own noise. Of such sets, 1 - `RATE` stay below both.
        likelihood: mean logarithm of the density of a page, up to a constant: what kinds are ranked by.
        worst: place of the feature that differs most.
    """

    severity: Severity
    distance: float
    threshold: float
    most: float
    most_threshold: float
    likelihood: float
    worst: int

    @property
    def matched(self) -> bool:
        """Whether pages with the kind's own noise are as far."""
        return self.distance <= self.threshold and self.most <= self.most_threshold


class Curves:
    """Scores of simulated and of given pages.

    Args:
        levels: (L,) severities. simulated: (L, n, F) features. given: (n, F) features of the same pages.
        drawn: the place of the feature that measures what is drawn up to the severity, if there is one.
    """

    def __init__(self, levels: Array, simulated: Array, given: Array, drawn: int | None = None) -> None:
        """Learn the scores."""
        self.levels = levels
        self.sizes = None if drawn is None else (np.abs(simulated[..., drawn]), np.abs(given[:, drawn]))
        count, pages, _ = simulated.shape
        usual = _own(simulated)
        simulated, given = simulated - usual, given - usual
        flat = simulated.reshape(count * pages, -1)
        spread, low, high = flat.std(axis=0), flat.min(axis=0), flat.max(axis=0)
        unit = np.where(spread > 1e-9, spread, 1)
        first, second = (np.clip(np.clip(part, low, high) / unit, -4, 4) for part in (simulated, given))
        self.simulated, self.given = np.zeros((count, pages)), np.zeros(pages)
        fold = np.arange(pages) % min(_FOLDS, pages)
        best = min(_PENALTIES, key=lambda penalty: self._learn(first, second, fold, penalty))
        self._learn(first, second, fold, best)

    def _learn(self, simulated: Array, given: Array, fold: NDArray[np.int64], penalty: float) -> float:
        """Score the pages of each fold by a regression on the others; returns the mean square error."""
        for number in np.unique(fold):
            others, own = fold != number, fold == number
            table = simulated[:, others].reshape(-1, simulated.shape[-1])
            wanted = np.repeat(self.levels, others.sum())
            center, target = table.mean(axis=0), wanted.mean()
            gram = (table - center).T @ (table - center) + penalty * np.eye(table.shape[1])
            weights = np.linalg.solve(gram, (table - center).T @ (wanted - target))
            self.simulated[:, own] = (simulated[:, own] - center) @ weights + target
            self.given[own] = (given[own] - center) @ weights + target
        return float(np.square(self.simulated - self.levels[:, None]).mean())

    def severity(self, pages: NDArray[np.int64]) -> Severity:
        """Return the severity of some pages, by the summary that scatters least."""
        simulated, given = self.simulated[:, pages], self.given[pages]
        own = simulated - simulated.mean(axis=0)
        own -= own.mean(axis=1, keepdims=True)
        freedom = (len(pages) - 1) * (1 - 1 / len(self.levels)) * len(pages)
        by_mean = self._read_off(simulated.mean(axis=1), float(given.mean()), np.square(own).sum(axis=1) / freedom)
        known = [by_mean, self._read_off(simulated.max(axis=1), float(given.max()), None)]
        if self.sizes:
            simulated, given = self.sizes[0][:, pages].max(axis=1), self.sizes[1][pages]
            unit = np.ptp(simulated) / np.ptp(self.levels)  # as scores are: one for each severity
            if unit > 1e-9:  # else nothing of it was measured on any page
                known.append(self._read_off(simulated / unit, float(given.max() / unit), None))
        return min(known, key=lambda each: each[1])[0]

    def _read_off(self, heights: Array, height: float, off: Array | None) -> tuple[Severity, float]:
        """Return the severity at which a curve has a height, and the mean error over all severities.

        Args:
            off: (L,) variance of each height; that around the curve where none is given.
        """
        freedom = len(self.levels) - _DEGREE - 1
        curve = np.polynomial.Polynomial.fit(self.levels, heights, _DEGREE, domain=[0, 1])
        fine = np.linspace(0, 1, 1001)
        rising = np.maximum.accumulate(curve(fine))
        if off is None:
            off = np.square(heights - curve(self.levels)) * len(self.levels) / freedom
        slope = np.maximum(np.gradient(rising, fine), 0.05)
        own = 1 + (_DEGREE + 1) / len(self.levels)  # the curve scatters too

        near = np.exp(-np.square((self.levels - fine[:, None]) / _NEAR))
        scatter = np.sqrt(near @ off / near.sum(axis=1))
        errors = np.sqrt(own) * scatter / slope
        place = int(np.clip(np.searchsorted(rising, height), 0, len(fine) - 1))
        value, se, far = float(fine[place]), float(errors[place]), float(quantile(0.975, freedom))
        # a kind that changes in steps has the same pages at several severities: all of them are in the interval
        same = self.levels[np.abs(heights - height) <= far * np.sqrt(2) * scatter[place]]
        low, high = float(min((value - far * se, *same))), float(max((value + far * se, *same)))
        return Severity(value, max(0.0, low), min(1.0, high), se), float(errors[100::100].mean())


def fit(levels: Array, simulated: Array, given: Array, floor: Array, limits: Array, drawn: int | None = None) -> Fit:
    """Fit the severity of a kind on each half of the pages, and test it on the other half.

    Args:
        levels: (L,) severities, at least 8.
        simulated: (L, n, F) features.
        given: (n, F) features of the same pages.
        floor: (F,) the least spread of each feature that counts.
        limits: (2,) those of the kind on these pages.
        drawn: see Curves.
    """
    distance, most = limits
    halves = np.sqrt((len(given[::2]), len(given[1::2]))).sum() / np.sqrt(2)
    # a limit may be more than a clipped difference can be; one that is clipped on all pages refuses
    most = min(most, 0.99 * _CLIPPED * halves / np.sqrt(1 + 1 / _WINDOW))
    fitted = _test(levels, simulated, given, floor, drawn)
    return replace(fitted, threshold=float(distance), most_threshold=float(most))


def own_tests(levels: Array, simulated: Array, floor: Array, drawn: int | None = None) -> Array:
    """Test a kind on its own noise: each level but the first and last is taken for given pages, and fitted by others.

    Returns:
        (L - 2, 2): logarithms of the distance and of the largest difference.
    """
    rows = []
    for place in range(1, len(levels) - 1):
        others = np.arange(len(levels)) != place
        own = _test(levels[others], simulated[others], simulated[place], floor, drawn)
        rows.append((own.distance, own.most))
    return np.log(np.array(rows) + 1e-6)


def limits_of(tests: Mapping[str, Array]) -> dict[str, Array]:
    """Return the limits of kinds, (2,), from what `own_tests` gives of each.

    They are the upper limits of prediction of the logarithms, at half of `RATE` each (Bonferroni). The scatter of a few
    levels is uncertain, so that of all kinds together counts as much as the kind's own.
    """
    own = {kind: rows.var(axis=0, ddof=1) for kind, rows in tests.items()}
    usual, limits = np.mean(list(own.values()), axis=0), {}
    for kind, rows in tests.items():
        spread = np.sqrt((own[kind] + usual) / 2 * (1 + 1 / len(rows)))
        reach = float(quantile(1 - RATE / 2, min(2, len(tests)) * (len(rows) - 1)))
        limits[kind] = np.asarray(np.exp(rows.mean(axis=0) + reach * spread))
    return limits


def _test(levels: Array, simulated: Array, given: Array, floor: Array, drawn: int | None) -> Fit:
    """Fit pages, without limits."""
    curves, pages = Curves(levels, simulated, given, drawn), np.arange(len(given))
    halves, tests = (pages[::2], pages[1::2]), []
    for fitted, tested in (halves, halves[::-1]):
        severity = curves.severity(fitted)
        reach = severity.value + severity.se * np.linspace(-2, 2, 9)
        tests.append(
            min(
                (_Near(levels, simulated[:, tested], given[tested], floor, at) for at in np.clip(reach, levels[0], 1)),
                key=lambda near: near.distance,
            )
        )
    differences = np.abs(sum(near.differences for near in tests)) / np.sqrt(2)
    return Fit(
        curves.severity(pages),
        distance=float(np.sqrt(np.mean([near.distance**2 for near in tests]))),
        threshold=nan,
        most=float(differences.max()),
        most_threshold=nan,
        likelihood=float(np.mean([near.likelihood for near in tests])),
        worst=int(np.argmax(differences)),
    )


class _Near:
    """Pages against a kind's noise at one severity: each page's features there are predicted from levels beside it.

    Args:
        differences: (F,) of the features, in standard errors.
        distance: their root mean square.
        likelihood: mean logarithm of the density of a page.
    """

    def __init__(self, levels: Array, simulated: Array, given: Array, floor: Array, at: float) -> None:
        """Compare the features of pages."""
        beside = np.sort(np.argsort(np.abs(levels - at))[:_WINDOW])
        steps = (levels[beside] - at)[:, None, None]
        window = simulated[beside]
        centered = window - window.mean(axis=(0, 1))
        slope = ((steps - steps.mean()) * centered).sum(axis=(0, 1))
        slope /= max(float(np.square(steps - steps.mean()).sum()) * window.shape[1], 1e-9)
        here = window - slope * steps  # as if all were at this severity
        expected = here.mean(axis=0)
        freedom = max(given.shape[0] * (_WINDOW - 1) - 1, 1)
        spread = np.maximum(np.sqrt(np.square(here - expected).sum(axis=(0, 1)) / freedom), floor)
        off = np.clip((given - expected) / spread, -_CLIPPED, _CLIPPED)
        self.differences = off.sum(axis=0) / np.sqrt(len(given) * (1 + 1 / _WINDOW))
        self.distance = float(np.sqrt(np.mean(np.square(self.differences))))
        self.likelihood = float((-0.5 * np.square(off) - np.log(spread)).sum(axis=1).mean())


def _own(simulated: Array) -> Array:
    """Return what is a page's own in its features, (n, F): their means over (L, n, F), shrunk as far as drawn.

    The share that stays is that of the variance among pages which is not the draws' (James and Stein's idea).
    """
    means = simulated.mean(axis=0)
    rest = simulated - means - simulated.mean(axis=1, keepdims=True) + simulated.mean(axis=(0, 1))
    count, pages, _ = simulated.shape
    drawn = np.square(rest).sum(axis=(0, 1)) / ((count - 1) * (pages - 1) * count)
    among = np.maximum(means.var(axis=0, ddof=1), 1e-12)
    return np.asarray(means.mean(axis=0) + np.maximum(0, 1 - drawn / among) * (means - means.mean(axis=0)))


def nearest(given: Array, simulated: Mapping[str, Array], most: int) -> list[str]:
    """Return the kinds that some pages may have, the likeliest first, from few simulated pages.

    Args:
        given: (n, F) features.
        simulated: of each kind (L, n, F), from L severities.
        most: how many kinds are returned.
    """
    tables = list(simulated.values())
    spread = np.sqrt(np.mean([np.var(each, axis=1).mean(axis=0) for each in tables], axis=0))
    floor = 0.02 * np.concatenate([each.reshape(-1, each.shape[-1]) for each in tables]).std(axis=0) + 1e-6
    unit = np.maximum(spread, floor)
    off = {
        kind: float(np.minimum(np.square((each - given) / unit), 16).mean(axis=(1, 2)).min())
        for kind, each in simulated.items()
    }
    return sorted(off, key=lambda kind: off[kind])[:most]
