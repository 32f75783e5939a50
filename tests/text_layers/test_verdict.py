"""Verdicts on text layers: from two readers, from what the page looks like, and from OCR."""

import pytest

from ohr.files.pdf_text import Layer, Sight
from ohr.text_layers.second_reader import Reading
from ohr.text_layers.verdict import Verdict, judge, settle
from tests.paper import prose

TEXT = "\n".join(prose("harbor", 4))
GLYPHS = sum(map(str.isalnum, TEXT))
PLAIN = Sight(GLYPHS, 0, 0.05, 0.0)
MORE = TEXT + "\nand the pilots meet below the lighthouse"
OTHER_LETTERS = TEXT.translate({ord(small): ord(capital) for small, capital in zip("eatoin", "XKQWJZ", strict=True)})


def judged(text=TEXT, second=None, sight=PLAIN, unknown=0, left_out=0):
    return judge(Layer(text, None, len(text), unknown, left_out), sight, text, second)


@pytest.mark.parametrize(
    ("known", "word"),
    [
        ({"second": Reading(TEXT, 0)}, "whole"),
        ({}, "whole"),
        ({"text": " \n", "sight": Sight(0, 0, 0.0, 0.0)}, "none"),
        ({"second": Reading(TEXT.replace("fi", "\ufb01"), 0)}, "whole"),  # a ligature
        ({"second": Reading("".join(reversed(TEXT)), 0)}, "whole"),  # in another order
        ({"text": MORE, "second": Reading(TEXT, 0)}, "whole"),  # fields, which pdfminer does not read
        ({"second": Reading(MORE, 0)}, "incomplete"),
        ({"second": Reading(OTHER_LETTERS, 0)}, "whole"),  # pdfminer reads the same glyphs otherwise
        ({"text": "tide", "second": Reading(OTHER_LETTERS.lower(), 0)}, "whole"),  # what pdfminer reads is no words
        ({"unknown": 40}, "incomplete"),
        ({"unknown": 40, "second": Reading(TEXT, 0)}, "whole"),
        ({"unknown": 40, "second": Reading(TEXT, 40)}, "incomplete"),  # nor has pdfminer characters for them
        ({"left_out": 2}, "incomplete"),
        ({"left_out": 2, "second": Reading(TEXT, 0)}, "whole"),
        ({"sight": Sight(GLYPHS, GLYPHS // 2, 0.05, 0.0)}, "garbled"),
        ({"text": "Tide", "sight": Sight(4, 0, 0.3, 0.99)}, "incomplete"),
        ({"text": "Tide tables", "sight": Sight(0, 0, 0.3, 1.0)}, "whole"),  # of a field
    ],
)
def test_a_text_layer_is_judged_by_both_readers_and_its_look(known, word):
    assert judged(**known).word == word


DOUBT = Verdict("incomplete", "40 of 60 glyphs have no Unicode", is_open=True)
NO_WORDS = Verdict("garbled", "it is not words", is_open=True)


@pytest.mark.parametrize(
    ("verdict", "text", "recognised", "word"),
    [
        (DOUBT, TEXT, TEXT.replace("ledger", "1edger"), "whole"),
        (DOUBT, "Tide tables", "Tide tables", "whole"),
        (DOUBT, "Tide tables", "Tide", "incomplete"),
        (DOUBT, "Tide tables", TEXT, "incomplete"),
        (DOUBT, TEXT.lower().translate({code: code + 1 for code in range(97, 122)}), TEXT, "garbled"),
        (DOUBT, TEXT, "", "incomplete"),
        (NO_WORDS, TEXT, MORE, "whole"),
        (Verdict("whole"), "\n".join(prose("harbor", 1)), TEXT, "incomplete"),
    ],
)
def test_ocr_confirms_or_overrules_where_it_reads_enough(verdict, text, recognised, word):
    assert settle(verdict, text, recognised).word == word
    assert settle(verdict, text, recognised).reason or word == "whole"
