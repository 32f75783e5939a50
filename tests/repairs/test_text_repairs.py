"""Words that line ends cut, and lines that pages repeat."""

import numpy as np
import pytest

from ohr.contracts import Page
from ohr.repairs.dehyphenate import Dehyphenate
from ohr.repairs.strip_artifacts import StripArtifacts
from ohr.repairs.strip_headers import StripHeaders

RNG = np.random.default_rng(0)


def pages(*texts):
    return [Page("law/lease", index, text) for index, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("text", "repaired", "counts"),
    [
        ("the func-\ntions of it", "the functions\nof it", (1, 0, 0)),
        ("func-  \n  tions, then", "functions,\nthen", (1, 0, 0)),
        ("pro\u00ad\nCess", "proCess\n", (1, 0, 0)),  # a soft hyphen says that the word is one
        ("co-\noperate and cooperate", "cooperate\nand cooperate", (1, 0, 0)),
        ("well-\nknown and well-known", "well-known\nand well-known", (0, 1, 0)),
        ("a long term, long-\nterm", "a long term, long-\nterm", (0, 0, 1)),  # both halves are words
        ("Jean-\nPaul", "Jean-\nPaul", (0, 0, 1)),  # a name
        ("NATO-\nstyle", "NATO-\nstyle", (0, 0, 1)),
        ("x-\nray", "x-\nray", (0, 0, 1)),
        ("pages 12-\n14 and a dash -\nas here", "pages 12-\n14 and a dash -\nas here", (0, 0, 0)),
        ("- one\n- two\n\n| a- | b |", "- one\n- two\n\n| a- | b |", (0, 0, 0)),
        ("two para-\n\ngraphs", "two para-\n\ngraphs", (0, 0, 0)),
        ("", "", (0, 0, 0)),
    ],
)
def test_cut_words_are_joined_where_the_document_says_so(text, repaired, counts):
    (page,) = Dehyphenate().treat(pages(text), RNG)
    assert page.text == repaired
    assert tuple(page.record.values()) == counts


def test_artifacts_go_and_are_counted():
    texts = ("Sorry, I can't read this page.", "```\nPay here.\n```", "Pay here.")
    treated = StripArtifacts().treat(pages(*texts), RNG)
    assert [page.text for page in treated] == ["", "Pay here.", "Pay here."]
    assert [dict(page.record) for page in treated] == [
        {"refusal": 1, "characters": 30},
        {"fence": 1, "characters": 7},
        {},
    ]
    assert StripArtifacts(kinds=["loop"]).treat(pages(*texts), RNG)[0].text == texts[0]


def test_other_pages_decide_about_a_word_and_nothing_is_joined_across_pages():
    treated = Dehyphenate(unknown="leave").treat(pages("cut-\nter and un-\nknown, end-", "ing cutter"), RNG)
    assert [page.text for page in treated] == ["cutter\nand un-\nknown, end-", "ing cutter"]
    assert treated[0].record == {"joined": 1, "hyphens_kept": 0, "left": 1}


WORDS = (
    "berth",
    "harbour",
    "quarry",
    "foundry",
    "library",
    "tower",
    "chapel",
    "mill",
    "orchard",
    "causeway",
    "inn",
    "toll",
)
BODIES = [f"{word} {word}\n\n{word * 2} and {word}." for word in WORDS[:5]]


def book(head, foot):
    return pages(*(f"{head}\n{body}\n{foot}".replace("NUMBER", str(index + 7)) for index, body in enumerate(BODIES)))


@pytest.mark.parametrize(
    ("head", "foot"),
    [
        ("The Ferry Lease", "NUMBER"),
        ("# The Ferry Lease, page NUMBER of 30", "- NUMBER -"),
        ("NUMBER", "Draft of 12 May 1964\n**NUMBER**"),
    ],
)
def test_heads_feet_and_page_numbers_go(head, foot):
    treated = StripHeaders().treat(book(head, foot), RNG)
    assert [page.text for page in treated] == BODIES
    assert all(page.record["lines"] >= 2 for page in treated)


def test_a_head_that_ocr_misread_and_roman_numbers_go():
    read = ["The Ferry Lease", "Tne Ferry Lease", "The Ferry Leas3", "The Fcrry Lease", "The Ferry Lease"]
    given = map("\n".join, zip(read, BODIES, ("iii", "iv", "v", "vi", "vii"), strict=True))
    assert [page.text for page in StripHeaders().treat(pages(*given), RNG)] == BODIES


@pytest.mark.parametrize(
    "texts",
    [
        ["The Lease"] * 5,  # nothing else would be left
        ["Lease\none", "Lease\ntwo"],  # too few pages
        ["17\nten words", "90\nmore words", "4\nother words"],  # numbers that do not grow with the pages
        ["a\nb\nRent\nc\nd", "e\nf\nRent\ng\nh", "i\nj\nRent\nk\nl"],  # in the middle
        ["Rent\none\ntwo", "three\nfour\nRent", "Rent\nfive\nsix"],  # at different edges
        ["", "", ""],
    ],
)
def test_what_may_be_text_stays(texts):
    treated = StripHeaders().treat(pages(*texts), RNG)
    assert [(page.text, page.record) for page in treated] == [(text, {"lines": 0}) for text in texts]


def test_a_head_that_ends_with_its_chapter_goes_too():
    chapters = [*["Rent"] * 4, *["Repairs"] * 4, *["Notice"] * 4]
    treated = StripHeaders().treat(pages(*map("\n".join, zip(chapters, WORDS, strict=True))), RNG)
    assert [page.text for page in treated] == [*WORDS]
