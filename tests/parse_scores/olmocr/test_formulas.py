"""Formulas by their normal form."""

import pytest

from ohr.parse_scores.olmocr.formulas import formulas_in, holds_formula, normal_formula


@pytest.mark.parametrize(
    ("formula", "same"),
    [
        (r"\frac12", r"\dfrac{1}{2}"),
        (r"{a \over b}", r"\tfrac{a}b"),
        ("x_a^2", "x^{2}_{a}"),
        ("f'(x)", r"f^{\prime}\left( x \right)"),
        (r"\left. a \right|", r"a\mid"),
        (r"\sin x", r"\operatorname{sin} {x}"),
        (r"\mathbf{x} \text{ if } y", "x if y"),
        (r"\begin{pmatrix} a & b \\ c \end{pmatrix}", r"\left(\begin{array}{cc} a & b \\[2pt] c \end{array}\right)"),
        (r"\begin{cases} a \end{cases}", r"\left\{ \begin{array}{l} a \end{array} \right."),
        (r"\begin{align*} a &= b \\ \end{align*}", "a=b"),
        (r"\sqrt[3]{x}", r"\sqrt[3]x"),
        (r"a \le b \ne α.", r"a\leq b\neq\alpha"),
        (r"x \tag{3}", r"\textcolor{red}{x} \label{eq}"),
        ("$$x$$", r"\[ x \]"),
        ("}x{", "x"),
    ],
)
def test_formulas_of_the_same_normal_form(formula, same):
    assert normal_formula(formula) == normal_formula(same)


@pytest.mark.parametrize(
    ("formula", "other"),
    [
        ("x^2", "x_2"),
        ("x^23", "x^{23}"),
        (r"\frac{a}{b}", "ab"),
        (r"\sqrt{x}", "x"),
        (r"\alpha", "a"),
        ("ab", "ba"),
        ("x", ""),
    ],
)
def test_formulas_of_different_normal_forms(formula, other):
    assert normal_formula(formula) != normal_formula(other)


def test_a_formula_is_on_the_page_as_part_of_another_one():
    assert holds_formula(r"y = \frac{a + b}{c}", "a+b.")
    assert not holds_formula(r"y = \alpha b", "a b")
    assert not holds_formula("x", ".")


def test_formulas_of_a_page_in_the_order_of_their_delimiters():
    page = "$a$ and \\(b\nc\\), $$d$$ or \\[e\\]"
    assert formulas_in(page, dollars=True) == ("b\nc", "e", "d", "a")
    assert formulas_in(page, dollars=False) == ("b\nc", "e")


@pytest.mark.parametrize(
    "latex", ["{" * 10_000, "x^" * 5000, r"\frac" * 5000, r"\sqrt[" * 2000, r"\begin{array}" * 500]
)
def test_nothing_is_too_deep(latex):
    assert isinstance(normal_formula(latex), tuple)
