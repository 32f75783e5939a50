"""Planning: the loss that a design can detect, and the documents that a smaller one needs."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, Literal

import numpy as np

from ohr.statistics.estimate import NO_INTERVAL, quantile
from ohr.statistics.signs import FEWEST
from ohr.statistics.variance import Budget, predicted_error

Aim = Literal["difference", "equivalence"]
"""Aim of a study: to show that there is a difference, or that there is none above a margin."""

POWER = 0.8
"""Share of studies that find a true difference, by convention."""
MOST = 100_000
"""Documents that are considered at most."""

_POINTS = 4000  # of the quadrature over the standard error's distribution
_SPREAD, _CORRELATION = 0.35, 0.05
# of a question's difference: .15 to .37 in real runs; correlation within documents .01 to .14 within domains


def power(difference: float, se: float, df: float, alpha: float = 0.05) -> float:
    """Chance that a two-sided t test finds a true difference; by quadrature over the estimated standard error."""
    from scipy.special import ndtr

    s, t = _errors(df), float(quantile(1 - alpha / 2, df))
    return float(np.mean(ndtr(difference / se - t * s) + ndtr(-difference / se - t * s)))


def equivalence_power(margin: float, se: float, df: float, alpha: float = 0.05, true: float = 0.0) -> float:
    """Chance that two one-sided t tests at the margin both succeed, at a true difference."""
    from scipy.special import ndtr

    s, t = _errors(df), float(quantile(1 - alpha, df))
    return float(np.mean(np.clip(ndtr((margin - true) / se - t * s) - ndtr((-margin - true) / se + t * s), 0, 1)))


def documents_needed(
    difference: float,
    parts: Budget,
    per_document: float,
    draws: int,
    cv: float = 0.0,
    wanted: float = POWER,
    alpha: float = 0.05,
    aim: Aim = "difference",
) -> float:
    """Fewest documents with which a difference is found, or equivalence within it is shown, with a power.

    Args:
        difference: the true difference; with `equivalence` the margin, at no true difference.
        parts: of the squared standard error, from a pilot.
        per_document: mean questions of a document.
        draws: of the noise.
        cv: coefficient of variation of the questions per document.
        wanted: the power.
        alpha: chance of a wrong finding.
        aim: `difference` or `equivalence`.

    Edge cases: never fewer than can show it at all; inf where MOST do not suffice: what draws add does not shrink with
    documents.
    """
    chance = power if aim == "difference" else equivalence_power

    def reaches(documents: int) -> bool:
        df = documents / (1 + cv**2) - 1
        error = predicted_error(parts, documents, per_document, draws, cv)
        return df > 0 and (error == 0 or chance(difference, error, df, alpha) >= wanted)

    return _smallest(reaches, FEWEST - 1 if aim == "difference" else NO_INTERVAL - 1, MOST)


def detectable(se: float, df: float, wanted: float = POWER, alpha: float = 0.05) -> float:
    """Smallest true difference that a study with this standard error finds with a power, in steps of 0.0001."""
    if not se > 0:
        return inf
    return _smallest(lambda steps: power(steps / 10_000, se, df, alpha) >= wanted, 0, 20_000) / 10_000


def cautious(parts: Budget, df: float, confidence: float = 0.8) -> Budget:
    """Return a pilot's parts at their upper limit.

    Half of all pilots underestimate the error: a plan from 12 documents has a power of .8 in 46% of cases; with this
    limit in 80%.
    """
    factor = df / float(_chi_squared(1 - confidence, df))
    names = ("total", "documents", "questions", "draws", "question_draws", "shared")
    return replace(parts, **{name: getattr(parts, name) * factor for name in names})


def assumed(per_document: float) -> Budget:
    """Return the parts that are assumed without a pilot, for one document with this many questions, one draw.

    From real runs: a question's difference has a standard deviation of .35 (.15 to .37) and a correlation of .05 (.01
    to .14) with the others of its document.
    """
    variance = _SPREAD**2
    between, within = _CORRELATION * variance, (1 - _CORRELATION) * variance / per_document
    return Budget(between + within, between, within, 0.0, 0.0, 0.0, 1.0, 1.0, 1, per_document, 1.0)


def _errors(df: float) -> np.ndarray:
    """Return equally probable ratios of the estimated standard error to the true one."""
    places = (np.arange(_POINTS) + 0.5) / _POINTS
    return np.asarray(np.sqrt(_chi_squared(places, df) / df))


def _chi_squared(places: Any, df: float) -> Any:
    """Return quantiles of the chi-squared distribution; to import scipy.stats would take most of a second."""
    from scipy.special import gammaincinv

    return 2 * gammaincinv(df / 2, places)


def _smallest(reaches: Callable[[int], bool], low: int, most: int) -> float:
    if not reaches(most):
        return inf
    high = most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
