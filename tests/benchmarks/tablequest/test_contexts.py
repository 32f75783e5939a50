"""Contexts as pages: tags apart from words, and the rows and figures that a question needs."""

import pytest

from ohr.benchmarks.tablequest.contexts import as_page, blocks, evidence_of, facts_of
from ohr.text.words import words

PAGE = """\
<p>The reserve of $21.7 million, or 5%, was set up in 2023.</p>
<table><caption>In millions</caption>
<tr><td>Gross</td><td>$</td><td>438.2</td><td>483.5</td></tr>
<tr><td><p>Less: reserve</p></td><td></td><td>(21.7)</td><td>(16.9)</td></tr>
<tr><td>Net</td><td>$</td><td>416.5</td><td>466.6</td></tr></table>
<p>Net is 416.5.</p>"""


@pytest.mark.parametrize(
    ("context", "page"),
    [
        ("<td>57.9</td>", "<td> 57.9 </td>"),
        ("<td></td><td>5</td>", "<td></td><td> 5 </td>"),
        ("<p>a\n</p>", "<p> a\n</p>"),
        ("Net<b>work</b>s", "Net<b>work</b>s"),
        ("Item<sup>1</sup>", "Item <sup> 1 </sup>"),
        ("Item<br>two", "Item <br> two"),
        ("5&#160;%&nbsp;of AT&amp;T &lt; &#62; &mdash;", "5 % of AT&T &lt; &#62; —"),
        ("5 < 6 and 7 > 6", "5 < 6 and 7 > 6"),
        ("<!-- <td>1</td> -->2", "<!-- <td>1</td> --> 2"),
        ("no markup", "no markup"),
        ("", ""),
    ],
)
def test_tags_are_set_apart_from_words(context, page):
    assert as_page(context) == page


def test_the_words_of_a_cell_are_words_of_the_page():
    assert "579" not in words("<td>57.9</td>")
    assert "579" in words(as_page("<td>57.9</td>"))


def test_blocks_are_rows_and_paragraphs():
    found = blocks("<head><title>x</title></head><style>p {}</style>" + PAGE + "<div>a<div>b</div>c<br>d &lt; e</div>")
    assert [(block.text, block.is_row) for block in found] == [
        ("The reserve of $21.7 million, or 5%, was set up in 2023.", False),
        ("In millions", False),
        ("Gross $ 438.2 483.5", True),
        ("Less: reserve (21.7) (16.9)", True),
        ("Net $ 416.5 466.6", True),
        ("Net is 416.5.", False),
        *((letter, False) for letter in ("a", "b", "c")),
        ("d < e", False),
    ]


def test_markup_that_is_broken_is_read_as_far_as_it_goes():
    assert [block.text for block in blocks("<table><tr><td>1</td><tr><td>2</table><p>3")] == ["1", "2", "3"]


def test_facts_are_figures_of_the_answer_and_its_reasoning_that_the_page_has():
    steps = "1. Net fell from 466.60 to 416.5 in 2023. 2. -50.1 / 466.6 = -10.7%. 3. The reserve is (21.7)."
    assert facts_of(PAGE, "-10.7%", steps) == ("466.6", "416.5", "21.7")


def test_years_days_and_numbers_of_steps_are_no_facts():
    page = "<p>On December 31, 2022 there were 31 stores, 5 banners and $7 of cash.</p>"
    assert facts_of(page, "31 in 2022", "5. $7") == ("31", "7")


def test_evidence_is_the_block_with_most_facts_in_the_order_of_the_page():
    found = evidence_of(PAGE, ("466.6", "416.5", "21.7"))
    assert [block.text for block in found] == [
        "The reserve of $21.7 million, or 5%, was set up in 2023.",
        "Net $ 416.5 466.6",
    ]


def test_without_facts_all_of_the_page_is_evidence():
    assert evidence_of(PAGE, ()) == blocks(PAGE)
    assert evidence_of("", ()) == ()
