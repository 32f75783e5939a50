"""The loss that a study finds: against other implementations, and by hand."""

from math import inf, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, chi2, norm, t

from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import comparisons
from ohr.statistics.intervals import differences
from ohr.statistics.planning import (
    Changes,
    assumed,
    assumed_changes,
    detectable,
    documents_needed,
    limits,
    power,
    upper_error,
)
from ohr.statistics.signs import fewest
from ohr.statistics.variance import Budget


def t_power(size, df, alpha):
    """Power of a two-sided t test whose true difference is that many standard errors: the mean over their estimates."""
    estimated = np.sqrt(chi2.ppf((np.arange(20_000) + 0.5) / 20_000, df) / df)
    reach = t.ppf(1 - alpha / 2, df) * estimated
    return (norm.cdf(size - reach) + norm.cdf(-size - reach)).mean()


def needed_size(df, among):
    return brentq(lambda size: t_power(size, df, 0.05 / among) - 0.8, 0.1, 20)


@pytest.mark.parametrize("df", [4, 9, 19, 150])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 12])
def test_power_is_that_of_the_noncentral_t_distribution(df, alpha):
    for size in (0.0, 0.5, 2.0, 3.5, 6.0):
        assert power(size * 0.03, 0.03, df, alpha) == pytest.approx(t_power(size, df, alpha), abs=1e-4)
    assert power(0.0, 1.0, df, alpha) == pytest.approx(alpha)
    assert power(2.0, 0.01, df, alpha) == 1.0


@pytest.mark.parametrize("among", [1, 5, 40])
def test_the_loss_that_is_found_has_a_power_of_four_fifths_at_the_first_step_of_holm(among):
    loss = detectable(0.02, 30, 29.0, among)
    assert loss == pytest.approx(0.02 * needed_size(29, among), rel=1e-4)
    assert power(loss, 0.02, 29.0, 0.05 / among) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize("among", [1, 2, 12])
def test_fewer_documents_than_can_show_anything_find_no_loss(among):
    least = fewest(among)
    assert detectable(0.001, least - 1, least - 2.0, among) == inf
    assert detectable(0.001, least, least - 1.0, among) < inf
    changes = Changes(0.1, 0.05, 0.5, 1.0, 5.0)
    assert detectable(0.001, least - 1, least - 2.0, among, changes) == inf


def test_with_hardly_any_degrees_of_freedom_no_loss_is_found_among_many():
    assert t_power(30, 2.0, 0.05 / 40) < 0.8  # a document with nearly all questions, among eleven small ones
    assert detectable(0.02, 12, 2.0, 40) == inf
    assert detectable(0.02, 12, 2.0, 40, Changes(0.1, 0.05, 0.5, 1.0, 5.0)) == inf


def test_a_loss_has_the_error_of_its_own_size():
    changes = Changes(loss=0.1, square=0.05, size=0.5, documents=0.9, per_document=5.0)
    loss = detectable(0.02, 20, 19.0, 3, changes)
    # the squared error is in proportion to the variance, which is the mean square less the squared loss
    here, there = 0.05 - 0.1**2, 0.05 + (loss - 0.1) * 0.5 - loss**2
    assert loss == pytest.approx(needed_size(19, 3) * 0.02 * sqrt(there / here), rel=1e-4)
    assert loss < detectable(0.02, 20, 19.0, 3)  # 7 points are lost by fewer changes than 10


@pytest.mark.parametrize("questions", [1, 4])
def test_where_few_documents_change_so_many_must_as_the_sign_flip_test_needs(questions):
    changes = Changes(loss=0.1, square=0.05, size=0.5, documents=0.05, per_document=questions)
    loss = detectable(0.001, 20, 19.0, 1, changes)
    share = brentq(lambda share: binom.sf(fewest() - 1, 20, share) - 0.8, 0.01, 0.99)
    here, there = (1 - (1 - part) ** (1 / questions) for part in (0.05, share))  # of the questions
    assert loss == pytest.approx(0.1 + (0.05 * there / here - 0.05) / 0.5, rel=1e-4)
    twice = 1 - (1 - share) ** (1 / (2 * questions))  # of twice as many, fewer must change
    assert detectable(0.001, 20, 19.0, 1, changes, more=2.0) == pytest.approx(0.1 + (0.05 * twice / here - 0.05) / 0.5)
    assert detectable(0.001, 8, 7.0, 1, changes) == inf  # more than everything would have to be lost


@pytest.mark.parametrize("among", [1, 5, 12])
@pytest.mark.parametrize("loss", [0.5, 0.9])
@pytest.mark.parametrize("questions", [1, 3])
def test_a_plan_without_a_pilot_suffices_where_answers_are_right_or_wrong(questions, loss, among):
    rng = np.random.default_rng(1)
    changes = assumed_changes(questions)
    documents = documents_needed(loss, assumed(questions)[1], questions, 1, among=among, changes=changes)
    code = Clusters.of(np.repeat(np.arange(documents), questions))
    studies = (rng.random((400, int(documents) * questions)) < loss).astype(float)
    shown = np.mean([one.p <= 0.05 / among for one in differences(studies, code)])
    assert shown >= 0.77  # .8, less 1.5 standard errors of 400 studies


def test_changes_are_those_of_the_questions():
    # 3 of 5 documents change; two questions of ten are lost whole, one is won
    values = np.array([1, 1, -1] + [0] * 7, dtype=float)
    changes = Changes.of(values, Clusters.of(np.array([0, 1, 2, 0, 1, 2, 3, 3, 4, 4])))
    # the mean square is .3; the loss .1 is less than half of what moves, .3 / 2
    assert (changes.loss, changes.square, changes.documents) == pytest.approx((0.1, 0.3, 0.6))
    assert changes.per_document == 2
    assert changes.size == pytest.approx(0.3 / 0.15)
    lost = Changes.of(np.array([0.5, 0.5, 0, 0]), Clusters.of(np.arange(4)))
    assert (lost.loss, lost.square, lost.size, lost.documents) == pytest.approx((0.25, 0.125, 0.5, 0.5))


def test_a_pilot_has_a_lower_and_an_upper_limit():
    parts = Budget(5.0, 1.0, 3.0, 1.0, 0.5, 2.0, 1.2, 0.3, 3, 4.0, 12.0)
    low, high = limits(parts, 11.0)
    for limit, share in ((low, 0.9), (high, 0.1)):
        factor = 11 / chi2.ppf(share, 11)
        names = ("total", "documents", "questions", "draws", "question_draws", "shared")
        for name in names:
            assert getattr(limit, name) == pytest.approx(factor * getattr(parts, name))
        rest = set(Budget.__slots__) - set(names)
        assert all(getattr(limit, name) == getattr(parts, name) for name in rest)
    assert low.total < parts.total < high.total
    assert upper_error(0.3, 11.0) ** 2 == pytest.approx(0.09 * 11 / chi2.ppf(0.1, 11))


def test_a_run_and_a_plan_from_it_have_one_rule():
    rng = np.random.default_rng(2)
    clusters = Clusters.of(np.repeat(np.arange(24), 5))
    values = np.where(rng.random(120) < 0.4, rng.choice([1.0, 0.5, -0.5], 120), 0.0)
    for among in (1, 7):
        (judged,) = comparisons(values[None], clusters, among=among)
        error = judged.difference.se * sqrt(23 / chi2.ppf(0.1, 23))
        wanted = detectable(error, 24, 23.0, among, Changes.of(values, clusters))
        assert judged.detectable == pytest.approx(wanted)


def test_documents_that_are_needed_are_the_fewest_that_find_it():
    _, parts = limits(Budget(0.0, 0.02, 0.02, 0.0, 0.0, 0.0, 1.0, 1.0, 1, 4.0, 1.0), 30.0)
    changes = Changes(0.1, 0.08, 0.6, 0.7, 4.0)
    needs = [documents_needed(0.1, parts, 4.0, 1, among=among, changes=changes) for among in (1, 4, 20)]
    assert needs == sorted(needs) and needs[0] < needs[-1]
    for among, documents in zip((1, 4, 20), needs, strict=True):
        finds = [
            detectable(sqrt((parts.documents + parts.questions) / count), count, count - 1.0, among, changes)
            for count in (documents - 1, documents)
        ]
        assert finds[1] <= 0.1 < finds[0]
