"""Words of texts in all scripts, spans of whole words, and Chinese as jieba cuts it."""

import json
import os
import re
import string
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.text import chinese
from ohr.text.chinese import HAN_RUN, chinese_words, cut_as_jieba
from ohr.text.whole_words import whole_words
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


SENTENCE = "他来到了网易杭研大厦租约从一九六四年开始租金是三百元"
PIECES = (
    "约", SENTENCE, "2021年", "T恤", "A座", " ", "\r\n", "rent ", "naïve", "，", "“", "№5", "㐀", "𠀀", "々〇", "⺀",
    "龥鿕鿖",
)  # fmt: skip
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def jieba():
    module = pytest.importorskip("jieba")
    module.setLogLevel("ERROR")
    return module


@given(st.text(st.sampled_from("约租金ab1年，。"), max_size=60), st.integers(1, 40))
def test_the_parts_are_the_whole_text(text, times):
    assert "".join(chinese_words(text * times)) == text * times


@given(
    st.lists(st.sampled_from(PIECES) | st.text(st.characters(min_codepoint=0x3400, max_codepoint=0xFAFF), max_size=9))
)
def test_texts_are_cut_as_jieba_cuts_them(jieba, pieces):
    text = "".join(pieces).translate(str.maketrans("", "", string.punctuation))
    assert cut_as_jieba(text) == jieba.lcut(text)


def runs(folder):
    """Collect the runs of Chinese in the files of a folder."""
    every_run = set()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in {".json", ".jsonl", ".md", ".txt"}):
        text = path.read_text(encoding="utf-8")
        every_run |= set(
            HAN_RUN.findall(json.dumps(json.loads(text), ensure_ascii=False) if path.suffix == ".json" else text)
        )
    return every_run


@pytest.mark.parametrize(
    "folder", ["benchmarks/mini", "benchmarks/finmmdocr", pytest.param("OHRBENCH_DATA", marks=pytest.mark.ohrbench)]
)
def test_runs_of_a_benchmark_are_cut_as_jieba_cuts_them(jieba, folder):
    if folder == "OHRBENCH_DATA" and folder not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    every_run = runs(Path(os.environ[folder]) / "retrieval_base" / "gt" if folder in os.environ else ROOT / folder)
    assert len(every_run) > 100
    assert {run: chinese_words(run) for run in every_run} == {run: jieba.lcut(run) for run in every_run}
