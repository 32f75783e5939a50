"""Prompts with images, and with the text that OCR read on them."""

import pytest

from ohr.benchmarks.fcmbench.prompting import text_prompt


@pytest.mark.parametrize("mark", ["<image>", "<image_001>", "<images_001>"])
def test_each_kind_of_placeholder_is_replaced(mark):
    assert text_prompt(f"{mark}\nWho?", ["Ann"]) == "[Image 1]\nAnn\nWho?"


def test_placeholders_are_counted_by_their_order():
    asked = "<images_001><images_002>\nA. <images_003>\nWho is <name>?"
    assert text_prompt(asked, ["one", "two", "three"]) == (
        "[Image 1]\none\n[Image 2]\ntwo\nA. [Image 3]\nthree\nWho is <name>?"
    )


def test_the_question_does_not_follow_the_text_on_its_line():
    assert text_prompt("<image>Who?", ["Ann"]) == "[Image 1]\nAnn\nWho?"


def test_placeholders_in_a_text_are_no_placeholders():
    assert text_prompt("<image><image>", ["<image>", "x\\1"]) == "[Image 1]\n<image>\n[Image 2]\nx\\1"


def test_an_unread_image_leaves_an_empty_text():
    assert text_prompt("<image>\nWho?", [""]) == "[Image 1]\n\nWho?"


@pytest.mark.parametrize("texts", [[], ["one", "two"]])
def test_there_must_be_a_text_for_each_placeholder(texts):
    with pytest.raises(ValueError, match=f"1 placeholders, but {len(texts)} texts"):
        text_prompt("<image>Who?", texts)
