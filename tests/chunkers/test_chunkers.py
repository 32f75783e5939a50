import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.chunkers.page import PageChunker
from ohr.chunkers.sentence import Sentence
from ohr.chunkers.tokens import Tokens
from ohr.contracts import Page
from ohr.text.tokens import count_tokens

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=400),
    st.lists(
        st.sampled_from(["One sentence here. ", "Short! ", "今年的租金是三百元。", "\n\n", "x" * 90, "👩‍👩‍👧 "]),
        max_size=30,
    ).map("".join),
)


def page(text):
    return [Page("law/lease", 0, text)]


def tokens(text):
    return count_tokens(text)


@given(texts, st.integers(1, 40))
def test_token_chunks_without_overlap_give_the_whole_text_once(text, size):
    chunks = Tokens(size=size).split(page(text))
    covered = "".join(chunk.text for chunk in chunks)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(first.end <= second.start for first, second in itertools.pairwise(chunks))


@given(texts, st.integers(8, 60), st.integers(0, 7))
def test_overlapping_token_chunks_leave_nothing_out_and_go_forward(text, size, overlap):
    chunks = Tokens(size=size, overlap=overlap).split(page(text))
    kept = set()
    for chunk in chunks:
        kept |= set(range(chunk.start, chunk.end))
    assert all(place in kept for place, sign in enumerate(text) if not sign.isspace())
    assert [chunk.start for chunk in chunks] == sorted({chunk.start for chunk in chunks})


@given(
    st.lists(st.sampled_from(["One sentence here. ", "Short! ", "word " * 60]), max_size=30).map("".join),
    st.integers(5, 60),
)
def test_no_token_chunk_is_longer_than_its_size(text, size):
    assert all(tokens(chunk.text) <= size for chunk in Tokens(size=size).split(page(text)))


odd_texts = st.lists(
    st.sampled_from(
        [
            *(
                "One sentence here. ",
                "租金是三百元",
                "。",
                "𠀀",
                "x" * 90,
                " ",
                "\n\n",
                "กรุงเทพ",
                "👩‍👩‍👧 ",
                "1234567890",
            ),
            *("| a | 12 |\n|---|---|\n", "$\\frac{a}{b}+\\sum_i x_i$ ", "word word word word word word "),
        ]
    ),
    max_size=40,
).map("".join)


@given(st.one_of(texts, odd_texts), st.integers(4, 40), st.integers(0, 39))
def test_each_chunk_with_overlap_has_at_most_its_size_and_adds_text(text, size, overlap):
    chunks = Tokens(size=size, overlap=min(overlap, size - 1)).split(page(text))
    assert all(tokens(chunk.text) <= size for chunk in chunks)
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert text[before.end : after.end].strip()


@given(odd_texts.map(lambda text: " ".join(text.split())), st.integers(16, 64), st.integers(1, 8))
def test_chunks_with_overlap_have_text_in_common(text, size, overlap):
    chunks = Tokens(size=size, overlap=overlap).split(page(text))
    assert all(text[after.start : before.end].strip() for before, after in itertools.pairwise(chunks))


def test_a_sentence_that_leaves_no_room_for_the_overlap_is_cut():
    text = "One two three four five six seven. Eight nine ten. A b c d e f g h i j k l m n o p q r s."
    chunks = [chunk.text for chunk in Tokens(size=20, overlap=6).split(page(text))]
    assert chunks == [
        "One two three four five six seven. Eight nine ten. ",
        "Eight nine ten. A b c d e f g h i j k l m n",
        " i j k l m n o p q r s.",
    ]


def test_token_chunks_end_at_sentence_ends():
    text = "The first sentence is here. The second one follows it. The third one ends the page."
    chunks = Tokens(size=14).split(page(text))
    assert [chunk.text for chunk in chunks] == [
        "The first sentence is here. The second one follows it. ",
        "The third one ends the page.",
    ]


def test_overlap_repeats_the_end_of_the_chunk_before():
    text = "Alpha is one. Beta is two. Gamma is three. Delta is four."
    chunks = [chunk.text for chunk in Tokens(size=10, overlap=5).split(page(text))]
    assert chunks == ["Alpha is one. Beta is two. ", "Beta is two. Gamma is three. ", "Gamma is three. Delta is four."]


def test_a_page_that_fits_is_one_chunk_with_its_white_space():
    (chunk,) = Tokens().split(page("\n One page. \n"))
    assert (chunk.text, chunk.start, chunk.end, chunk.id) == ("\n One page. \n", 0, 13, "law/lease:0:0")


@pytest.mark.parametrize("chunker", [Tokens(), Tokens(size=3), PageChunker(), Sentence(count=100)])
def test_no_chunk_crosses_a_page(chunker):
    pages = [Page("law/lease", index, f"Page {index} has a sentence. And one more.") for index in range(3)]
    assert {chunk.pages for chunk in chunker.split(pages)} == {(0,), (1,), (2,)}


def test_a_page_chunk_is_the_page():
    (chunk,) = PageChunker().split(page(" any text "))
    assert (chunk.text, chunk.start, chunk.end) == (" any text ", 0, 10)


def test_sentence_chunks_hold_so_many_sentences():
    chunks = Sentence(count=2).split(page("One. Two. Three. Four. Five."))
    assert [chunk.text for chunk in chunks] == ["One. Two. ", "Three. Four. ", "Five."]


def test_an_overlap_as_large_as_the_chunk_is_refused():
    with pytest.raises(ValueError, match=r"overlap must be smaller than size \(5\)"):
        Tokens(size=5, overlap=5)
