import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.text.sentences import sentence_spans

pieces = st.lists(
    st.sampled_from(["One", "two", ".", "!", "?", " ", "\n", "\n\n", "No.", "e.g.", "。", "”", "3.14", "\u3000", "$"]),
    max_size=25,
).map("".join)


def cut(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@given(st.one_of(pieces, st.text()))
def test_sentences_cover_the_whole_text_once_and_none_is_blank(text):
    assert "".join(cut(text)) == (text if text.strip() else "")
    assert all(sentence.strip() for sentence in cut(text))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("It cost 3.14 francs. Then more.", ["It cost 3.14 francs. ", "Then more."]),
        ("See Fig. 3 and Dr. Ott. Then go.", ["See Fig. 3 and Dr. Ott. ", "Then go."]),
        ("“Stop.” he said. ‘Go.’ I went.", ["“Stop.” he said. ", "‘Go.’ I went."]),
        ('He said "stop." Then he left.', ['He said "stop." ', "Then he left."]),
        ("# Title\n\nText follows.", ["# Title\n\n", "Text follows."]),
        ("租金三百元。何时开始？“现在。”他说。", ["租金三百元。", "何时开始？", "“现在。”", "他说。"]),
        ("Really?! Yes.", ["Really?! ", "Yes."]),
        ("किला दिल्ली। बड़ा है।", ["किला दिल्ली। ", "बड़ा है।"]),
        ("أين؟ هنا", ["أين؟ ", "هنا"]),
        ("Clause No.\n \nNext paragraph.", ["Clause No.\n \n", "Next paragraph."]),
        ("Clause No.\n\nNext paragraph.", ["Clause No.\n\n", "Next paragraph."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, sentences):
    assert cut(text) == sentences
