"""The ratio of two losses, with Fieller's interval."""

from math import inf, sqrt

import numpy as np
import pytest
from scipy.stats import t

from studies.kept_scores import Scores, ratio

CELLS = [(condition, by) for by in ("retrieval", "answers") for condition in ("gt", "noisy")]


def scores(first, second):
    """Scores of questions, one about each document, that lose these shares."""
    losses = np.array([first, second], dtype=float)
    values = {cell: np.ones(len(first)) for cell in CELLS} | dict(zip(CELLS[1::2], 1 - losses, strict=True))
    documents = np.array([f"law/{number}" for number in range(len(first))])
    return Scores(documents.tolist(), documents, np.full(len(first), "law"), documents, values)


def fieller(first, second):
    """Solve (y - r x)^2 = q^2 var(y - r x) for r."""
    count = len(first)
    (sxx, sxy), (_, syy) = np.cov(first, second) / count
    x, y, square = np.mean(first), np.mean(second), t.ppf(0.975, count - 1) ** 2
    a, b, c = x**2 - square * sxx, x * y - square * sxy, y**2 - square * syy
    return sorted((b + sign * sqrt(b**2 - a * c)) / a for sign in (-1, 1))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_interval_is_that_of_the_formula(sign):
    drawn = np.random.default_rng(3)
    first = sign * drawn.uniform(0.2, 0.6, 40)
    second = 0.4 * first + drawn.normal(0, 0.1, 40)
    share = ratio(scores(first, second), CELLS)
    assert share.mean == pytest.approx(second.mean() / first.mean())
    assert [share.low, share.high] == pytest.approx(fieller(first, second), rel=1e-6)


def test_a_ratio_that_every_document_has_is_its_own_interval():
    share = ratio(scores([0.4] * 20, [0.2] * 20), CELLS)
    assert (share.low, share.mean, share.high) == pytest.approx((0.5, 0.5, 0.5))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("second", [[0.2] * 20, [0.0] * 20])
def test_over_a_loss_of_nothing_any_ratio_is_possible(second):
    share = ratio(scores([0.0] * 20, second), CELLS)
    assert (share.low, share.high) == (-inf, inf)


def test_over_a_loss_that_is_not_shown_an_end_is_infinite():
    drawn = np.random.default_rng(0)
    share = ratio(scores(drawn.normal(0.02, 0.3, 30), drawn.normal(0.3, 0.1, 30)), CELLS)
    assert inf in (-share.low, share.high)
