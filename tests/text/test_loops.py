from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.text.loops import repeated_tail


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0.0),
        (" \n", 0.0),
        ("a", 0.0),
        ("The lease began in 1964", 0.0),
        ("abab", 1.0),
        ("Rent. and so on and so on ", 20 / 25),
        ("The page 12 12 12 1", 11 / 19),  # the last round is cut
    ],
)
def test_the_share_of_a_repeated_tail(text, share):
    assert repeated_tail(text) == pytest.approx(share)


@given(st.text(alphabet="ab ", max_size=24))
def test_it_is_the_longest_tail_that_repeats_a_unit(text):
    kept = text.rstrip()
    lengths = [
        length
        for length in range(2, len(kept) + 1)
        for unit in range(1, length // 2 + 1)
        if all(kept[-place] == kept[-place - unit] for place in range(1, length - unit + 1))
    ]
    assert repeated_tail(text) == (max(lengths, default=0) / len(kept) if kept else 0)


def test_a_long_reply_takes_no_time():
    began = perf_counter()
    assert repeated_tail("a" * 50_000 + "b") == 0
    assert perf_counter() - began < 20  # quadratic work would take minutes
