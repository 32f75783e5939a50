"""How a page is divided, and how its parts are normalized; each case was compared with the published code."""

from importlib.util import find_spec

import pytest

from ohr.parse_scores.omnidocbench.formula_arrays import rows
from ohr.parse_scores.omnidocbench.markdown_parts import parts_of
from ohr.parse_scores.omnidocbench.normalization import latex_to_text, normalized_formula, normalized_text

TEXT = "text_block"
INLINE = "equation_inline"
DISPLAY = "equation_isolated"


@pytest.mark.parametrize(
    ("markdown", "old", "new"),
    [
        ("# a\n\n b \n c", [(TEXT, 0, "# a"), (TEXT, 3, "b\nc")], None),
        ("a\nb", [(TEXT, 0, "a"), (TEXT, 1, "b")], None),
        ("![x](y.png)a ![z", [(TEXT, 0, "a ![z")], None),
        ("$$a\n+ b$$", [(DISPLAY, 0, r"\[a+b\]")], [(DISPLAY, 0, r"\[a + b\]")]),
        (r"\[ a \]", [(DISPLAY, 0, r"\[a\]")], [(DISPLAY, 0, r"\[ a \]")]),
        ("a $b$ c", [(TEXT, 0, "a $b$ c"), (INLINE, 2, r"\[b\]")], None),
        ("$b$", [(INLINE, 0, r"\[b\]"), (DISPLAY, 0, "$b$")], None),
        ("$$", [(INLINE, 0, r"\[\]")], None),
        (
            r"\[a $b$\]",
            [(INLINE, 0, r"\[a\[b\]\]"), (TEXT, 0, r"\[a $b$\]")],
            [(INLINE, 0, r"\[a \[b\]\]"), (TEXT, 0, r"\[a $b$\]")],
        ),
        (r"\begin{align}a\end{align}", [(TEXT, 0, r"\begin{align}a\end{align}")], None),
        ("```python\nx\n```", [(TEXT, 0, "```python"), (TEXT, 9, "x")], None),
        ("```python\nx ``` y", [("code", 0, "x"), (TEXT, 0, "y")], None),
        ("```html\na\n```", [(TEXT, 0, "```html"), (TEXT, 7, "a")], [(TEXT, 0, "a")]),
        ("<html>a</html>", [(TEXT, 0, "<html>a</html>")], [(TEXT, 0, "a")]),
        ("。。。。。。。。。。。。", [(TEXT, 0, "。。。。")], [(TEXT, 0, "。。。。。。。。。。。。")]),
        (r"\section*{a} \title{ b }", [(TEXT, 0, "a  b")], None),
        ("a\n\n<table><tr></tr></table>", [(TEXT, 0, "a"), ("html_table", 3, "<table><tr></tr></table>")], None),
        ("", [], None),
    ],
)
def test_a_page_is_divided_as_by_the_published_code(markdown, old, new):
    for version, expected in (("1.0", old), ("1.5", new or old)):
        found = [(part.category, part.place, part.content) for part in parts_of(markdown, version)]
        assert sorted(found, key=lambda part: part[1]) == sorted(expected, key=lambda part: part[1]), version


@pytest.mark.skipif(find_spec("ohr.parse_scores.tables") is None, reason="tables are read by another file")
def test_a_markdown_table_is_html_and_the_line_above_it_is_lost():
    (table,) = parts_of("lost\n| a | b |\n|---|---|\n| 1 | 2: |", "1.5")
    assert table.category == "md2html_table"
    assert [table.content.count(cell) for cell in ("a</td>", "b</td>", "1</td>", "2:")] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A b, c.", "Abc"),
        ("成本 8%", "成本8"),
        (r"$\alpha$ and $x^{2}$", "αandx2"),
        (r"\(a_1\) \% 5", "a_15"),
        ("$5 and $6", "5and6"),
        ("a\n/next", "aext"),  # `/n` is taken for a line break
        (r"\nabla", "abla"),
        (r"$\sqrt$ a", "sqrta"),  # pylatexenc raises an error
    ],
)
def test_letters_and_digits_of_a_text_count(text, expected):
    assert normalized_text(text) == expected


@pytest.mark.parametrize(
    ("latex", "old", "new"),
    [
        (r"$$ \mathbf{X} + Y $$", "$${x}+y$$", "{x}+y"),
        (r"\[ a \] \[ b \]", "a", "a"),
        (r"\left( a \right) \tag{1}", r"\left(a\right)", "(a)"),
        (r"\begin{array}{l} a \end{array}.", "{l}a", "{l}a"),
        (r"\tag{1", r"\tag{1", r"\tag{1"),
        (r"\[ a \\\] b \]", r"a\\\]b", r"a\\\]b"),
    ],
)
def test_a_formula_is_normalized_by_version(latex, old, new):
    assert (normalized_formula(latex, "1.0"), normalized_formula(latex, "1.5")) == (old, new)


def test_what_pylatexenc_cannot_read_is_no_text():
    assert latex_to_text(r"\frac{a}{b}") == "a/b"
    assert latex_to_text(r"\sqrt") is None


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\begin{array}{l} a \\ \\ b \end{array}", [(17, r"\[a\]"), (25, r"\[b\]")]),
        (r"\begin{array}{|c|}a\end{array}", [(18, r"\[a\]")]),
        (r"\begin{array}{ll} a & b \end{array}", []),
        (r"\begin{array}{l} a", []),
        ("a", []),
    ],
)
def test_an_array_of_one_column_has_rows(latex, expected):
    assert rows(latex) == expected
