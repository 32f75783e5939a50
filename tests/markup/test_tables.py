import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ohr.markup import html, latex, markdown
from ohr.markup.tables import Cell, Piece, Table, joined

texts = st.text(st.sampled_from("abc 12&%$#_{}\\~^|*<>`é租金"), min_size=1, max_size=8)
contents = st.lists(
    st.builds(Piece, st.just("text"), texts, st.sampled_from([(), ("bold",), ("italic",), ("bold", "underline")]))
    | st.sampled_from([Piece("formula", "$x_1 + y$"), Piece("formula", "$\\frac{a}{b}$"), Piece("break")]),
    max_size=4,
).map(joined)

WORDS = st.text(st.sampled_from("abc12 租"), min_size=1, max_size=6).map(str.strip).filter(bool) | st.just("a\\|b")


@st.composite
def tables(draw, merged=True):
    """Draw a grid of 1 to 4 by 1 to 4 places, cut into cells."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    taken, cells = set(), []
    for row, column in itertools.product(range(rows), range(columns)):
        if (row, column) in taken:
            continue
        height = draw(st.integers(1, rows - row)) if merged else 1
        width = draw(st.integers(1, columns - column)) if merged else 1
        while any((row, column + right) in taken for right in range(width)):
            width -= 1
        taken |= {(row + down, column + right) for down in range(height) for right in range(width)}
        content = draw(contents)
        if content or height > 1 or width > 1:
            cells.append(Cell(row, column, content, height, width))
    return Table(rows, columns, tuple(cells), draw(contents) if merged else ())


@given(tables())
def test_html_is_read_as_it_was_written(table):
    losses = []
    assert html.read(html.write(table, losses), losses) == table
    assert losses == []


@given(tables())
def test_latex_is_read_as_it_was_written(table):
    losses = []
    assert latex.read(latex.write(table, losses), losses) == table
    assert losses == []


@given(tables(merged=False))
def test_markdown_is_read_as_it_was_written_but_its_header(table):
    read = markdown.read(markdown.write(table, []), [])
    assert (read.rows, read.columns) == (table.rows, table.columns)
    assert [(c.row, c.column, c.content) for c in read.cells if c.content] == [
        (c.row, c.column, c.content) for c in table.cells
    ]
    assert all(cell.header == (cell.row == 0) for cell in read.cells)


@given(tables())
def test_markdown_repeats_a_merged_cell_at_each_place_and_reports_it(table):
    losses = []
    read = markdown.read(markdown.write(Table(table.rows, table.columns, table.cells), losses), [])
    found = read.places()
    assert all(found[place].content == cell.content for place, cell in table.places().items() if cell.content)
    merged = sum(cell.rows > 1 or cell.columns > 1 for cell in table.cells)
    assert sum("merged" in loss for loss in losses) == merged


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(WORDS, min_size=width, max_size=width), min_size=1)))
def test_a_markdown_table_of_the_standard_has_the_cells_that_markdown_it_reads(rows):
    lines = [f"| {' | '.join(row)} |" for row in rows]
    markup = "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
    tokens = MarkdownIt("commonmark").enable("table").parse(markup)
    theirs = [" ".join(token.content.replace("\\", "").split()) for token in tokens if token.type == "inline"]
    places = markdown.read(markup, []).places()
    ours = [(row, column) for row in range(len(rows)) for column in range(len(rows[0]))]
    assert ["".join(piece.text for piece in places[place].content) for place in ours] == theirs


def test_a_markdown_table_outside_the_standard_loses_no_cell():
    longer, short, none = (f"| a | b |\n{ruling}| 1 | 2 | 3 |\n" for ruling in ("|---|---|\n", "|---|\n", ""))
    for markup in (longer, short, none):
        cells = [cell for cell in markdown.read(markup, []).cells if cell.content]
        assert [cell.content[0].text for cell in cells] == ["a", "b", "1", "2", "3"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("<p>Three</p><p>Four</p>", "Three Four"),
        ("<ul><li>12</li><li>34</li></ul>", "12 34"),
        ("Outer<table><tr><td>inner</td><td>5</td></tr><tr><td>6</td></tr></table>", "Outer inner 5 6"),
        ("<div>Seven</div>Eight<hr>Nine", "Seven Eight Nine"),
        ("H<sub>2</sub>O and <span>20</span>19", "H2O and 2019"),
    ],
)
def test_blocks_in_a_cell_part_words_and_styles_do_not(cell, words):
    (read, other) = html.read(f"<table><tr><td>{cell}</td><td>x</td></tr></table>", []).cells
    assert ("".join(piece.text for piece in read.content), other.content[0].text) == (words, "x")


def test_quotation_marks_of_cells_are_no_entities_in_html():
    content = joined([Piece("text", "5\" and 7'"), Piece("formula", "$f'$")])
    assert html.write(Table(1, 1, (Cell(0, 0, content),)), []).count("<td>5\" and 7'$f'$</td>") == 1


def test_text_outside_of_the_cells_of_an_html_table_is_named():
    losses = []
    table = html.read("<table>lost<tr>also lost<td>a</td>between<td>b</td></tr>tail</table>", losses)
    assert [cell.content for cell in table.cells] == [joined([Piece("text", "a")]), joined([Piece("text", "b")])]
    assert losses == ["text outside of a table's cells is left out"]


def test_scripts_and_styles_are_no_text_of_an_html_table():
    losses = []
    hidden = "<style>td {}</style><script>x = 1 < 2</script>"
    table = html.read(f"<table>{hidden}<tr><td>{hidden}a</td></tr>\n</table>", losses)
    assert [cell.content for cell in table.cells] == [joined([Piece("text", "a")])]
    assert losses == []
