import pytest

from ohr.benchmarks.fincriticaled.facts import extract_entities, read_facts, refuse_deep, strip_entity_tags
from ohr.benchmarks.fincriticaled.matching import as_seen
from ohr.errors import DataError


def values(html):
    return [(entity["type"], entity["value"]) for entity in extract_entities(html)]


def money(html):
    return [value for kind, value in values(html) if kind == "Monetary Unit"]


def hints(html):
    return [entity["context_hint"] for entity in extract_entities(html)]


def test_facts_come_by_type_and_then_in_the_order_of_the_page():
    html = (
        "<financialconcepts>EPS</financialconcepts><number>2</number><reportingentity>A</reportingentity>"
        "<temporal>2024</temporal><number>1</number><monetaryunit>million</monetaryunit>"
    )
    assert values(html) == [
        ("Number", "2"), ("Number", "1"), ("Temporal", "2024"), ("Monetary Unit", "million"),
        ("Reporting Entity", "A"), ("Financial Concepts", "EPS"),
    ]  # fmt: skip


def test_tags_may_have_capitals_and_attributes_and_other_tags_are_no_facts():
    assert values(
        "<NUMBER>1</NUMBER><number id='a'>2</number><date>3</date><financialconcept>4</financialconcept>"
    ) == [
        ("Number", "1"),
        ("Number", "2"),
    ]


def test_facts_without_text_are_dropped():
    assert values("<number></number><number> </number><number>&nbsp;</number><number>5</number>") == [("Number", "5")]


def test_a_value_loses_the_spaces_at_its_inner_tags():
    assert values("<number> 1,<b>204</b>,500 </number><reportingentity>Fen <i>Trust</i></reportingentity>") == [
        ("Number", "1,204,500"),
        ("Reporting Entity", "FenTrust"),
    ]


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ("<monetaryunit>$</monetaryunit><number>5</number>", "$5"),
        ("<monetaryunit>$</monetaryunit> \n<number>5</number>", "$5"),
        ("<monetaryunit>$</monetaryunit><!-- c --><span><b><number>5</number></b></span>", "$5"),
        ("<td><monetaryunit>$</monetaryunit></td><td> </td><td><number>5</number></td>", "$5"),
        ("<td><monetaryunit>$</monetaryunit> per share</td><td>at <number>5</number></td>", "$5"),
        ("<td><monetaryunit>USD</monetaryunit></td><td><number>5</number></td>", "USD5"),
    ],
    ids=["beside", "behind whitespace", "inside an element", "in the next cell", "text first", "code"],
)
def test_a_bare_currency_is_joined_with_the_number_beside_it(html, value):
    assert money(html) == [value]


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ("<td><monetaryunit>$</monetaryunit></td><number>5</number>", "$"),
        ("<td><monetaryunit>$</monetaryunit></td><td>a</td><td><number>5</number></td>", "$"),
        ("<p><monetaryunit>$</monetaryunit> of <number>5</number></p>", "$"),
        ("<number>5</number><monetaryunit>EUR</monetaryunit>", "EUR"),
        ("<monetaryunit>US$</monetaryunit><number>5</number>", "US$"),
        ("<monetaryunit>usd</monetaryunit><number>5</number>", "usd"),
        ("<monetaryunit>million</monetaryunit><number>5</number>", "million"),
    ],
    ids=["number beside the parent", "other cell between", "text between", "number before", "US$", "small", "scale"],
)
def test_other_monetary_units_stay_as_they_are(html, value):
    assert money(html) == [value]


def test_a_hint_is_cut_from_the_nearest_element_of_30_characters():
    long_enough = f"<div>far away<p>{'near ' * 6}<b><number>7</number></b></p></div>"
    too_short = f"<div>far away<p>{'near ' * 5}<b><number>7</number></b></p></div>"
    assert hints(long_enough) == [f"{'near ' * 6}7"]
    assert hints(too_short) == [f"far away {'near ' * 5}7"]


def test_a_hint_has_40_characters_on_each_side():
    html = f"<p>{'a' * 50} <number>7</number> {'b' * 50}</p>"
    assert hints(html) == [f"{'a' * 39} 7 {'b' * 39}"]


def test_a_repeated_value_has_the_hint_of_its_first_place():
    html = f"<p>first <number>7</number> {'x' * 60} second <number>7</number></p>"
    assert hints(html)[0] == hints(html)[1]


def test_a_value_that_is_not_in_its_context_gets_the_beginning_of_it():
    text = "word " * 30
    html = f"<p>{text}<reportingentity>Fen <i>Trust</i></reportingentity></p>"
    assert hints(html) == [text[:80].strip()]


def test_a_page_with_little_text_gives_its_own_text_as_the_hint():
    assert hints("<p>a <number>7</number></p>") == ["7"]


def test_hints_close_the_gaps_at_signs_and_lose_what_looks_like_a_tag():
    html = "<p>a fee of <b>$</b> <b>6</b> or <b>5</b> % ( <number>7</number> ) &lt;td&gt; and so forth</p>"
    assert hints(html) == ["a fee of $6 or 5% (7) and so forth"]


def test_stripping_removes_the_tags_of_facts_in_any_case_and_nothing_else():
    html = "<p><number>25,700</number> of <REPORTINGENTITY>Acme</REPORTINGENTITY> <date>x</date></p>"
    assert strip_entity_tags(html) == "<p>25,700 of Acme <date>x</date></p>"


def test_stripping_leaves_tags_inside_tags_and_tags_without_an_end():
    assert strip_entity_tags("<number><temporal>5</temporal></number><number>6") == "<temporal>5</temporal><number>6"


def test_a_fact_knows_what_a_reader_sees_beside_it():
    html = "<td>Gain</td><td><monetaryunit>$</monetaryunit></td><td>(<number>7</number>)</td>"
    number, joined = read_facts(html)
    assert (number.left, number.seen, number.right) == ("Gain $ (", ("7",), ")")
    assert (joined.left, joined.seen, joined.right) == ("Gain ", ("$ (7",), ")")


def test_a_joined_monetary_unit_is_seen_in_two_parts():
    (_, joined) = read_facts("<td><monetaryunit>USD</monetaryunit></td><td><number>7</number></td>")
    assert joined.seen == ("USD", "7")


def test_a_monetary_unit_that_is_joined_with_a_far_number_is_seen_alone():
    (_, joined) = read_facts("<td><monetaryunit>$</monetaryunit></td><td>at most <number>7</number></td>")
    assert (joined.value, joined.seen) == ("$7", ("$",))


def test_a_page_without_markup_has_no_facts():
    assert extract_entities("no tags & no facts") == []


@pytest.mark.parametrize(
    ("html", "passage", "in_table"),
    [
        ("<p>Other.</p><p>Sales of <number>5</number> were low.</p><p>More.</p>", "Sales of 5 were low.", False),
        ("<tr><td>Sales</td><td><number>5</number></td></tr><tr><td>Costs</td></tr>", "Sales 5", True),
        (
            f"<p>{'many words ' * 9}before the <number>5,000</number> and then {'more words ' * 9}</p>",
            "words many words many words before the 5,000 and then more words more words more",
            False,
        ),
        ("<!-- x --><p><number>5</number></p>", "5", False),
        (f"<p>{'x' * 60}<number>5</number>{'y' * 60}</p>", "5", False),
    ],
)
def test_the_passage_is_whole_words_of_the_facts_row_or_paragraph(html, passage, in_table):
    (fact,) = read_facts(html)
    assert (fact.passage, fact.in_table) == (passage, in_table)


def test_a_fact_knows_its_line():
    facts = read_facts("<p>\n<number>1</number>\n\n<number>2</number></p>")
    assert [(fact.value, fact.line) for fact in facts] == [("1", 2), ("2", 4)]


@pytest.mark.parametrize(
    ("html", "seen"),
    [
        ("<p>$<number>5</number>%</p>", "5"),
        ("<p><number>10</number><sup>th</sup></p>", "10th"),
        ("<p>Q<number>3</number> of</p>", "Q3"),
        ("<p>.<number>5</number></p>", ".5"),
        ("<p><monetaryunit>USD</monetaryunit> <number>5</number></p>", "USD 5"),
    ],
)
def test_a_fact_is_looked_for_with_the_letters_and_digits_that_touch_it(html, seen):
    assert as_seen(read_facts(html)[-1]) == seen


@pytest.mark.parametrize("unclosed", ["<number>", "<number a='1'></temporal>", "<NUMBER>\n<Temporal>"])
def test_facts_in_more_than_100_others_are_refused_with_their_line(tmp_path, unclosed):
    with pytest.raises(DataError, match=r"gold_0\.txt:\d+: more than 100 tags of facts are open here"):
        refuse_deep(unclosed * 101, tmp_path / "gold_0.txt")


def test_many_facts_beside_each_other_and_empty_ones_are_not_deep(tmp_path):
    page = "<number>1</number><number/><numbers></temporal>" * 1000
    refuse_deep(page, tmp_path / "gold_0.txt")
    with pytest.raises(DataError):
        refuse_deep(page + "<number>" * 101, tmp_path / "gold_0.txt")
