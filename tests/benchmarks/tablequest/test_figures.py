from decimal import Decimal

import pytest

from ohr.benchmarks.tablequest.figures import agree, figures


def written(text):
    return [(str(one.value), str(one.scale or 1), one.percent) for one in figures(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(79)", "-79"),
        ("($ 1,234.5)", "-1234.5"),
        ("$(4.3)", "-4.3"),
        ("-$13.2", "-13.2"),
        ("$-13.2", "-13.2"),
        ("\u22125.2", "-5.2"),
        ("\u20135.2", "-5.2"),
        ("- 7", "-7"),
        ("(-3)", "-3"),
        (".5", "0.5"),
        ("16,886,520 lbs.", "16886520"),
        ("\uff15\uff05", "5"),
    ],
)
def test_signs_and_separators_are_read(text, value):
    assert [one.value for one in figures(text)] == [Decimal(value)]


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("$721 million.", 10**6),
        ("721 (in millions)", 10**6),
        ("$(4.3) million", 10**6),
        ("(4.3 million)", 10**6),
        ("$5-million", 10**6),
        ("US$5 bn", 10**9),
        ("$97.4B", 10**9),
        ("41,020 thousand", 10**3),
        ("1.2 trillion", 10**12),
        ("721", 1),
    ],
)
def test_scale_words_are_read(text, scale):
    assert [one.scale or 1 for one in figures(text)] == [scale]


@pytest.mark.parametrize("text", ["1,234%", "1234 percent", "(1,234)%", "1.2 percentage points"])
def test_percent_is_read_as_sign_and_as_word(text):
    assert [one.percent for one in figures(text)] == [True]


@pytest.mark.parametrize("text", ["NaN", "", "form 10-K", "Q4", "a 12-month note", "97.4B", "3M", "1e5", "inf"])
def test_parts_of_words_are_no_figures(text):
    assert figures(text) == []


def test_a_subtraction_and_a_range_have_no_negative_figures():
    assert [str(one.value) for one in figures("15.4% - 15.2% = 0.2%, 2022\u20132023, 5-35")] == [
        "15.4", "15.2", "0.2", "2022", "2023", "5", "35",
    ]  # fmt: skip


def test_words_within_parentheses_make_no_negative_figure():
    assert written("it rose (by 5%)") == [("5", "1", True)]


def test_a_list_of_units_keeps_each_figure_apart():
    assert written("$2.3 million and 1,45") == [("2.3", "1000000", False), ("1", "1", False), ("45", "1", False)]


def together(answer, gold):
    return agree(figures(answer)[-1], figures(gold)[-1])


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("0.25", "0.2"),  # half a unit of the gold's last digit
        ("1,451", "1,458"),  # 0.48%
        ("721", "$721 million"),
        ("$721 million", "721"),
        ("$721,000,000", "$721 million"),
        ("721,000", "$721 million"),
        ("$2,300 thousand", "$2.3 million"),
        ("14.2", "14.2%"),
        ("$1.458 billion", "1,458"),
        ("2023", "2023"),
        ("0", "0"),
    ],
)
def test_figures_agree(answer, gold):
    assert together(answer, gold)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("0.26", "0.2"),
        ("1,450", "1,458"),
        ("79", "(79)"),
        ("721", "721,000"),  # neither has a scale word
        ("$721 thousand", "$721 million"),  # both have one
        ("$5 million", "5%"),
        ("5%", "$5 million"),
        ("2022", "2023"),
        ("0.142", "14.2%"),
        ("721", "$721 trillion"),
    ],
)
def test_figures_disagree(answer, gold):
    assert not together(answer, gold)


def test_only_a_number_as_years_are_written_is_a_year():
    assert [one.is_year for one in figures("2023, 2,023, $2023, 2023%, 2150, 2023.5")] == [True] + [False] * 5


def test_a_number_of_thousands_of_digits_is_read():
    assert together("9" * 5000, "9" * 5000)
