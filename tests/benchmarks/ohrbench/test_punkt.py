import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.chunkers._punkt import sentence_starts

SIGNS = [
    ".",
    "!",
    "?",
    " ",
    "\n",
    '"',
    "'",
    ")",
    "]",
    "...",
    " . . .",
    "--",
    "A",
    "b",
    "U.S",
    "5",
    "1,2",
    "Dr",
    ",",
    "(",
]


@given(st.lists(st.sampled_from([*SIGNS, "\u3000", "。", "*", "\t", ";", ":"]), max_size=40).map("".join))
def test_sentences_begin_where_nltk_sees_them(text):
    nltk = pytest.importorskip("nltk.tokenize.punkt")
    assert sentence_starts(text) == [start for start, _ in nltk.PunktSentenceTokenizer().span_tokenize(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Rent is due. It is late.", ["Rent is due. ", "It is late."]),
        ("Why? It is! Yes", ["Why? ", "It is! ", "Yes"]),
        ("By J. Bach. He wrote.", ["By J. Bach. ", "He wrote."]),
        ("See no. 5. below it.", ["See no. ", "5. below it."]),
        ("Wait... then go.", ["Wait... then go."]),
        ("Dr. Smith left.", ["Dr. ", "Smith left."]),
        ('He said "Go." Then left.', ['He said "Go." ', "Then left."]),
        ("It ends.) Next one.", ["It ends.) ", "Next one."]),
        ("It ends.” Next one. Last.", ["It ends.” Next one. ", "Last."]),  # a later NLTK cuts after the quote
        ("租金三百元。合同。", ["租金三百元。合同。"]),
        ("  Indented. So.", ["  Indented. ", "So."]),
        (" \n ", []),
        ("", []),
    ],
)
def test_a_text_is_cut_as_the_published_code_does(text, sentences):
    starts = sentence_starts(text)
    assert [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=False)] == sentences
