import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ohr.benchmarks.fincriticaled.facts import TYPES, extract_entities, strip_entity_tags
from ohr.benchmarks.fincriticaled.matching import compat_det, override, strict_det
from ohr.benchmarks.fincriticaled.page_texts import seen_text

PERIODS = (
    "<table><tr><td>2023</td><td><number>10.5</number></td></tr>"
    "<tr><td>2024</td><td><number>20.7</number></td></tr></table>"
)
SWAPPED = "<table><tr><td>2023</td><td>20.7</td></tr><tr><td>2024</td><td>10.5</td></tr></table>"


WHOLE = (
    ("5", "5"), ("5", "$5"), ("5", "5."), ("5", "5,"), ("5", "(5 shares)"), ("5", "3-5"), ("5", "......5"),
    ("(10,234)", "( 10,234 )"), ("( 10,234 )", "(10,234)"), ("(10,234)", "$(10,234)"), ("-2.3", "$-2.3"),
    ("25.63%", "25.63 %"), ("1/3", "1/3"), ("5", "end. 5"), ("2 for 1", "2 FOR 1"), ("41.18", "41.18(1)"),
)  # fmt: skip


def number(value):
    return f"<p>Total of <number>{value}</number> in all</p>"


def counts(verdicts):
    return sum(verdict["found_in_prediction"] for verdict in verdicts), sum(verdict["correct"] for verdict in verdicts)


def verdicts(made):
    return [(verdict["found_in_prediction"], verdict["correct"], verdict["matched_text"]) for verdict in made]


@pytest.mark.parametrize(
    ("gold", "prediction", "found"),
    [
        (number("5"), "the year 2015", (1, 1)),
        (number("25,700"), "25700", (0, 0)),
        ("<reportingentity>Henry Oake</reportingentity>", "HENRYOAKE", (1, 1)),
        (number("1 2"), "12", (0, 0)),  # fewer than 4 characters without spaces
        (number("1 234"), "1234", (1, 1)),
        (number("10%"), "XDirector10%OwnerOfficer", (1, 1)),
        (number("10%"), "\\(10\\%\\)", (1, 1)),
        ("<reportingentity>Acme Inc</reportingentity>", "acme inc", (1, 1)),
        (number("5") + number("5"), "5", (2, 2)),
        (PERIODS, SWAPPED, (2, 2)),
        ("<monetaryunit>€</monetaryunit> <number>5</number>", "€ 5", (1, 1)),  # of the two, the joined one is missed
    ],
)
def test_the_published_search_takes_any_substring(gold, prediction, found):
    assert counts(compat_det(gold, prediction)) == found


def given_by_judge(**fields):
    return {
        "type": "Number",
        "value": "25,700",
        "found_in_prediction": False,
        "correct": False,
        "matched_text": "",
    } | fields


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, (True, True, "25,700")),
        ({"found_in_prediction": True, "matched_text": "25700"}, (True, False, "25700")),
        ({"matched_text": "25700"}, (True, False, "25700")),
        ({"found_in_prediction": True}, (True, True, "25,700")),
        ({"found_in_prediction": True, "matched_text": " 25,700\n"}, (True, True, " 25,700\n")),
        ({"value": "9", "matched_text": "9"}, (False, True, "9")),
        ({"value": ""}, (False, False, "")),
        ({"value": None, "matched_text": None}, (False, False, None)),
    ],
    ids=["missed", "quoted otherwise", "quoted, not found", "not quoted", "spaces", "made up", "empty", "null"],
)
def test_a_quoted_text_is_kept_and_what_equals_the_value_is_correct(fields, found):
    (one,) = override([given_by_judge(**fields)], "<p>25,700</p>")
    assert (one["found_in_prediction"], one["correct"], one["matched_text"]) == found


def test_the_judges_verdicts_are_not_changed_in_place():
    given = given_by_judge()
    override([given], "25,700")
    assert given == given_by_judge()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("5", "2015"), ("5", "1.5"), ("5", "1,5"), ("5", "5.1"), ("5", "5,100"), ("5", "5a"), ("5", "a5"), ("5", ".5"),
        ("10,234", "(10,234)"), ("(10,234)", "10,234"), ("2.3", "-2.3"), ("-2.3", "2.3"), ("-2.3", "(2.3)"),
        ("25.63", "25.63%"), ("25.63%", "25.63"), ("10%", "Director10%Owner"), ("0.50", "0.5"), ("25,700", "25700"),
        ("1 234", "1234"), ("7", "( 7 )"), ("7", "($7)"), ("7", "7 %"), ("1/3", "11/3"),
    ],
)  # fmt: skip
def test_a_number_that_is_part_of_another_or_has_another_sign_is_not_correct(value, text):
    assert counts(strict_det(number(value), f"Total of {text} in all"))[1] == 0


JOINED = "<span><monetaryunit>$</monetaryunit></span><span><number>65.63</number></span>"
TOUCHED = "<p>in S<monetaryunit>$</monetaryunit> 5 the <number>10</number>th (<number>7</number>)</p>"


@pytest.mark.parametrize(
    ("gold", "text", "correct"),
    [
        *((number(value), f"Total of {text} in all", 1) for value, text in WHOLE),
        ("<reportingentity>UNITED STATES</reportingentity>", "UNITEDSTATES", 1),
        ("<financialconcepts>Net income</financialconcepts>", "netincome", 1),
        ("<financialconcepts>Net income</financialconcepts>", "Net incomes", 0),
        ("<financialconcepts>Net income</financialconcepts>", "Net income10,234", 0),
        ("<financialconcepts>Net income</financialconcepts>", "Net income$10,234", 1),
        ("<temporal>March 24, 2025</temporal>", "March 24,2025", 0),
        ("<temporal>2024</temporal>", "(2024)", 1),
        ("<monetaryunit>US$</monetaryunit>", "US$ 5", 1),
        ("<monetaryunit>$</monetaryunit>", "$5", 1),
        ("<monetaryunit>share</monetaryunit>", "shares", 0),
        *((JOINED, text, 2) for text in ("$65.63", "$ 65.63", "<td>$</td><td>65.63</td>")),
        # what touches a value on the gold page may touch it in the prediction
        (TOUCHED, "in S$ 5 the 10th (7)", 3),
        (TOUCHED, "in S$ 5 the 10 (7)", 3),
        (TOUCHED, "in S$ 5 the 10 7", 2),
        # an occurrence counts for one fact of a type; facts inside each other share their place
        (number("5") * 3 + "<monetaryunit>5</monetaryunit>", "5 and 5", 3),
        ("<p><number>5 of <number>6</number></number></p>", "5 of 6", 2),
        (PERIODS, SWAPPED, 2),
        (PERIODS, "", 0),
    ],
)
def test_whole_values_with_their_signs_are_correct_each_once(gold, text, correct):
    assert counts(strict_det(gold, text))[1] == correct


def test_a_long_value_is_no_second_place_for_a_short_one():
    values = ("Net income", "Net income per share")
    gold = "<br>".join(f"<financialconcepts>{value}</financialconcepts>" for value in values)
    assert verdicts(strict_det(gold, "Net income per share 5")) == [
        (False, False, ""),
        (True, True, "Net income per share"),
    ]
    assert counts(strict_det(gold, "Net income per share 5, net income 6")) == (2, 2)


def test_facts_of_one_value_go_to_the_places_whose_context_agrees():
    gold = "<p>cash of <number>5</number> held</p><p>debt of <number>5</number> owed</p>"
    prediction = "debt of 5 owed, fees of 5 paid, cash of 5 held"
    assert counts(strict_det(gold, prediction, context_veto=True)) == (2, 2)
    assert counts(strict_det(PERIODS, SWAPPED, context_veto=True)) == (2, 0)


@pytest.mark.parametrize(
    ("value", "text", "matched"),
    [
        ("25,700", "at 25700 each", True),
        ("25,700", "at 99,111 each", False),
        ("5", "2015", True),
        ("Net income", "Net", False),
        ("Net income", "", False),
    ],
)
def test_a_damaged_value_is_found_but_not_correct(value, text, matched):
    ((found, correct, quoted),) = verdicts(strict_det(number(value), text))
    assert (found, correct, bool(quoted)) == (matched, False, matched)


def test_letters_that_grow_in_lower_case_do_not_move_a_place():
    gold = "<reportingentity>İİ Acme</reportingentity> <number>5</number>"
    assert verdicts(strict_det(gold, "İİİ 5 İİ Acme")) == [(True, True, "5"), (True, True, "İİ Acme")]


def test_a_damaged_neighbor_is_no_veto():
    gold = "<td>Sales</td><td><number>1,250</number></td><td>9,100</td><td>8,200</td>"
    assert counts(strict_det(gold, "Sales 1,250 9100 8200", context_veto=True)) == (1, 1)


def test_a_page_without_facts_has_nothing_to_find():
    assert strict_det("<p>5</p>", "5") == compat_det("<p>5</p>", "5") == []


VALUES = (
    "5", "$", "USD", "€", "(10,234)", "25.63%", "1,250", "Net income", "June 30, 2024", "-2.3", "İ x", "净利润",
    "( 7 )",
)  # fmt: skip
AROUND = (
    "a", "Total", "(", ")", " ", "$", "5", ",", ".", "-", "%", "&nbsp;", "\n", "th", "2015", "<br/>", "\u200b",
    "net income",
)  # fmt: skip
FACTS = st.builds(lambda tag, value: f"<{tag}>{value}</{tag}>", st.sampled_from(list(TYPES)), st.sampled_from(VALUES))
PARTS = st.lists(st.one_of(FACTS, st.sampled_from(AROUND)), max_size=8).map("".join)
PAGES = st.lists(
    st.builds(lambda tag, part: f"<{tag}>{part}</{tag}>", st.sampled_from(("p", "td", "b", "span", "sup")), PARTS),
    max_size=6,
).map("".join)


@given(PAGES, st.booleans(), st.booleans())
@example("<p><monetaryunit>USD</monetaryunit><br/><number>-2.3</number></p>", False, False)
@example("<p><monetaryunit>USD</monetaryunit><number>-2.3</number></p>", False, True)
def test_a_page_is_correct_against_itself(gold, context_veto, as_text):
    untagged = strip_entity_tags(gold)
    prediction = re.sub("[&<]", "", seen_text(untagged)) if as_text else untagged
    given = strict_det(gold, prediction, context_veto)
    assert all(verdict["correct"] and verdict["found_in_prediction"] for verdict in given)
    assert len(given) == len(extract_entities(gold))


@given(PAGES, PAGES)
def test_what_is_strictly_correct_is_found(gold, other):
    for verdict in strict_det(gold, strip_entity_tags(other)):
        assert verdict["found_in_prediction"] or not verdict["correct"]
        assert bool(verdict["matched_text"]) == verdict["found_in_prediction"]
