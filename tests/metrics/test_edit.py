from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.metrics.edit import EditDistance, edit_distance

text = st.text("ab \n$", max_size=12)


def dynamic_programming(first, second):
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, start=1):
        previous, row = row, [i]
        for j, right in enumerate(second):
            row.append(min(previous[j] + (left != right), previous[j + 1] + 1, row[j] + 1))
    return row[-1]


@pytest.mark.parametrize(
    ("prediction", "reference", "distance"),
    [("", "", 0), ("", "abc", 1), ("abc", "", 1), ("kitten", "sitting", 3 / 7), ("A", "a", 1), ("a b", "ab", 1 / 3)],
)
def test_distance_of_worked_cases(prediction, reference, distance):
    assert edit_distance(prediction, reference) == pytest.approx(distance)
    assert EditDistance().score(prediction, reference) == edit_distance(prediction, reference)


@given(st.one_of(text, st.text("a")), text)
def test_it_agrees_with_dynamic_programming(prediction, reference):
    expected = dynamic_programming(prediction, reference) / max(len(prediction), len(reference), 1)
    assert edit_distance(prediction, reference) == pytest.approx(expected)


def test_long_texts_of_one_sign_are_compared_at_once():
    began = perf_counter()
    assert edit_distance("a" * 1_000_000, "ab" * 1_000_000) == 0.5
    assert edit_distance("b" * 1_000_000 + "c", "a" * 1_000_000) == 1
    assert perf_counter() - began < 1  # a minute where each sign is compared with each
