import pytest

from ohr.benchmarks.tablequest.figures import agree, figures


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("(79)", [(-79, 1, False)]),
        ("($ 1,234.5)", [(-1234.5, 1, False)]),
        ("$(4.3)", [(-4.3, 1, False)]),
        ("-$13.2", [(-13.2, 1, False)]),
        ("$-13.2", [(-13.2, 1, False)]),
        ("\u22125.2", [(-5.2, 1, False)]),
        ("\u20135.2", [(-5.2, 1, False)]),
        ("- 7", [(-7, 1, False)]),
        ("(-3)", [(-3, 1, False)]),
        (".5", [(0.5, 1, False)]),
        ("16,886,520 lbs.", [(16886520, 1, False)]),
        ("$721 million.", [(721, 10**6, False)]),
        ("721 (in millions)", [(721, 10**6, False)]),
        ("$(4.3) million", [(-4.3, 10**6, False)]),
        ("(4.3 million)", [(-4.3, 10**6, False)]),
        ("$5-million", [(5, 10**6, False)]),
        ("US$5 bn", [(5, 10**9, False)]),
        ("$97.4B", [(97.4, 10**9, False)]),
        ("41,020 thousand", [(41020, 10**3, False)]),
        ("1.2 trillion", [(1.2, 10**12, False)]),
        ("\uff15\uff05", [(5, 1, True)]),
        ("1,234%", [(1234, 1, True)]),
        ("1234 percent", [(1234, 1, True)]),
        ("(1,234)%", [(-1234, 1, True)]),
        ("1.2 percentage points", [(1.2, 1, True)]),
        ("it rose (by 5%)", [(5, 1, True)]),  # words within parentheses make no negative figure
        ("$2.3 million and 1,45", [(2.3, 10**6, False), (1, 1, False), (45, 1, False)]),
    ],
)
def test_signs_separators_scales_and_percents_are_read(text, read):
    assert [(float(one.value), one.scale or 1, one.percent) for one in figures(text)] == read


@pytest.mark.parametrize("text", ["NaN", "", "form 10-K", "Q4", "a 12-month note", "97.4B", "3M", "1e5", "inf"])
def test_parts_of_words_are_no_figures(text):
    assert figures(text) == []


def test_a_subtraction_and_a_range_have_no_negative_figures():
    assert [str(one.value) for one in figures("15.4% - 15.2% = 0.2%, 2022\u20132023, 5-35")] == [
        "15.4", "15.2", "0.2", "2022", "2023", "5", "35",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("0.25", "0.2", True),  # half a unit of the gold's last digit
        ("0.26", "0.2", False),
        ("1,451", "1,458", True),  # 0.48%
        ("1,450", "1,458", False),
        ("721", "$721 million", True),
        ("$721 million", "721", True),
        ("$721,000,000", "$721 million", True),
        ("721,000", "$721 million", True),
        ("$2,300 thousand", "$2.3 million", True),
        ("14.2", "14.2%", True),
        ("$1.458 billion", "1,458", True),
        ("2023", "2023", True),
        ("0", "0", True),
        ("79", "(79)", False),
        ("721", "721,000", False),  # neither has a scale word
        ("$721 thousand", "$721 million", False),  # both have one
        ("$5 million", "5%", False),
        ("5%", "$5 million", False),
        ("2022", "2023", False),
        ("0.142", "14.2%", False),
        ("721", "$721 trillion", False),
        ("9" * 5000, "9" * 5000, True),
    ],
)
def test_figures_agree_or_not(answer, gold, same):
    assert agree(figures(answer)[-1], figures(gold)[-1]) == same


def test_only_a_number_as_years_are_written_is_a_year():
    assert [one.is_year for one in figures("2023, 2,023, $2023, 2023%, 2150, 2023.5")] == [True] + [False] * 5
