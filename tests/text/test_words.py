import re
import string
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.text import chinese
from ohr.text.words import normalise, searched_words, typed, words, words_beside_chinese


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("!!!", ""),
        ("The theory of AN apple", "theory of apple"),
        ("$1.5 million, a 12.5 %", "15 million 125"),
        ("state-of-the-art", "stateoftheart"),
        ("one\u00a0two\n\tthree", "one two three"),
        ("“quoted” – ﬁne", "“quoted” – ﬁne"),
        (r"\textbf{the} cat", "textbfthe cat"),
        ("a\u0301 b", "a\u0301 b"),  # an accented letter is not the article
        ("the\u2019 cat", "\u2019 cat"),
        ("a的 cat", "a的 cat"),
    ],
)
def test_normalising_lowers_and_drops_punctuation_and_articles(text, expected):
    assert normalise(text) == expected


@given(st.text())
def test_normalised_text_has_no_punctuation_and_single_spaces(text):
    result = normalise(text)
    assert not set(string.punctuation) & set(result)
    assert result == " ".join(result.split())


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_normalising_ascii_agrees_with_the_plain_regular_expression(text):
    kept = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    assert normalise(text) == " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def test_words_of_text_without_words_are_none():
    assert words(" The, ... a ") == ()


def test_chinese_runs_are_cut_into_words():
    assert words("2021年增长10% 他来到了网易杭研大厦", segment_chinese=True) == (
        *("2021", "年", "增长", "10"),
        *("他", "来到", "了", "网易", "杭研", "大厦"),
    )


def test_the_reference_leaves_chinese_runs_whole():
    assert words("2021年增长10% 北京 is big", segment_chinese=False) == ("2021年增长10", "北京", "is", "big")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("テスト 테스트", ("テ", "ス", "ト", "테스트")),
        ("で始まった。", ("で", "始", "ま", "っ", "た")),
        ("รุ่น", ("รุ่", "น")),  # Thai: vowel and tone stay with their consonant
        ("ຖ້າ", ("ຖ້", "າ")),
        ("ភាសា", ("ភា", "សា")),
        ("မြန်မာ", ("မြ", "န်", "မာ")),
    ],
)
def test_scripts_without_spaces_are_cut_into_letters_with_their_marks(text, expected):
    assert words(text) == expected
    assert words(text, segment_chinese=False) == tuple(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("กรุงเท", ("กรุ", "รุง", "งเ", "เท")),
        ("ノ", ("ノ",)),
        ("rent 東京", ("rent", "東京")),
    ],
)
def test_a_search_takes_neighboring_letters_together(text, expected):
    assert searched_words(text) == expected


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("¿Granada?", "granada"),
        ("«Париж»…", "париж"),
        ("„Wien“", "wien"),
        ("दिल्ली।", "दिल्ली"),
        ("القاهرة،", "القاهرة"),
        ("القاهـــرة", "القاهرة"),
        ("cafe\u0301", "café"),
        ("co\u00adoperate", "cooperate"),
        ("co\u00ad\noperate", "cooperate"),
        ("co-\r\noperate", "cooperate"),
        ("3 =\u0338 4", "3 4"),  # as of ≠, the composed form
        ("\ufeffParis\u200f", "paris"),
        ("１，９６４", "1964"),
        ("２０２０－２１", "202021"),
        ("٢٠٢١", "2021"),
        ("ﬁne", "fine"),
        ("ﾄｷ", "トキ"),
        ("25\u00a0°C", "25 c"),
        ("€5", "5"),
        ("x²", "x²"),  # not x2, which is another number
        ("東京。大阪", "東京 大阪"),
        ("שָׁלוֹם", unicodedata.normalize("NFC", "שָׁלוֹם")),  # a vowel sign is part of its word
    ],
)
def test_the_clean_protocol_compares_signs_of_all_scripts_as_it_does_those_of_ascii(text, plain):
    assert words(text) == words(plain)
    assert " ".join(normalise(typed(text)).split()) == plain


@given(st.text())
def test_typed_text_stays_as_it_is_when_typed_again(text):
    assert typed(typed(text)) == typed(text)


def test_importing_text_does_not_import_rjieba():
    code = "import sys, ohr.text.words; print('rjieba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@given(st.text(st.sampled_from("ab 1.,–中文年The \n"), max_size=40))
def test_words_beside_chinese_are_the_other_words(text):
    assert words_beside_chinese(text) == {word for word in words(text) if not chinese.HAS_HAN.search(word)}


def test_typographic_quotes_are_quotes_in_the_clean_protocol_only():
    assert words("he doesn’t say “rent”") == ("he", "doesnt", "say", "rent")
    assert words("he doesn’t", segment_chinese=False) == ("he", "doesn’t")


def test_dashes_of_print_are_hyphens_in_the_clean_protocol_only():
    assert words("1964–2034 – a well‑known lease") == words("1964-2034 - a well-known lease")
    assert words("1964–2034", segment_chinese=False) == ("1964–2034",)


@pytest.mark.parametrize("text", ["he doesn’t – say", "the hal-\nyard", "租金 isn’t"])
def test_words_beside_chinese_are_cut_in_the_same_way(text):
    assert words_beside_chinese(text) == {word for word in words(text) if not chinese.HAS_HAN.search(word)}


def test_a_word_that_a_line_cuts_is_one_word_in_the_clean_protocol_only():
    assert words("the hal-\nyard, pages 3-\n4") == ("halyard", "pages", "3", "4")
    assert words("hal-\nyard", segment_chinese=False) == ("hal", "yard")
