from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.questions.writing.spots import blocks, cut, section, size, spots, title

FIRST = "The keeper of the lamp at Corran Head writes down each ship that passes, and the book is sent to the harbor"
SECOND = "office of Ardwen on the last day of the month, where two clerks count the ships by flag and by the cargo."
TABLE = "\\begin{tabular}{|l|c|}\n\\hline Month & Ships \\\\\n\\hline May & 41 \\\\\n\\hline\n\\end{tabular}"
CHART = f"<chart>\n{TABLE.replace('Month', 'Flag')}\n</chart>"
PAGE = f"# The Corran Lamp\n\n{FIRST}\n\n{TABLE}\n\n{SECOND}\n\n## Flags\n\n{CHART}\n\n$$\nn = 41 + 60 \\tag{{1}}\n$$"


def kinds(text):
    return [(block.kind, text[block.start : block.end]) for block in blocks(text)]


def texts(page, source, most=300):
    return [[page[start:end] for start, end in spot.spans] for spot in spots(page, most) if spot.source == source]


def test_a_page_is_cut_into_paragraphs_headings_and_elements():
    assert kinds(PAGE) == [
        ("heading", "# The Corran Lamp"),
        ("text", FIRST),
        ("table", TABLE),
        ("text", SECOND),
        ("heading", "## Flags"),
        ("chart", CHART),
        ("formula", "$$\nn = 41 + 60 \\tag{1}\n$$"),
    ]


@pytest.mark.parametrize(
    "table", [TABLE, "<table><tr><td>May</td><td>41</td></tr></table>", "| May | 41 |\n| --- | --- |"]
)
def test_a_table_of_each_notation_is_a_spot_with_the_paragraphs_around_it(table):
    page = f"{FIRST}\n\n{table}\n\nNothing else."
    ((shown,),) = texts(page, "table")
    assert shown == page
    assert texts(f"{FIRST}\n\nNothing else.", "table") == []


def test_a_charts_table_is_no_table():
    assert texts(CHART, "table") == []
    assert texts(CHART, "chart") == [[CHART]]


def test_formulas_are_displays_and_then_paragraphs_with_an_equation():
    page = "The area is $a = 12$ acres, as $b$ says.\n\n# Sum\n\n$$\nc = a\n$$\n\nThere are $b$ acres."
    found = [(spot.rank, page[slice(*spot.spans[0])]) for spot in spots(page, 50) if spot.source == "formula"]
    assert [rank for rank, _ in found] == [1, 0]
    assert "c = a" in found[1][1]


def test_two_paragraphs_that_a_table_parts_are_a_spot_of_reading_order():
    assert texts(PAGE, "reading_order") == [[FIRST, SECOND]]
    assert [spot.rank for spot in spots(PAGE, 300) if spot.source == "reading_order"] == [0]


def test_paragraphs_side_by_side_and_of_two_sections_are_none():
    assert texts(f"{FIRST}\n\n{SECOND}", "reading_order") == []
    assert texts(f"{FIRST}\n\n{TABLE}\n\n## Office\n\n{SECOND}", "reading_order") == []


def test_a_caption_is_no_side_of_reading_order():
    caption = "Table 3. Ships by flag and month, counted at Corran Head from the books of the keeper and his two clerks"
    assert texts(f"{caption}\n\n{TABLE}\n\n{SECOND}", "reading_order") == []
    assert texts(f"{FIRST}\n\n{TABLE}\n\n{caption}\n\n{SECOND}", "reading_order") == [[FIRST, SECOND]]


def test_a_long_page_without_markup_is_cut_at_sentences_into_spots_that_do_not_overlap():
    page = " ".join(f"Sentence {number} has exactly eight words in it." for number in range(100))
    shown = [spot.spans[0] for spot in spots(page, 100)]
    assert [size(page[slice(*span)]) for span in shown] == [96] * 8  # the last 32 words are too few
    assert all(before[1] <= after[0] for before, after in pairwise(shown))
    assert all(page[start:end].startswith("Sentence") for start, end in shown)


def test_a_text_without_sentences_or_lines_is_cut_between_words():
    assert cut("word " * 25, 0, 125, 10) == [(0, 49), (50, 99), (100, 124)]


def test_a_run_without_spaces_is_cut_too():
    assert max(end - start for spot in spots("x" * 5000, 60) for start, end in spot.spans) <= 60 * 20


@given(st.lists(st.sampled_from([FIRST, TABLE, CHART, "$$a=1$$", "# Head", "<chart>", "\\begin{tabular}", "。", "工"])))
def test_whatever_a_page_holds_its_spots_are_inside_and_short(pieces):
    page = "\n\n".join(pieces)
    for spot in spots(page, 50):
        assert all(0 <= start < end <= len(page) for start, end in spot.spans)
        assert sum(size(page[start:end]) for start, end in spot.spans) <= 50


def test_a_table_that_is_too_long_is_cut_at_the_end_of_a_row():
    rows = "\n".join(f"| row {number} | {number} |" for number in range(100))
    ((shown,),) = texts(rows, "table", 60)
    assert shown.endswith("|\n")
    assert 50 < size(shown) <= 60


def test_short_pieces_are_no_text_spots():
    assert spots("Page 3 of 12", 300) == []
    assert spots("", 300) == []


def test_titles_and_sections():
    assert title(PAGE) == "The Corran Lamp"
    assert section(PAGE, PAGE.index(CHART)) == "Flags"
    assert section("No heading", 5) == ""
    assert title("\n\nAnnual Report of Ardwen\nmore") == "Annual Report of Ardwen"
    assert title("云 岫 县 政 务 公 报\n2023 年第 3 期") == "云岫县政务公报"
    assert title("# 第 3 期 Berth 3") == "第 3 期 Berth 3"
    assert title("word " * 40) == ""
    assert title("\\section*{Duties of the Keeper}\n\ntext") == "Duties of the Keeper"
