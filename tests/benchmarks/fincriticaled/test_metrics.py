"""Metrics of pages and facts: each is a thin layer over functions with tests of their own."""

import json
from math import isnan

import pytest

from ohr.benchmarks.fincriticaled.fact_metrics import FactInText, Ffa, FfaJudge, PageLexical
from ohr.benchmarks.fincriticaled.matching import holds
from ohr.contracts import Completion, Generator
from ohr.contracts import Question as Q
from ohr.generators.extractive import Extractive
from ohr.testing import check_metric

GOLD = "<p>Sales of <number>25,700</number>, not 25,700, in <temporal>2015</temporal></p>"
PLAIN = "<p> Sales of 25,700, not 25,700, in 2015 </p>"


def questions(gold=GOLD, values=(("25,700", "Number"), ("2015", "Temporal"))):
    facts = [
        Q(f"3-{number}", "?", (value,), "a/3", (0,), (value,), "text", "a", facts=(value,), groups=(("type", of),))
        for number, (value, of) in enumerate(values)
    ]
    return [Q("3", "all", (gold,), "a/3", (0,), (), "text", "a", asked=False), *facts]


def score(metric, text, asked=None, truth=PLAIN):
    found = list(metric.score_page(text, truth, asked or questions()))
    return [None if isnan(value) else value for value in found]


@pytest.mark.parametrize(
    "metric",
    [
        Ffa(rule="substring"),
        Ffa(rule="in_place", count="found"),
        PageLexical(measure="coverage"),
        FactInText(rule="substring"),
        FfaJudge(generator=Extractive(), protocol="clean", count="found"),
    ],
    ids=repr,
)
def test_each_choice_of_a_metric_keeps_the_contract(metric):
    check_metric(metric)


def test_each_fact_has_a_score_and_the_page_has_none():
    assert score(Ffa(), "Sales of 25,700 in 20l5") == [None, 1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "substring", "whole"),
    [("125,700 in 2015", 1.0, 0.0), ("25,700 in 2015", 1.0, 1.0), ("25700 in 2015", 0.0, 0.0), ("(25,700)", 1.0, 0.0)],
)
def test_the_published_search_takes_a_value_inside_another_or_with_another_sign(text, substring, whole):
    assert score(Ffa(rule="substring"), text)[1] == substring
    assert score(Ffa(), text)[1] == whole


def test_what_is_damaged_is_found_but_not_correct():
    assert score(Ffa(count="found"), "25.700 in 2015")[1] == 1.0
    assert score(Ffa(), "25.700 in 2015")[1] == 0.0


def test_values_that_changed_places_are_wrong_in_place_only():
    cells = "<td>June 2024</td><td><number>186</number></td><td><number>192</number></td><td>July 2023</td>"
    gold = f"<table><tr>{cells}</tr></table>"
    asked = questions(gold, (("186", "Number"), ("192", "Number")))
    text = gold.replace("186", "x").replace("192", "186").replace("x", "192").replace("<number>", "")
    assert score(Ffa(), text, asked) == [None, 1.0, 1.0]
    assert score(Ffa(rule="in_place"), text, asked) == [None, 0.0, 0.0]


def test_a_part_of_the_questions_has_the_scores_that_it_has_among_all():
    page, first, second = questions()
    assert score(Ffa(), "in 2015", [page, second]) == [None, 1.0]
    assert score(Ffa(), "in 2015", [first, second]) == [None, None]  # without the page's own question nothing is known


@pytest.mark.parametrize("metric", [Ffa(), PageLexical(), PageLexical(measure="edit_similarity")])
def test_a_page_without_text_scores_0_or_is_left_out(metric):
    assert set(score(metric, "")) == {0.0, None}
    assert set(score(metric.model_copy(update={"skip_blank": True}), "")) == {None}
    assert set(score(metric.model_copy(update={"skip_blank": True}), "\n")) == {0.0, None}  # an empty prediction is one


def test_words_are_scored_once_for_each_page():
    assert score(PageLexical(), PLAIN) == [1.0, None, None]
    assert score(PageLexical(measure="edit_similarity"), "Sales of 25,700, not 25,700, in 2016") == [
        35 / 36,
        None,
        None,
    ]
    assert score(PageLexical(measure="coverage"), "") == [0.0, None, None]


@pytest.mark.parametrize(
    ("text", "value", "there"),
    [
        ("in 2015", "5", False),
        ("5 of them", "5", True),
        ("1.5", "5", False),
        ("($ 10,234 )", "$10,234", True),
        ("10,234", "(10,234)", False),
        ("(10,234)", "10,234", True),  # a sign beside a value is not looked at
        ("<td>25</td><td>,700</td>", "25,700", False),
        ("USD200,000", "USD 200,000", True),
        ("NETINCOME", "Net income", True),
        ("March23", "March 23", False),
        ("the 10th year", "10th", True),
        ("", "5", False),
    ],
)
def test_a_fact_is_in_a_text_as_a_whole(text, value, there):
    assert holds(text, value) is there
    assert FactInText().score(text, value) == there


def test_a_fact_is_in_a_text_as_any_part_by_the_published_search():
    assert FactInText(rule="substring").score("in 2015", "5") == 1.0
    assert FactInText(rule="substring").score("<td>net</td><td>income</td>", "netincome") == 1.0
    assert isnan(FactInText().score("a", " "))


class Says(Generator):
    """Says the same to everything."""

    kind: str = "says"
    text: str = ""

    def answer(self, prompts):
        return iter([Completion(self.text) for _ in prompts])


def verdicts(*found):
    named = ("type", "value", "found_in_prediction", "correct", "matched_text")
    return json.dumps({"entity_diagnostics": [dict(zip(named, one, strict=True)) for one in found]})


def judged(reply, text="Sales of 25,700", **fields):
    found = FfaJudge(generator=Says(), **fields).score_page_reply(reply, text, PLAIN, questions())
    return [None if isnan(value) else value for value in found]


def test_the_judge_is_asked_about_the_facts_of_a_page_by_its_id():
    prompt = FfaJudge(generator=Says()).prompt_for_page("Sales of 25,700", PLAIN, questions())
    assert (prompt.id, prompt.passages) == ("3", ("Sales of 25,700",))
    assert '"value": "25,700"' in prompt.user
    assert "<number>" not in prompt.user
    assert FfaJudge(generator=Says()).prompt_sha256 in json.dumps(FfaJudge(generator=Says()).identity())


@pytest.mark.parametrize(("protocol", "asked"), [("reference", False), ("clean", True)])
def test_a_page_without_text_is_judged_in_the_clean_protocol_only(protocol, asked):
    made = FfaJudge(generator=Says(), protocol=protocol).prompt_for_page("", PLAIN, questions())
    assert (made is not None) is asked


def test_a_page_without_facts_is_not_judged():
    assert FfaJudge(generator=Says()).prompt_for_page("text", PLAIN, questions("<p>text</p>", ())) is None


def test_verdicts_are_corrected_by_the_published_search():
    reply = verdicts(("Number", "25,700", False, False, ""), ("Temporal", "2015", True, False, "2016"))
    assert judged(reply) == [None, 1.0, 0.0]
    assert judged(reply, count="found") == [None, 1.0, 1.0]


def test_what_the_judge_left_out_is_searched_for_in_the_clean_protocol_only():
    reply = verdicts(("Temporal", "2015", True, True, "2015"))
    assert judged(reply) == [None, 0.0, 1.0]
    assert judged(reply, protocol="clean") == [None, 1.0, 1.0]


def test_what_the_judge_made_up_counts_as_published_in_the_place_of_what_it_missed():
    made_up, missed = ("Number", "9", True, True, "9"), ("Temporal", "2015", False, False, "")
    assert judged(verdicts(made_up, missed)) == [None, 1.0, 0.0]
    assert judged(verdicts(made_up, made_up, missed)) == [None, 1.0, 1.0]
    assert judged(verdicts(made_up, missed), protocol="clean", text="") == [None, 0.0, 0.0]


def test_a_verdict_whose_spaces_the_judge_changed_is_of_its_fact():
    gold = "<p><temporal>June&nbsp;30</temporal> and <number>5</number></p>"
    asked = questions(gold, (("5", "Number"), ("June\xa030", "Temporal")))
    reply = verdicts(("Temporal", "June 30", True, True, "June 30"))
    found = FfaJudge(generator=Says()).score_page_reply(reply, "June 30", PLAIN, asked)
    assert found[1:] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I think it is fine.", "the reply is no JSON; 0 diagnostics of it could be read"),
        ("", "the reply is no JSON"),
        ('{"entity_diagnostics": 5}', "the reply has no list `entity_diagnostics`"),
        ("[1, 2]", "the reply is no JSON"),
        ('{"entity_diagnostics": [1, "two"]}', "2 entries of `entity_diagnostics` are no objects"),
    ],
)
def test_a_reply_that_says_nothing_is_refused_with_the_reason(reply, said):
    with pytest.raises(ValueError, match=said):
        judged(reply)


def test_a_reply_without_any_verdict_is_one():
    assert judged('{"entity_diagnostics": []}') == [None, 0.0, 0.0]


def test_a_judge_that_reads_images_is_refused():
    with pytest.raises(ValueError, match="a judge reads text"):
        FfaJudge(generator={"kind": "openai_vision", "base_url": "http://localhost:1/v1", "model": "m"})
