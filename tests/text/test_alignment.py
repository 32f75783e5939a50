"""Spans of one version of a text are found in another version of it."""

from itertools import pairwise
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from ohr.text import alignment
from ohr.text.alignment import Alignment

TRUTH = "The mill was built in 1901. It has 3 windows. The tower fell."
READ = "# Deed\nThe m1ll was bui lt in 1901. It h as 3 win dows. Extra stuff. The tower feil. x"

TEXTS = st.text(st.sampled_from("ab \n中国,"), max_size=40)


def mapped(text, other, *cuts):
    """Return what the other text has for each part of the text."""
    found = Alignment(text, other)
    borders = [0, *cuts, len(text)]
    spans = [found.span(low, high) for low, high in pairwise(borders)]
    return [other[low:high] for low, high in spans]


def test_sentences_are_found_among_insertions_splits_and_misread_words():
    sentences = ["# Deed\nThe m1ll was bui lt in 1901. ", "It h as 3 win dows. Extra stuff. ", "The tower feil. x"]
    assert mapped(TRUTH, READ, 28, 46) == sentences


def test_a_place_inside_a_word_goes_into_its_counterpart():
    assert mapped("one twofold three", "one more twofold tree", 7) == ["one more two", "fold tree"]


def test_a_command_that_is_glued_to_a_word_comes_with_it():
    noisy = r"It is due. \textbf{The rent} rose."
    assert mapped("It is due. The rent rose.", noisy, 11)[1] == r"\textbf{The rent} rose."


def test_chinese_is_aligned_character_by_character():
    assert mapped("甲方应付租金。乙方应修房屋。", "甲方应付祖金。乙应修房屋。", 7) == ["甲方应付祖金。", "乙应修房屋。"]


def test_a_lost_page_has_no_text():
    assert mapped(TRUTH, "", 28) == ["", ""]
    assert mapped("", READ) == [READ]


@given(TEXTS, st.data())
def test_a_text_is_mapped_to_itself_unchanged(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert Alignment(text, text).span(start, end) == (start, end)


@given(TEXTS, TEXTS, st.data())
def test_parts_that_cover_a_text_cover_the_other_one(text, other, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    assert "".join(mapped(text, other, *cuts)) == other or not text.strip()


@given(TEXTS, TEXTS, st.data())
def test_all_words_of_a_text_have_the_whole_other_one(text, other, data):
    if text.strip() and text != other:
        first, last = len(text) - len(text.lstrip()), len(text.rstrip())
        assert Alignment(text, other).span(first, last) == (0, len(other))


def test_very_long_texts_are_aligned_line_by_line(monkeypatch):
    monkeypatch.setattr(alignment, "_MOST", 10)
    assert mapped("a b c\nd e f\ng h", "a b c\nD e f\ng h", 6, 12) == ["a b c\n", "D e f\n", "g h"]


def test_a_long_page_takes_little_time():
    text = " ".join(f"w{7919 * n % 5000}" for n in range(20_000))
    other = " ".join(f"w{7919 * n % 5000}" for n in range(20_000) if n % 11)
    began = process_time()
    start, end = Alignment(text, other).span(len(text) // 2, len(text))
    assert process_time() - began < 5 and end == len(other) and abs(start - len(other) / 2) < len(other) / 50
