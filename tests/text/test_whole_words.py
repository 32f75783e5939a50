"""Spans that are made longer until they have whole words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.text.whole_words import whole_words
from ohr.text.words import words

SIGNS = [
    "a", "b", "1", ".", ",", "-", "–", "，", " ", "\n", "-\n", "\t", "*", "云", "县", "年", "公报", "the ", "é", "\\",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "part", "whole"),
    [
        ("Pressure below 1.2 bar", "Pressure below 1.", "Pressure below 1.2"),
        ("Pressure below 1.2 bar", "2 bar", "1.2 bar"),
        ("class B EUR 108.50 a day", "class B EUR 108.", "class B EUR 108.50"),
        ("an eco-friendly boat", "friendly boat", "eco-friendly boat"),
        ("the inter-\nnational fair", "national fair", "inter-\nnational fair"),
        ("the inter-\nnational fair", "the inter-", "the inter-\nnational"),
        (r"\textbf{Rent} is due", "Rent} is", r"\textbf{Rent} is"),
        ("(Rent) is due.", "Rent) is due", "Rent) is due"),
        ("**Rent** is", "Rent", "Rent"),
        ("于2021年发布", "2021", "2021"),
        ("云岫县政务公报", "政", "政务"),
    ],
)
def test_a_span_gets_the_rest_of_its_words(text, part, whole):
    start, end = whole_words(text, text.index(part), text.index(part) + len(part))
    assert text[start:end] == whole


@given(st.lists(st.sampled_from(SIGNS), max_size=14).map("".join), st.data())
def test_the_words_of_a_span_are_words_of_its_text(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = whole_words(text, start, end)
    assert first <= start <= end <= last
    own, every = words(text[first:last]), words(text)
    assert own in [every[at : at + len(own)] for at in range(len(every) + 1)]
