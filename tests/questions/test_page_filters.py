"""Pages that no question is written about."""

import random

import pytest

from ohr.benchmarks.mini import Mini
from ohr.contracts import Page
from ohr.questions.page_filters import kind_of_list, left_out
from ohr.text.layer import unreadable
from ohr.text.words import words
from tests.paper import prose

GERMAN = (
    "Der Hafen von Marren ist im Winter geschlossen, und die Schiffe liegen vor der Mole. Die Fischer gehen in dieser "
    "Zeit nicht auf das Meer, sondern flicken ihre Netze. Erst mit dem Frühjahr wird der Betrieb wieder aufgenommen. "
    "Die Stadt zahlt den Fischern in den Monaten ohne Fang eine kleine Summe, die sie im Sommer zurückzahlen. Das "
    "Verfahren ist seit dem Jahr 1931 in Kraft und hat sich bewährt."
)
CONTENTS = "Contents\n" + "\n".join(
    f"{number} {title} of the harbor and the people who work there {'.' * 20} {page}"
    for number, (title, page) in enumerate(
        zip(("History", "Tides", "Nets", "Boats", "Law", "Rent"), (1, 9, 14, 14, 40, 77), strict=True)
    )
)
ENTRIES = ("anchor", "ballast", "capstan", "davit", "ensign", "fathom", "galley", "halyard", "jetty", "keel")
INDEX = "\n".join(
    f"{word}, and other words of this kind, {40 - page}, {40 + page}–{60 - page}" for page, word in enumerate(ENTRIES)
)
REFERENCES = "References\n" + "\n".join(
    f"[{number}] A. Gull and B. Tern. The nests of the northern cliff. Shores, {number}:1-9, {1990 + number}."
    for number in range(1, 9)
)
NUMBERS = "Depth " + " ".join(f"{at}.{at % 7}{at % 9} {at * 3}" for at in range(60))


def filters(*texts, language="en"):
    pages = [Page(f"law/{at}", 0, text) for at, text in enumerate(texts)]
    return [
        (page.document, page.filter, page.reason)
        for page in left_out(pages, {page.document: language for page in pages})
    ]


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("Notes", "few_words", "it has 1 word"),
        (NUMBERS, "few_letters", "1% of its signs are letters"),
        (GERMAN, "language", "language de is not supported: questions are in en and zh"),
        (CONTENTS, "list", "it is a table of contents"),
        (INDEX, "list", "it is an index"),
        (REFERENCES, "list", "it is a list of references"),
    ],
)
def test_a_page_is_left_out_by_the_filter_of_its_kind(text, name, reason):
    assert filters(text) == [("law/0", name, reason)]


def test_prose_in_english_and_chinese_stays():
    chinese = (
        "马伦港办公室保存整个北部海岸的潮汐表，并在春季印刷。十一个站点每个都通过邮寄方式发送读数，职员在同一天将其登记在账簿中。"
        * 2
    )
    assert filters("\n".join(prose("harbor")), chinese) == []


def test_every_page_of_mini_stays():
    mini = Mini()
    pages = [page for document in mini.documents() for page in mini.pages(document)]
    assert list(left_out(pages, {})) == []


def test_a_page_without_function_words_is_in_the_language_of_its_document():
    table = "\n".join(
        f"Trawler {name} Cuxhaven Mole {at} Heringe {at * 7 % 5}" for at, name in enumerate(["Anna", "Berta"] * 10)
    )
    assert filters(table, language="en") == []
    assert filters(table, language="de")[0][1] == "language"


def test_a_page_repeats_another_but_for_its_running_title_and_number():
    terms = prose("ferry", 10)
    first, second = ("\n".join([title, *terms, number]) for title, number in (("Offer 1", "3"), ("Offer 2", "5")))
    assert filters(first, second) == [("law/1", "repeated", "it repeats page 1 of law/0")]
    other = second.replace("eleven stations", "twelve stations")
    assert filters(first, other) == []


def test_a_table_of_amounts_is_no_table_of_contents():
    rows = "\n".join(
        f"Cod landed at the northern mole in the year | {value}" for value in (12, 9, 40, 31, 7, 88, 20, 3)
    )
    assert kind_of_list(rows, 80) == ""
    wide = "\n".join(f"Cod and herring {at} {at + 1} {at + 2} {at + 3} {at + 4}" for at in range(1, 20))
    assert kind_of_list(wide, 150) == ""


class TestReadable:
    TEXT = " ".join(prose("harbor", 10))

    def test_words_are_readable(self):
        assert unreadable(self.TEXT) == unreadable(GERMAN) == unreadable("") == unreadable("3#dqg") == ""

    def test_swapped_letters_are_mostly_not(self):
        letters = "abcdefghijklmnopqrstuvwxyz"
        tables = (str.maketrans(letters, "".join(random.Random(seed).sample(letters, 26))) for seed in range(200))
        assert sum(bool(unreadable(self.TEXT.lower().translate(table))) for table in tables) >= 180

    def test_signs_in_the_place_of_letters_are_not(self):
        numbers = {letter: chr(0x21 + place) for place, letter in enumerate(dict.fromkeys(self.TEXT.replace(" ", "")))}
        in_order_of_use = "".join(numbers.get(letter, letter) for letter in self.TEXT)
        assert unreadable(in_order_of_use) == "25% of its signs are letters or digits"

    def test_letters_with_signs_between_them_are_not(self):
        assert unreadable(self.TEXT.replace("e", "#").replace("t", "^")).endswith("of its words look like words")

    def test_rare_chinese_characters_are_not(self):
        chinese = "".join(chr(0x4E00 + (ord(c) * 37) % 20000) for c in "abcdefghij" * 12)
        assert unreadable(chinese).endswith("of its Chinese characters are frequent ones")
        assert unreadable("马伦港办公室保存整个北部海岸的潮汐表，并在春季印刷。" * 6) == ""


def test_mini_is_readable():
    mini = Mini()
    assert not [
        page for document in mini.documents() for page in mini.pages(document) if unreadable(" ".join(words(page.text)))
    ]
