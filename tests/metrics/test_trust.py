"""Words that a reading kept, misread and invented, and how its confidence fits."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from ohr.benchmarks.mini import Mini
from ohr.contracts import Word
from ohr.metrics.trust import COUNTS, INVENTED, SIMILAR, confidence_counts, likeness, page_trust

PAGE = (
    "The tenant of Harbor House pays 1,250.50 EUR a month to Anna Berg. The lease of the berth ends on 31 March 2027, "
    "and a deposit of $500 is due. Interest is 4.5%."
)
OTHER = "Vessels shall keep clear of the fairway at night."


def counts(text, truth=PAGE, document=(PAGE, OTHER)):
    return dict(zip(COUNTS, page_trust(text, truth, document), strict=True))


CASES = {
    "as it is": (PAGE, {"words_read": 28, "words_true": 28, "words_kept": 28}),
    "markup": (f"# {PAGE}".replace("tenant", "**tenant**"), {"words_kept": 28}),
    "another order": (PAGE[PAGE.index("The lease") :] + " " + PAGE[: PAGE.index("The lease")], {"words_kept": 28}),
    "misread": (PAGE.replace("tenant", "tcnant").replace("lease", "1ease"), {"words_kept": 26, "words_misread": 2}),
    "joined": (PAGE.replace("deposit of", "depositof"), {"words_kept": 26, "words_misread": 1}),
    "split": (PAGE.replace("Interest", "Inter est"), {"words_kept": 27, "words_misread": 2}),
    "repeated": (f"{PAGE} The lease of the berth ends on 31 March 2027.", {"words_kept": 28, "invented_repeated": 8}),
    "from elsewhere": (f"{PAGE} {OTHER}", {"words_kept": 28, "invented_elsewhere": 8}),
    "new": (f"{PAGE} Purple elephants dance under every moon.", {"words_kept": 28, "invented_new": 6}),
    "one word of another page": (PAGE.replace("due.", "due. Vessels"), {"invented_elsewhere": 1}),
    "a looped word": (f"{PAGE} berth berth berth berth", {"words_kept": 28, "invented_repeated": 4}),
    "empty": ("", {"words_true": 28, "numbers_true": 5, "amounts_true": 3, "names_true": 3}),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_a_word_is_kept_misread_or_invented(text, expected):
    counted = counts(text)
    fates = ("words_kept", "words_misread", *INVENTED)
    assert {name: counted[name] for name in expected} == expected
    assert sum(counted[name] for name in fates) == counted["words_read"]
    assert not any(counted[name] for name in fates if name not in expected and name != "words_kept")


FACTS = {
    "1,250.50": ("1,260.50", {"numbers_kept": 4, "numbers_new": 1, "amounts_kept": 2}),
    "1,250.50 ": ("1250.50 ", {"numbers_kept": 4, "amounts_kept": 2}),
    "EUR": ("euros", {"numbers_kept": 5, "amounts_kept": 2}),
    "$500": ("$ 500", {"numbers_kept": 5, "amounts_kept": 3}),
    "4.5%": ("45%", {"numbers_kept": 4, "amounts_kept": 2}),
    "Anna Berg": ("Anna Bcrg", {"numbers_kept": 5, "names_kept": 2}),
    "Harbor House": ("HARBOR\nHOUSE", {"names_kept": 3}),
}


@pytest.mark.parametrize(("true", "read", "expected"), [(true, *case) for true, case in FACTS.items()])
def test_numbers_amounts_and_names_are_kept_as_they_are_written(true, read, expected):
    counted = counts(PAGE.replace(true, read))
    assert {name: counted[name] for name in expected} == expected


def test_a_chinese_character_is_a_word():
    counted = counts("租金每月一千二百元由承租人支付。", "租金每月一千三百元由承租人支付。")
    assert (counted["words_read"], counted["words_kept"]) == (15, 14)


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_word_has_one_fate(text, truth):
    counted = counts(text, truth, (truth,))
    assert sum(counted[name] for name in ("words_kept", "words_misread", *INVENTED)) == counted["words_read"]
    assert counted["words_kept"] <= counted["words_true"]
    assert all(counted[f"{name}_kept"] <= counted[f"{name}_true"] for name in ("numbers", "amounts", "names"))


def test_words_are_counted_by_the_confidence_of_their_line():
    stated = [
        Word("The tenant of Harbor House pays", confidence=0.97),
        Word("1,260.50", confidence=0.304),
        Word("EUR"),
        Word("lea-", confidence=0.9),
        Word("se", confidence=0.8),
        Word("$500", confidence=1.0),
    ]
    assert confidence_counts(stated, PAGE) == [(0.3, 1, 1), (0.8, 1, 0), (0.97, 5, 0), (1.0, 1, 0)]


def test_words_of_a_line_are_compared_without_markup():
    line = r"Area $\frac{a}{b}$ of \textbf{land}"
    assert confidence_counts([Word(line, confidence=0.9)], line) == [(0.9, page_trust(line, line)[0], 0)]


def test_a_kept_word_is_no_part_of_a_misread_one():
    counted = counts("kelp gulls intere st boats", "st kelp gulls interest boats")
    assert (counted["words_kept"], counted["words_misread"]) == (4, 1)


def test_a_word_is_of_one_name():
    counted = counts("he met New York Times", "he met New York then New York Times")
    assert (counted["names_kept"], counted["names_true"]) == (1, 2)


def test_a_loop_of_digits_is_counted_at_once():
    began = perf_counter()
    assert counts("0," * 50_000 + "1" * 50_000)["numbers_new"] == 1
    assert perf_counter() - began < 5


def test_a_page_keeps_all_names_of_its_own():
    for document in Mini(languages=["en"]).documents():
        for page in Mini(languages=["en"]).pages(document):
            counted = counts(page.text, page.text)
            assert counted["names_kept"] == counted["names_true"]


def test_a_page_without_confidences_counts_nothing():
    assert confidence_counts([Word("The tenant")], PAGE) == []
    assert confidence_counts([], PAGE) == []


@given(st.text("ab", max_size=8), st.text("abc", max_size=8))
def test_likeness_is_that_of_indel(word, other):
    expected = ratio if (ratio := fuzz.ratio(word, other)) >= SIMILAR else 0
    assert likeness(word, other) == expected
    long = fuzz.ratio(word * 200, other * 200)
    assert likeness(word * 200, other * 200) == (long if long >= SIMILAR else 0)


def test_words_of_a_loop_without_blanks_are_compared_at_once():
    began = perf_counter()
    found = counts("b" * 300_000, "a" * 300_000, ())
    assert perf_counter() - began < 2  # a quarter of a minute by the square of their signs
    assert (found["words_read"], found["words_kept"]) == (1, 0)
