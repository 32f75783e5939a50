"""Engines made of engines."""

import json

import numpy as np
import pytest
from pydantic import ValidationError

from ohr.contracts import Document, DocumentView, Recognition
from ohr.errors import PluginError
from ohr.ocr.routing.best_of import BestOf
from ohr.ocr.routing.first_of import FirstOf, Rule
from ohr.ocr.routing.gate import Gate
from ohr.ocr.routing.vote import Vote, voted

from ..conftest import typeset

WORDS = "Rent of 1250 francs is due in May of each year at the harbour office"
BLANK = np.full((60, 400, 3), 255, dtype=np.uint8)


def recorded(folder, *pages):
    (folder / "law").mkdir(exist_ok=True)
    found = [{"page_idx": index, "text": text} for index, text in enumerate(pages)]
    (folder / "law" / "lease.json").write_text(json.dumps(found))
    return {"kind": "precomputed", "root": str(folder)}


def view(*images):
    return DocumentView(Document("law/lease", "law", "en", len(images)), images)


def test_the_first_part_that_reads_well_is_taken_page_by_page(tmp_path):
    good = "The lease of the ferry berth began in 1964 and ends after ninety years."
    garbled = " ".join(["(cid:12)(cid:3)"] * 20)
    engine = FirstOf(parts=[recorded(tmp_path, good, garbled, ""), {"kind": "tesseract"}])
    assert engine.reads_documents and engine.reads_original
    found = list(engine.recognise_document(view(BLANK, typeset(WORDS), BLANK)))
    assert [read.reader for read in found] == ["precomputed", "tesseract", "tesseract"]
    assert found[0].text == good
    assert found[1].text == WORDS
    assert found[2].text == "" and found[2].error is None  # a page that nobody can read is empty, not failed


def test_where_the_last_part_fails_an_earlier_one_counts(tmp_path):
    engine = FirstOf(parts=[{"kind": "tesseract"}, recorded(tmp_path, "a short page")])
    found = list(engine.recognise_document(view(BLANK, typeset("Short"))))
    assert [read.reader for read in found] == ["precomputed", "tesseract"]
    assert found[1].text == "Short"


def test_a_page_that_all_parts_fail_on_says_so(tmp_path):
    engine = FirstOf(parts=[recorded(tmp_path, "one"), recorded(tmp_path, "one")])
    found = list(engine.recognise_document(view(BLANK, BLANK)))
    assert found[1].error == "precomputed 2: not among the precomputed results"


@pytest.mark.parametrize(
    ("rule", "read", "good"),
    [
        ({}, Recognition("a b c d e f g h i j"), True),
        ({}, Recognition("too short"), False),
        ({"words": 2}, Recognition("too short"), True),
        ({}, Recognition("今年的租金是三百元合同从二〇二一年开始" * 3), True),
        ({}, Recognition("\ufffd\ufffd bad map of a font that " * 5), False),
        ({}, Recognition("| - - | - - | = = . . . . . ; ; ;" * 3), False),
        ({}, Recognition("a b c d e f g h i j", finish="length"), False),
        ({"ends": ["stop", "length"]}, Recognition("a b c d e f g h i j", finish="length"), True),
        ({"confidence": 0.8}, Recognition("a b c d e f g h i j", confidence=0.7), False),
        ({"confidence": 0.8}, Recognition("a b c d e f g h i j"), True),
        ({}, Recognition("", error="paper jam"), False),
    ],
)
def test_the_rule(rule, read, good):
    assert Rule(**rule).accepts(read) is good


def test_ground_truth_and_single_parts_are_refused():
    with pytest.raises(PluginError, match="ground_truth cannot be a part"):
        FirstOf(parts=[{"kind": "ground_truth"}, {"kind": "tesseract"}]).check()
    with pytest.raises(ValidationError, match="at least 2"):
        FirstOf(parts=[{"kind": "tesseract"}])
    with pytest.raises(ValidationError, match="no ocr 'tessract'"):
        FirstOf(parts=[{"kind": "tessract"}, {"kind": "tesseract"}])


def test_a_vote_repairs_what_one_engine_misreads():
    readings = [
        ["Rent of 1250 francs", "is due in Mny", "at the office"],
        ["Rent of 1260 francs", "is due in May", "page 7"],
        ["Rent of 1250 francs", "is due in May", "at the office", "page 7"],
    ]
    assert voted(readings, 0.6) == ["Rent of 1250 francs", "is due in May", "at the office", "page 7"]


def test_lines_in_another_order_are_paired():
    readings = [["left one", "right two"], ["right two", "left one"], ["right two", "left 0ne"]]
    assert voted(readings, 0.6) == ["left one", "right two"]


def test_two_engines_cannot_outvote_each_other():
    assert voted([["Mny"], ["May"]], 0.5) == ["Mny"]
    assert voted([[], ["only there"]], 0.5) == []
    assert voted([[], ["there"], ["there"]], 0.5) == ["there"]


def test_parts_that_fail_have_no_vote(tmp_path):
    engine = Vote(parts=[recorded(tmp_path), {"kind": "tesseract"}, {"kind": "tesseract", "psm": 6}])
    (read,) = engine.recognise_document(view(typeset(WORDS)))
    assert read.text == WORDS
    (lost,) = Vote(parts=[recorded(tmp_path), recorded(tmp_path)]).recognise_document(view(BLANK))
    assert lost.error.startswith("precomputed 1: ")


# --- the best of several, and a gate ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "reads", "best"),
    [
        ("confidence", [Recognition("a", confidence=0.5), Recognition("b", confidence=0.9)], "b"),
        ("confidence", [Recognition("a"), Recognition("b", confidence=0.1)], "b"),  # one that states none ranks last
        ("confidence", [Recognition("a"), Recognition("b")], "a"),
        ("confidence", [Recognition("", "paper jam"), Recognition("b")], "b"),
        ("words", [Recognition("two words"), Recognition("now three words")], "now three words"),
        ("words", [Recognition("今年的租金"), Recognition("rent")], "今年的租金"),
        ("letters", [Recognition("~~ | a"), Recognition("all of it letters")], "all of it letters"),
        ("letters", [Recognition(""), Recognition("?")], ""),
    ],
)
def test_the_best_text_of_a_page_is_kept(by, reads, best):
    engine = BestOf(parts=[{"kind": "tesseract"}, {"kind": "tesseract", "psm": 6}], by=by)
    assert engine.best(reads).text == best


def test_the_best_engine_is_found_page_by_page(tmp_path):
    engine = BestOf(parts=[recorded(tmp_path, "a page", "b", ""), {"kind": "tesseract"}], by="words")
    results = engine.recognise_document(view(BLANK, typeset(WORDS), BLANK))
    assert [(read.reader, read.text) for read in results] == [
        ("precomputed", "a page"),
        ("tesseract", WORDS),
        ("precomputed", ""),
    ]
    failed = BestOf(parts=[recorded(tmp_path), recorded(tmp_path)]).recognise_document(view(BLANK))
    assert failed[0].error.startswith("precomputed 1: ")


@pytest.mark.parametrize("router", [FirstOf, BestOf, Gate])
def test_the_words_of_the_chosen_part_stay(router):
    part = {"kind": "tesseract"}
    (read,) = router(parts=[part, {**part, "psm": 6}]).recognise([typeset(WORDS)])
    assert [word.text for word in read.words] == WORDS.split()
    assert all(0.5 < word.confidence <= 1 for word in read.words)


def test_a_gate_leaves_out_what_is_read_badly(tmp_path):
    engine = Gate(
        parts=[recorded(tmp_path, "a page that is read well enough by its rule", "~~", "")], rule={"words": 5}
    )
    results = engine.recognise_document(view(BLANK, BLANK, BLANK, BLANK))
    assert [read.reader for read in results] == ["precomputed", "left out", "left out", ""]
    assert [read.text for read in results][1:] == ["", "", ""]
    assert [read.error for read in results] == [None, None, None, "precomputed: not among the precomputed results"]


def test_a_gate_with_a_second_engine_sends_it_what_is_read_badly(tmp_path):
    engine = Gate(parts=[recorded(tmp_path, "~~", ""), {"kind": "tesseract"}])
    results = engine.recognise_document(view(typeset(WORDS), BLANK))
    assert [(read.reader, read.text) for read in results] == [("tesseract", WORDS), ("tesseract", "")]
    with pytest.raises(ValidationError, match="at most 2"):
        Gate(parts=[{"kind": "tesseract"}] * 3)
