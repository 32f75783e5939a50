import re

from hypothesis import given
from hypothesis import strategies as st

from ohr.retrievers.lexical.words import different_words


@given(st.text(st.sampled_from("aBé_1 .’–\u00a0\u2003\u203f²·，中\ud800\n"), max_size=30))
def test_different_words_are_those_of_the_expression(text):
    found = list(different_words(text))
    assert sorted(found) == sorted(set(re.findall(r"\w+", text.lower())))


def test_different_words_come_in_a_fixed_order():
    assert list(different_words("Rain on the wall; rain·fall")) == ["rain", "on", "the", "wall", "fall"]
