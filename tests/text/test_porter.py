import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.retrievers.lexical.words import different_words
from ohr.text.porter import stem

_SUFFIXES = """
s es ies ed ied eed ing y yy ly alli logi ational tional ation izer bli eli entli ousli ator alism iveness fulness
ousness aliti iviti biliti ful fulli ness icate ative alize iciti ical al ance ence er ic able ible ant ement ment ent
ion ou ism ate iti ous ive ize e ll at bl iz
"""
words = st.lists(st.one_of(st.text("abelosty", max_size=3), st.sampled_from(_SUFFIXES.split())), min_size=1, max_size=4)


@given(words.map("".join))
def test_stems_are_those_of_nltk(word):
    nltk = pytest.importorskip("nltk.stem.porter")
    assert stem(word) == nltk.PorterStemmer().stem(word)


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("dies", "die"), ("died", "die"), ("spied", "spi"),
        ("agreed", "agre"), ("feed", "feed"), ("hopping", "hop"), ("falling", "fall"), ("filing", "file"),
        ("conflated", "conflat"), ("happy", "happi"), ("enjoy", "enjoy"), ("relational", "relat"),
        ("radically", "radic"), ("geology", "geolog"), ("adoption", "adopt"), ("replacement", "replac"),
        ("rate", "rate"), ("controlling", "control"), ("dying", "die"), ("skies", "sky"), ("is", "is"),
        ("1964", "1964"), ("合同", "合同"), ("", ""),
    ],
)  # fmt: skip
def test_a_word_has_the_stem_of_the_published_code(word, stemmed):
    assert stem(word) == stemmed


@pytest.mark.ohrbench
@pytest.mark.acceptance  # random words are compared above
def test_stems_of_every_word_of_the_real_data_are_those_of_nltk():
    nltk = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    root = Path(os.environ["OHRBENCH_DATA"])
    texts = [
        page["text"] for path in (root / "retrieval_base").rglob("*.json") for page in json.loads(path.read_bytes())
    ]
    texts += [question["questions"] for question in json.loads((root / "qas.json").read_bytes())]
    words = {word for text in texts for word in different_words(text)}
    assert len(words) > 50_000
    assert {word: stem(word) for word in words} == {word: nltk.stem(word) for word in words}
