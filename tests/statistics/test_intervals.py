from math import isnan, nan, sqrt

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import minimum_detectable_effect
from ohr.statistics.estimate import quantile, rescaled
from ohr.statistics.intervals import clustered_means, differences

clusters = st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=6), min_size=5, max_size=12)


def mean_of(values, documents, failed=0, strata=None, level=0.95):
    table = np.asarray(values, dtype=float)[None, :]
    (estimate,) = clustered_means(table, Clusters.of(documents, strata), [failed], level)
    return estimate


def difference_of(first, second, documents):
    table = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    (estimate,) = differences(table[None, :], Clusters.of(documents))
    return estimate


def flat(groups):
    values = [value for group in groups for value in group]
    documents = [f"d{number}" for number, group in enumerate(groups) for _ in group]
    return values, documents


def loop_jackknife(values, documents):
    names = sorted(set(documents))
    means = [
        np.mean([value for value, document in zip(values, documents, strict=True) if document != left_out])
        for left_out in names
    ]
    center = sum(means) / len(means)
    return sqrt((len(names) - 1) / len(names) * sum((mean - center) ** 2 for mean in means))


def test_one_question_a_document_gives_students_error():
    values = [0.1, 0.9, 0.4, 0.6, 0.7, 0.2, 0.5, 0.3, 1.0, 0.8]
    result = mean_of(values, [str(number) for number in range(10)])
    assert result.se == pytest.approx(scipy.stats.sem(values))
    assert (result.mean, result.df, result.n, result.documents) == (pytest.approx(0.55), pytest.approx(9), 10, 10)
    assert result.effective_documents == pytest.approx(10)
    assert result.note == ""


def logit_ends(result):
    logit = np.log(result.mean / (1 - result.mean))
    reach = scipy.stats.t.ppf(0.975, result.df) * result.se / (result.mean * (1 - result.mean))
    return [1 / (1 + np.exp(-(logit + sign * reach))) for sign in (-1, 1)]


def test_an_interval_stays_where_a_mean_can_be():
    values = [1, 0.9, 0.8, 0.8, 0.7, 0.9]
    result = mean_of(values, [str(number) for number in range(6)])
    assert [result.low, result.high] == pytest.approx(logit_ends(result))
    assert (result.interval, result.se) == ("logit", pytest.approx(scipy.stats.sem(values)))


@pytest.mark.parametrize("values", [[1, 1, 1, 1, 0.7, 1], [0, 0, 0, 0, 0.3, 0]])
def test_a_mean_near_an_edge_that_hangs_on_few_documents_reaches_as_far_as_the_binomial_bound(values):
    result = mean_of(values, [str(number) for number in range(6)])
    missing = min(result.mean, 1 - result.mean) * 6
    bound, (low, high) = scipy.stats.beta.ppf(0.975, missing + 1, 6 - missing), logit_ends(result)
    ends = (1 - bound, high) if result.mean > 0.5 else (low, bound)
    assert (result.low, result.high) == pytest.approx(ends)
    assert (result.interval, result.se) == ("near edge", pytest.approx(scipy.stats.sem(values)))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_where_nothing_varies_at_an_end_the_interval_is_binomial(value):
    result = mean_of([value] * 12, [str(number // 2) for number in range(12)])
    worth = 12 / (1 + (4 * 6 / 12 - 1) * 0.2)
    wanted = 1 - 0.025 ** (1 / worth)
    assert (result.low, result.high) == pytest.approx((0, wanted) if value == 0 else (1 - wanted, 1))
    assert (result.interval, result.se) == ("edge", 0)


def test_a_score_outside_of_its_range_has_the_plain_interval():  # the published code gives -1 to no string
    values = [1, -1, 0, 0, 0, 0.5]
    result = mean_of(values, [str(number) for number in range(6)])
    low, high = scipy.stats.t.interval(0.95, 5, np.mean(values), scipy.stats.sem(values))
    assert (result.low, result.high) == (pytest.approx(low), pytest.approx(high))
    assert result.interval == "t"


def test_effective_documents_fall_with_unequal_sizes():
    groups = [[0.5]] * 4 + [[0.5] * 6]
    result = mean_of(*flat(groups))
    sizes = np.array([1, 1, 1, 1, 6])
    assert result.effective_documents == pytest.approx(5 / (1 + (sizes.std() / sizes.mean()) ** 2))
    assert result.df == pytest.approx(result.effective_documents - 1)


@given(clusters)
def test_the_error_agrees_with_a_loop_over_documents(groups):
    values, documents = flat(groups)
    result = mean_of(values, documents)
    assert result.se == pytest.approx(loop_jackknife(values, documents), abs=1e-12)
    assert result.low <= result.mean <= result.high


@pytest.mark.parametrize(("documents", "note"), [(1, "points only"), (4, "points only"), (5, "few documents")])
def test_few_documents_are_noted(documents, note):
    result = mean_of(*flat([[0.2, 0.4 + number / 10] for number in range(documents)]))
    assert result.note == note
    assert isnan(result.low) == isnan(result.high) == isnan(result.se) == isnan(result.df) == (note == "points only")


def test_undefined_values_are_left_out_and_counted():
    values, documents = flat([[0.1, nan], [0.5], [0.9], [nan], [0.4], [0.6]])
    result = mean_of(values, documents, failed=2)
    assert (result.n, result.undefined, result.failed, result.documents) == (5, 2, 2, 5)
    assert result.mean == pytest.approx(0.5)


def test_no_value_is_no_mean():
    result = mean_of([nan], ["d"])
    assert isnan(result.mean)
    assert (result.n, result.documents, result.note) == (0, 0, "points only")


def test_equal_values_have_an_interval_of_no_width():
    result = mean_of(*flat([[0.5, 0.5]] * 6), strata=["law"] * 6 + ["news"] * 6)
    assert (result.low, result.high) == (0.5, 0.5)


def test_strata_sum_their_own_variances():
    law, news = [[0.1, 0.2], [0.3], [0.2, 0.4, 0.1]], [[0.9], [0.8, 0.7], [1.0]]
    values, documents = flat(law + news)
    strata = ["law"] * 6 + ["news"] * 4
    result = mean_of(values, documents, strata=strata)
    parts = [
        (0.6 * loop_jackknife(values[:6], documents[:6])) ** 2,
        (0.4 * loop_jackknife(values[6:], documents[6:])) ** 2,
    ]
    freedom = [36 / (4 + 1 + 9) - 1, 16 / (1 + 4 + 1) - 1]
    assert result.mean == pytest.approx(np.mean(values))
    assert result.se == pytest.approx(sqrt(sum(parts)))
    assert result.df == pytest.approx(sum(parts) ** 2 / sum(p**2 / f for p, f in zip(parts, freedom, strict=True)))


def test_differences_between_domains_are_no_error_where_domains_are_fixed():
    values, documents = flat([[0.1], [0.12], [0.11], [0.9], [0.92], [0.91]])
    fixed = mean_of(values, documents, strata=["law"] * 3 + ["news"] * 3)
    assert fixed.se < mean_of(values, documents).se / 10


def test_one_stratum_is_no_stratum():
    values, documents = flat([[0.1, 0.3], [0.5], [0.9], [0.4], [0.6]])
    assert repr(mean_of(values, documents, strata=["law"] * 6)) == repr(mean_of(values, documents))  # nan is not nan


def test_domains_with_a_single_document_are_taken_together():
    values, documents = flat([[0.1], [0.2], [0.3], [0.9], [0.5]])
    single = mean_of(values, documents, strata=["law", "law", "law", "news", "novel"])
    joined = mean_of(values, documents, strata=["law", "law", "law", "other", "other"])
    assert repr(single) == repr(joined)


def test_a_lone_single_document_joins_the_smallest_domain():
    values, documents = flat([[0.1], [0.2], [0.3], [0.9], [0.8], [0.5]])
    lone = mean_of(values, documents, strata=["law"] * 3 + ["news"] * 2 + ["alone"])
    joined = mean_of(values, documents, strata=["law"] * 3 + ["news"] * 3)
    assert repr(lone) == repr(joined)


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("documents", [10, pytest.param(24, marks=pytest.mark.acceptance)])
def test_intervals_cover_the_truth_about_as_often_as_they_say(documents, stratified):
    rng = np.random.default_rng(11)
    inside = []
    for _ in range(1200):
        sizes = rng.integers(2, 20, documents)
        domain = np.arange(documents) % 2 * stratified
        effect = rng.normal(0, 0.2, documents) + np.where(domain, 0.15, -0.15) * stratified
        code = np.repeat(np.arange(documents), sizes)
        values = 0.5 + effect[code] + rng.normal(0, 0.3, code.size)
        truth = 0.5 + float((np.where(domain, 0.15, -0.15) * stratified)[code].mean())
        result = mean_of(values, code.astype(str), strata=domain[code].astype(str) if stratified else None)
        inside.append(result.low <= truth <= result.high)
    assert 0.93 <= np.mean(inside) <= 0.975


def test_a_paired_difference_is_the_mean_of_differences():
    first, documents = flat([[0.9, 0.8], [0.7], [0.9], [nan], [0.6], [0.8]])
    second = [0.5, 0.6, 0.6, 0.7, 0.9, 0.5, nan]
    result = difference_of(first, second, documents)
    assert result.mean == pytest.approx(np.mean([0.4, 0.2, 0.1, 0.2, 0.1]))
    assert (result.n, result.undefined, result.documents) == (5, 2, 4)


@given(clusters)
def test_a_cell_does_not_differ_from_itself(groups):
    values, documents = flat(groups)
    result = difference_of(values, values, documents)
    assert (result.mean, result.changed, result.interval) == (0, 0, "")
    assert isnan(result.low) and isnan(result.high) and isnan(result.p)


def test_a_difference_is_surer_than_its_sides():
    rng = np.random.default_rng(2)
    level = np.repeat(rng.random(12), 5)
    documents = np.repeat(np.arange(12), 5).astype(str)
    first, second = level + rng.normal(0.1, 0.05, 60), level + rng.normal(0, 0.05, 60)
    assert difference_of(first, second, documents).se < mean_of(first, documents).se / 3


def test_the_detectable_effect_of_many_documents_is_2_8_errors():
    assert minimum_detectable_effect(0.1, 1e6) == pytest.approx(0.1 * (1.95996 + 0.84162), abs=1e-4)


def test_the_detectable_effect_is_found_with_the_power_asked_for():
    df, effect = 20, minimum_detectable_effect(1.0, 20)
    found = 1 - scipy.stats.nct.cdf(scipy.stats.t.ppf(0.975, df), df, effect)
    assert found == pytest.approx(0.8, abs=0.01)


def test_there_is_no_detectable_effect_without_an_error():
    assert isnan(minimum_detectable_effect(nan, nan))


def test_a_tiny_variance_has_degrees_of_freedom():
    found = mean_of([0.0, 0.0, 0.0, 0.0, 1.6e-81], ["a", "b", "c", "d", "e"])
    assert found.df == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("values", "how"),
    [([0.1, 0.9, 0.4, 0.6, 0.7, 0.2], "logit"), ([1.0] * 6, "edge"), ([0.0] * 6, "edge"), ([-1, 0, 1, 1, 1, 1], "t")],
)
def test_an_interval_with_the_critical_value_of_another_level_is_that_levels_interval(values, how):
    names = [str(number) for number in range(6)]
    usual, wider = (mean_of(values, names, level=level) for level in (0.95, 0.99))
    assert usual.interval == how
    critical = quantile(0.995, usual.df)
    found = rescaled(usual.mean, (usual.low, usual.high), usual.df, usual.interval, critical)
    assert found == pytest.approx((wider.low, wider.high))


def test_a_critical_value_never_narrows_an_interval_and_without_one_there_is_none():
    assert rescaled(0.5, (0.4, 0.6), 9.0, "logit", 0.1) == pytest.approx((0.4, 0.6))
    assert all(map(isnan, rescaled(0.5, (0.4, 0.6), 9.0, "logit", nan)))
    assert all(map(isnan, rescaled(0.5, (nan, nan), nan, "", 3.0)))


def test_equal_losses_of_all_documents_are_not_few():
    documents = Clusters.of([str(number) for number in range(20)])
    (every,) = differences(np.full((1, 20), 0.1), documents)
    (few,) = differences(np.where(np.arange(20) < 7, 0.1, 0.0)[None, :], documents)
    assert (every.changed, every.interval, every.note) == (20, "rare", "")
    assert (few.changed, few.note) == (7, "few documents changed")
