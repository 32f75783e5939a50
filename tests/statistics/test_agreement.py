from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.statistics.agreement import cohen_kappa, fleiss_kappa, label_counts

LABELS = st.lists(st.tuples(st.sampled_from("ABO"), st.sampled_from("ABO")), min_size=1, max_size=12)


def test_cohens_kappa_of_a_worked_example():
    # po = 4/6; pe = (2*2 + 3*3 + 1*1) / 36
    first = ["Number", "Number", "O", "Temporal", "O", "Number"]
    second = ["Number", "O", "O", "Temporal", "Number", "Number"]
    assert cohen_kappa(first, second) == pytest.approx((4 / 6 - 14 / 36) / (1 - 14 / 36))


def test_fleiss_kappa_of_a_worked_example():
    # P of the rows: 1, 1/3, 1/3; Pe = (5/9)^2 + (4/9)^2
    mean, chance = (1 + 1 / 3 + 1 / 3) / 3, (25 + 16) / 81
    assert fleiss_kappa([[3, 0], [1, 2], [1, 2]]) == pytest.approx((mean - chance) / (1 - chance))


def test_raters_with_one_and_the_same_label_agree():
    assert cohen_kappa(["A", "A"], ["A", "A"]) == 1.0
    assert fleiss_kappa([[4, 0], [4, 0]]) == 1.0
    assert fleiss_kappa([[0, 3]]) == 1.0


def test_raters_who_always_differ_are_below_chance():
    assert cohen_kappa(["A", "B"], ["B", "A"]) == -1.0
    assert fleiss_kappa([[1, 1], [1, 1]]) == -1.0


def test_agreement_of_nobody_is_undefined():
    assert isnan(cohen_kappa([], []))
    assert isnan(fleiss_kappa([]))
    assert isnan(fleiss_kappa([[1, 0], [0, 1]]))  # a single rater


@given(LABELS)
def test_cohens_kappa_is_symmetric_and_at_most_one(pairs):
    first, second = zip(*pairs, strict=True)
    found = cohen_kappa(first, second)
    assert found == pytest.approx(cohen_kappa(second, first))
    assert found <= 1
    assert (found == pytest.approx(1.0)) == (first == second)


@given(LABELS)
def test_cohens_kappa_equals_that_of_scikit_learn(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = zip(*pairs, strict=True)
    if len({*first, *second}) > 1:  # with one label, scikit-learn's is nan
        assert cohen_kappa(first, second) == pytest.approx(metrics.cohen_kappa_score(first, second))


@pytest.mark.parametrize("counts", [[[2, 1], [2, 2]], [1, 2], [[3, -1], [1, 1]]])
def test_counts_of_several_numbers_of_raters_are_refused(counts):
    with pytest.raises(ValueError, match="same number of raters"):
        fleiss_kappa(counts)


def test_raters_of_different_items_are_refused():
    with pytest.raises(ValueError, match="same items"):
        cohen_kappa(["A"], ["A", "B"])


def test_labels_are_counted_by_item():
    assert label_counts([["A", "B"], ["A", "O"], ["O", "B"]], ["A", "B", "O"]) == [[2, 0, 1], [0, 2, 1]]
