"""A page of an engine, tidied."""

import pytest

from ohr.markup.page import Markup, tidy
from ohr.text.words import words


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("|a|b|\n|---|:-:|\n|1|x\\|y|\n||3|", "| a | b |\n|---|:-:|\n| 1 | x\\|y |\n| | 3 |"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("a|b\nno table |x|y|", "a|b\nno table |x|y|"),
        ("|x| is a norm", "|x| is a norm"),
        ("one<br>two<BR/>three <br /> four", "one <br> two <BR/> three <br /> four"),
    ],
)
def test_cells_and_lines_are_parted(text, tidied):
    assert tidy(text, Markup()) == tidied
    assert tidy(tidied, Markup()) == tidied


def test_words_of_neighboring_cells_are_two():
    assert words(tidy("|ferry|berth|\n|-|-|\n|no.|3|", Markup())) == words("ferry berth no. 3")


@pytest.mark.parametrize("picture", ["![Kelp!](a.png)", "![a ![](b.png)", '<img src="a.png"/>', "![x][p1]"])
def test_pictures_go(picture):
    assert tidy(f"{picture} grows", Markup()).removeprefix("![a ") == " grows"
