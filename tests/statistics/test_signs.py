"""Verdicts on differences of few documents: values that are derived in docs/statistics.md, by hand."""

from itertools import product
from math import isnan, nan

import numpy as np
import pytest
from scipy.special import ndtr

from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import compare, comparisons, family
from ohr.statistics.derived import against_zero
from ohr.statistics.intervals import differences
from ohr.statistics.signs import fewest, sign_flip_p


def one_question_each(changes):
    """Judge differences of one question in each document."""
    table = np.array([changes], dtype=float)
    return comparisons(table, Clusters.of(np.arange(len(changes))))[0]


@pytest.mark.parametrize(
    ("totals", "p"),
    [
        ([0.2] * 5, 2 / 32),  # both signs of one pattern of 32
        ([0.2] * 6, 2 / 64),
        ([1, 1, 1, 1, 1, 1, -1], 16 / 128),  # 1 + 7 patterns and their mirror images
        ([0.9, -0.1, 0.1], 6 / 8),  # |.9|, |.9| and |1.1|, with their mirror images
        ([0, 0, 0], 1),
        ([0.3, 0, 0], 1),
    ],
)
def test_the_p_value_is_the_share_of_signs_that_are_as_far(totals, p):
    assert sign_flip_p(np.array([totals], dtype=float)) == pytest.approx([p])


def test_the_p_value_is_that_of_all_signs_written_out():
    rng = np.random.default_rng(4)
    for count in (7, 12):
        sizes = rng.normal(0.3, 1, count)
        sums = np.array([np.dot(signs, sizes) for signs in product((1, -1), repeat=count)])
        share = (np.abs(sums) >= abs(sizes.sum()) - 1e-9).mean()
        assert sign_flip_p(np.concatenate([sizes, np.zeros(3)])[None, :]) == pytest.approx([share])


@pytest.mark.parametrize("count", [18, 19])
@pytest.mark.parametrize("draw", ["normal", "power law", "tied"])
def test_many_signs_are_counted_without_trying_each(count, draw):
    rng = np.random.default_rng(count)
    sizes = {
        "normal": rng.normal(0.4, 1, count),
        "power law": np.minimum(1, 0.02 * (1 + rng.pareto(1.0, count))) * rng.choice([-1, 1], count, p=[0.2, 0.8]),
        "tied": rng.integers(-2, 4, count) / 5,
    }[draw]
    sums = (1 - 2 * (np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1)) @ sizes
    share = (np.abs(sums) >= abs(sizes.sum()) - 1e-9).mean()
    assert sign_flip_p(sizes[None, :])[0] == pytest.approx(share, rel=0.01)


@pytest.mark.parametrize("digits", [6, 9, 17])
@pytest.mark.parametrize("parts", [3, 7, 12])
@pytest.mark.parametrize("count", [8, 16, 20, 40, 300])
def test_fractions_whose_sums_are_equal_are_ties(count, parts, digits):
    counts = np.random.default_rng(count).integers(-parts, parts + 2, (20, count))
    shares = []
    for row in counts:
        every = np.ones(1)  # of all sums, from the smallest, in exact numbers
        for size in np.abs(row):
            every = np.convolve(every, np.bincount([0, 2 * size], minlength=1) / 2) if size else every
        sums = np.arange(len(every)) - np.abs(row).sum()
        shares.append(every[np.abs(sums) >= abs(row.sum())].sum())
    assert sign_flip_p((counts / parts).round(digits)) == pytest.approx(shares)


def test_thirds_whose_p_value_is_above_the_level_show_nothing():
    judged = one_question_each(np.array([3, 3, -1, 2, 2, -1, 2, 2]) / 3)
    assert (judged.verdict, judged.p) == ("open", 16 / 256)
    assert judged.difference.low <= 0


@pytest.mark.parametrize("documents", [3000, 20000])
def test_many_small_changes_have_the_p_value_of_their_normal_sum(documents):
    rng = np.random.default_rng(documents)
    sizes = np.where(rng.random(documents) < 0.95, 0.1 * rng.uniform(0.9, 1, documents), rng.uniform(1, 2, documents))
    changes = sizes * np.where(rng.random(documents) < 0.5 + 0.8 / np.sqrt(documents), 1, -1)
    normal = 2 * ndtr(-abs(changes.sum()) / np.sqrt((changes**2).sum()))
    assert 0.01 < normal < 0.9
    assert sign_flip_p(changes[None])[0] == pytest.approx(normal, rel=0.02)


def test_steps_are_fine_enough_for_hundreds_of_documents(monkeypatch):
    sizes = np.random.default_rng(5).normal(0.15, 1, (4, 300))
    coarse = sign_flip_p(sizes)
    monkeypatch.setattr("ohr.statistics.signs.STEPS", 16 * 8192)
    assert coarse == pytest.approx(sign_flip_p(sizes), rel=0.03)


def test_no_p_value_is_too_large_for_many_comparisons():
    (p,) = sign_flip_p(np.random.default_rng(6).uniform(0.5, 1, (1, 60)))
    assert p == 2.0**-59  # drawn signs ended at .0002, which no correction for 251 comparisons leaves below .05


@pytest.mark.parametrize(
    ("among", "documents"), [(1, 6), (2, 7), (3, 7), (4, 8), (6, 8), (7, 9), (12, 9), (20, 10), (40, 11)]
)
def test_the_fewest_documents_that_show_anything_among_several_comparisons(among, documents):
    assert fewest(among) == documents
    members = [
        (np.full(fewest(among), 0.3) + np.arange(fewest(among)) / 100, Clusters.of(np.arange(fewest(among))), 0.02)
    ]
    assert all(shown for *_, shown in family(members * among))
    short = [(values[1:], Clusters.of(np.arange(documents - 1)), margin) for values, _, margin in members]
    assert not any(shown for *_, shown in family(short * among))


def test_five_documents_that_all_lose_cannot_show_a_loss_and_the_interval_ends_near_0():
    rng = np.random.default_rng(3)
    change = np.zeros((5, 45))
    change[:, :12] = rng.random((5, 12)) * 0.15  # 60 of 225 questions lose, none gains
    judged = compare(change.ravel(), np.zeros(225), Clusters.of(np.repeat(np.arange(5), 45)))
    assert judged.verdict == "open" and judged.p == pytest.approx(2 / 32)
    assert -0.01 < judged.difference.low <= 0 < judged.difference.high < 0.03


@pytest.mark.parametrize(("documents", "verdict"), [(5, "open"), (6, "worse"), (7, "worse"), (8, "worse")])
def test_six_documents_that_all_lose_are_the_fewest_that_show_a_loss(documents, verdict):
    judged = one_question_each([0.3 + 0.01 * place for place in range(documents)])
    assert judged.verdict == verdict
    assert (judged.difference.low > 0) == (verdict == "worse")


def test_equal_changes_of_eight_documents_need_all_signs_not_the_t_test():
    judged = one_question_each([1.0] * 7 + [-1.0])  # t says .02; 18 of 256 patterns are as far
    assert judged.p == pytest.approx(18 / 256)
    assert judged.verdict == "open" and judged.difference.low <= 0 < judged.difference.high


def test_identical_scores_are_exact_also_where_means_over_draws_are_rounded():
    before = np.full(24, 0.1)
    judged = compare(before, (before + before + before) / 3, Clusters.of(np.repeat(np.arange(8), 3)))
    assert (judged.verdict, judged.difference.mean, judged.difference.changed, judged.lost) == ("identical", 0, 0, 0)
    assert isnan(judged.difference.low) and isnan(judged.difference.high) and isnan(judged.p)
    assert one_question_each([0.0, 0.0]).verdict == "identical"  # so few documents have no interval, and need none


@pytest.mark.parametrize("seed", range(40))
def test_the_interval_and_the_verdict_agree(seed):
    rng = np.random.default_rng(seed)
    documents = int(rng.integers(5, 30))
    code = np.repeat(np.arange(documents), rng.integers(1, 6, documents))
    change = np.where(rng.random(code.size) < rng.choice([0.05, 0.3, 0.9]), rng.pareto(1.5, code.size) / 20, 0)
    judged = compare(np.clip(change * rng.choice([-1, 1, 1, 1], code.size), -1, 1), 0 * change, Clusters.of(code))
    one = judged.difference
    if judged.verdict != "identical":
        assert (one.low > 0 or one.high < 0) == (judged.p <= 0.05)
        assert one.low <= one.mean <= one.high
        assert judged.verdict in (("worse", "better", "small") if judged.p <= 0.05 else ("open", "same"))


@pytest.mark.parametrize("size", [1.0, 0.1])
def test_equal_changes_of_all_documents_have_an_interval_wider_than_the_inner_one(size):
    judged = one_question_each([size] * 12)
    one = judged.difference
    assert judged.verdict == "worse" and 0 < one.low <= judged.inner_low <= size
    assert one.low < 1 if size == 1 else one.low <= size


def test_inner_ends_are_cut_at_what_is_possible():
    values = np.array([0.1] * 100 + [-0.1] * 3)
    code = np.concatenate([np.zeros(92, int), np.arange(1, 12)])
    judged = compare(values, 0 * values, Clusters.of(code))
    assert -1 <= judged.inner_low <= judged.inner_high <= 1


def test_the_largest_of_several_has_an_interval_that_allows_for_the_choice():
    rng = np.random.default_rng(0)
    code = Clusters.of(np.repeat(np.arange(20), 3))
    table = rng.normal(0.1, 0.2, (12, 60))
    alone, among = comparisons(table, code)[0], comparisons(table, code, among=12)[0]
    (strict,) = differences(table[:1], code, 1 - 0.05 / 12)
    assert (among.wide_low, among.wide_high) == pytest.approx((strict.low, strict.high))
    assert among.wide_low < among.difference.low == alone.difference.low == alone.wide_low


def test_the_interval_that_allows_for_the_choice_holds_the_other_also_with_few_documents():
    rng = np.random.default_rng(0)
    for documents, each in [(7, 2), (7, 4), (7, 3)] * 60:
        changes = np.where(rng.random(documents * each) < 0.9, rng.normal(0.1, 0.1, documents * each), 0.0)
        (one,) = comparisons(changes[None], Clusters.of(np.repeat(np.arange(documents), each)), among=3)
        assert one.wide_low <= one.difference.low <= one.difference.high <= one.wide_high


def test_each_member_is_compared_as_by_itself():
    rng = np.random.default_rng(0)
    clusters, other = Clusters.of(np.arange(60) // 2), Clusters.of(np.arange(40))
    sparse = np.where(rng.random(60) < 0.9, 0.0, rng.random(60))
    undefined = np.where(rng.random(60) < 0.1, nan, rng.random(60) - 0.3)
    members = [
        (rng.random(60) - 0.4, clusters, 0.02),
        (rng.random(40) - 0.5, other, 0.02),
        (sparse, clusters, 0.02),
        (undefined, clusters, 0.02),
        (rng.random(60) - 0.5, clusters, 0.1),
        (np.zeros(60), clusters, 0.02),
    ]
    for (values, mine, margin), (judged, _, _) in zip(members, family(members), strict=True):
        (alone,) = comparisons(values[None, :], mine, margin, among=len(members))
        assert judged.verdict == alone.verdict
        assert (judged.p, judged.difference.low, judged.difference.high) == pytest.approx(
            (alone.p, alone.difference.low, alone.difference.high), abs=1e-12, nan_ok=True
        )
        assert (judged.lost, judged.gained) == (alone.lost, alone.gained)
        assert judged.detectable == pytest.approx(alone.detectable, nan_ok=True)


def test_a_family_shows_what_holm_leaves():
    code = Clusters.of(np.arange(10))
    strong, weak, still = np.linspace(0.2, 0.4, 10), np.array([0.3] * 7 + [0.0] * 3), np.zeros(10)
    judged = family([(strong, code, 0.02), (weak, code, 0.02), (still, code, 0.02)])
    assert [p for _, p, _ in judged[:2]] == pytest.approx([3 * 2 / 1024, 2 * 2 / 128])
    assert [shown for _, _, shown in judged] == [True, True, False]
    assert isnan(judged[2][1])  # identical scores have no p value


def test_identical_scores_count_as_comparisons():
    code = Clusters.of(np.arange(10))
    six, still = np.array([0.3] * 6 + [0.0] * 4), np.zeros(10)
    alone, *_ = family([(six, code, 0.02)])
    beside, *_ = family([(six, code, 0.02), (still, code, 0.02)])
    assert (alone[1:], alone[0].among) == ((2 / 64, True), 1)
    assert (beside[1:], beside[0].among) == ((4 / 64, False), 2)
    assert beside[0].wide_low <= 0 < alone[0].wide_low


def test_a_quantity_of_several_means_is_shown_where_its_pseudo_values_show_it():
    columns = np.array([[0.5] * 5, [0.3, 0.31, 0.29, 0.3, 0.3]])
    few = against_zero(columns, Clusters.of(np.arange(5)), lambda m: m[0] - m[1])
    assert few.p == pytest.approx(2 / 32) and few.low == 0 < few.high
    many = against_zero(np.tile(columns, 2), Clusters.of(np.arange(10)), lambda m: m[0] - m[1])
    assert many.p <= 0.05 and many.low > 0
