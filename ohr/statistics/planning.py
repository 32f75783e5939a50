"""Planning: the loss that a study finds, and the documents that one needs; one rule for all that say so."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, isinf, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from ohr.statistics.clusters import Clusters, Floats
from ohr.statistics.estimate import NO_INTERVAL, STILL, quantile
from ohr.statistics.signs import ALPHA, fewest
from ohr.statistics.variance import Budget, predicted_error

Aim = Literal["difference", "equivalence"]
"""Aim of a study: to show that there is a difference, or that there is none above a margin."""

POWER = 0.8
"""Share of studies that find a true difference, by convention."""
LIMIT = 0.9
"""Confidence of the ends of a range: so large is the share of pilots whose upper end suffices for POWER."""
MOST = 100_000
"""Documents that are considered at most."""

_POINTS = 4000  # of the quadrature over the standard error's distribution
_CERTAIN, _ONE_SIDED = 30.0, 4.0  # standard errors: beyond, nctdtr may give no number for what is 1, or 1e-9 at most
_HALVINGS = 40  # to the precision of what is compared with
_SPREAD, _CORRELATION = (0.25, 0.45), (0.01, 0.14)
# of a question's difference: low and high in real runs, as is its correlation within documents


class Range(NamedTuple):
    """A number that suffices if a pilot's error was too large, as one in ten is, and if too small; inf where none."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Changes:
    """How questions change between two cells: what the error of another loss is derived from.

    A larger loss is one of which more questions change, in both directions, by as much as those that do here. So its
    mean square is `square` + (loss - `loss`) * `size`, its variance is that less loss^2, and the squared error grows as
    the variance.

    Args:
        loss: mean difference, of either sign.
        square: mean of the squared differences.
        size: what a unit of further loss adds to `square`: the size of the changes, weighted by their size, which is 1
            where questions are lost whole; more where gains make up for losses, at most twice as much.
        documents: share of the documents in which some question changes.
        per_document: mean questions of a document.
    """

    loss: float
    square: float
    size: float
    documents: float
    per_document: float

    @classmethod
    def of(cls, values: Floats, clusters: Clusters) -> "Changes":
        """Describe (n,) differences of the questions of clusters; nothing undefined, and something changed."""
        square, share = float((values**2).mean()), clusters.sums((values != 0).astype(float)[None, :])[0] > 0
        loss, moved = float(values.mean()), float(np.abs(values).mean())
        size = square / max(abs(loss), moved / 2)
        return cls(loss, square, size, float(share.mean()), float(clusters.counts.mean()))

    def square_of(self, documents: float, more: float) -> float:
        """Return the mean square with which so large a share of the documents changes, of `more` times the questions.

        The square is in proportion to the questions that change, and these are taken as independent of each other.
        """
        here, there = (
            1 - (1 - share) ** (1 / questions)
            for share, questions in (
                (min(self.documents, _NEARLY_ALL), self.per_document),
                (documents, self.per_document * more),
            )
        )
        return float(self.square * there / here)


_NEARLY_ALL = 0.98
"""Share of the documents that change where all of a pilot did: of another study some may not."""


def power(difference: float, se: float, df: float, alpha: float = ALPHA) -> float:
    """Chance that a two-sided t test finds a true difference: the noncentral t distribution."""
    from scipy.special import nctdtr

    t, center = float(quantile(1 - alpha / 2, df)), difference / se
    if center > _CERTAIN:
        return 1.0
    other_side = nctdtr(df, center, -t) if center < _ONE_SIDED else 0.0
    return float(1 - nctdtr(df, center, t) + other_side)


def detectable(
    error: float, documents: float, df: float, among: int = 1, changes: Changes | None = None, more: float = 1.0
) -> float:
    """Smallest true loss that a study shows among its comparisons with POWER; inf where it shows none.

    Both tests of `differences` must show it: the t test at ALPHA / among, as in the first step of `holm`, and the
    sign-flip test, for which at least `fewest` documents must change in four of five studies. This is the rule of
    `ohr plan`, of a run's advice, of tables and of `ohr compare`.

    Args:
        error: the study's standard error, if its loss were that of `changes`.
        documents: of the study.
        df: of its error.
        among: comparisons that are judged together.
        changes: how questions change; by default the error is that of any loss, and every document changes.
        more: questions of a document, relative to those of `changes`.
    """
    if documents < fewest(among) or not df > 0:
        return inf
    size = _noncentrality(round(df, 1), among) * error
    if changes is None or isinf(size):
        return size if size <= 1 else inf
    share = size**2 / max(changes.square - changes.loss**2, STILL)  # loss^2 = share * (variance at that loss)
    add, usual = share * changes.size, abs(changes.loss)
    least = max(changes.square - usual * changes.size, 0.0)
    by_t = (add + sqrt(add**2 + 4 * (1 + share) * share * least)) / (2 * (1 + share))
    square = changes.square_of(_share_of_documents(int(documents), fewest(among)), more)
    found = max(by_t, usual + (square - changes.square) / changes.size)
    return found if found <= 1 else inf


@lru_cache(maxsize=4096)
def _noncentrality(df: float, among: int) -> float:
    """Return the true difference, in standard errors, that a t test at ALPHA / among finds with POWER; or inf."""
    found = _least(lambda size: power(size, 1.0, df, ALPHA / among) >= POWER, _CERTAIN)
    return found if found < _CERTAIN else inf  # few degrees of freedom and many comparisons: no difference is found


@lru_cache(maxsize=4096)
def _share_of_documents(documents: int, least: int) -> float:
    """Return the share of documents that must change so that in POWER of studies at least so many do."""
    from scipy.special import bdtrc

    return _least(lambda share: bool(bdtrc(least - 1, documents, share) >= POWER), _NEARLY_ALL)


def _least(reaches: Callable[[float], bool], most: float) -> float:
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def equivalence_power(margin: float, se: float, df: float, alpha: float = 0.05, true: float = 0.0) -> float:
    """Chance that two one-sided t tests at the margin both succeed, at a true difference."""
    from scipy.special import ndtr

    places, t = (np.arange(_POINTS) + 0.5) / _POINTS, float(quantile(1 - alpha, df))
    s = np.sqrt(
        _chi_squared(places, df) / df
    )  # equally probable ratios of the estimated standard error to the true one
    return float(np.mean(np.clip(ndtr((margin - true) / se - t * s) - ndtr((-margin - true) / se + t * s), 0, 1)))


def documents_needed(
    difference: float,
    parts: Budget,
    per_document: float,
    draws: int,
    cv: float = 0.0,
    among: int = 1,
    changes: Changes | None = None,
    aim: Aim = "difference",
) -> float:
    """Fewest documents with which a difference is found, or equivalence within it is shown, with POWER.

    Args:
        difference: the true difference; with `equivalence` the margin, at no true difference.
        parts: of the squared standard error, from a pilot.
        per_document: mean questions of a document.
        draws: of the noise.
        cv: coefficient of variation of the questions per document.
        among: comparisons that are judged together; equivalence is judged alone.
        changes: as of `detectable`, in the pilot.
        aim: `difference` or `equivalence`.

    Edge cases: never fewer than can show it at all; inf where MOST do not suffice: what draws add does not shrink with
    documents.
    """

    more = per_document / parts.per_document

    def reaches(documents: int) -> bool:
        df = documents / (1 + cv**2) - 1
        error = predicted_error(parts, documents, per_document, draws, cv)
        if not df > 0 or error == 0:
            return df > 0
        if aim == "equivalence":
            return equivalence_power(difference, error, df) >= POWER
        return detectable(error, documents, df, among, changes, more) <= difference

    return _smallest(reaches, fewest(among) - 1 if aim == "difference" else NO_INTERVAL - 1, MOST)


def limits(parts: Budget, df: float, confidence: float = LIMIT) -> tuple[Budget, Budget]:
    """Return a pilot's parts at their lower and at their upper limit, each with this confidence.

    Half of all pilots underestimate the error.
    """
    low, high = (_scaled(parts, df / float(_chi_squared(share, df))) for share in (confidence, 1 - confidence))
    return low, high


def upper_error(se: float, df: float) -> float:
    """Return a standard error at its upper limit, with the confidence LIMIT."""
    return se * sqrt(df / float(_chi_squared(1 - LIMIT, df)))


def _scaled(parts: Budget, factor: float) -> Budget:
    names = ("total", "documents", "questions", "draws", "question_draws", "shared")
    return replace(parts, **{name: getattr(parts, name) * factor for name in names})


def assumed(per_document: float) -> tuple[Budget, Budget]:
    """Return the parts that are assumed without a pilot, low and high, for one document with this many questions.

    From real runs: a question's difference has a standard deviation of .25 to .45 and a correlation of .01 to .14 with
    the others of its document.
    """
    low, high = (
        _assumed(spread**2, correlation, per_document)
        for spread, correlation in ((_SPREAD[0], _CORRELATION[0]), (_SPREAD[1], _CORRELATION[1]))
    )
    return low, high


def _assumed(variance: float, correlation: float, per_document: float) -> Budget:
    between, within = correlation * variance, (1 - correlation) * variance / per_document
    return Budget(between + within, between, within, 0.0, 0.0, 0.0, 1.0, 1.0, 1, per_document, 1.0)


def assumed_changes(per_document: float) -> Changes:
    """Return how questions change without a pilot: whole, as answers that are right or wrong do.

    At a loss of 10 points they have the high standard deviation, and at a loss of 1 all change. At a loss of one half
    just half of them do: none gains, so that no more documents change than must.
    """
    square = 0.1**2 + _SPREAD[1] ** 2
    size = (1 - square) / 0.9
    questions = square * 0.5 / (square + 0.4 * size)
    return Changes(0.1, square, size, 1 - (1 - questions) ** per_document, per_document)


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
