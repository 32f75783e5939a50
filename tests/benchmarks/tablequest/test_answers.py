import json
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.tablequest.answer_match import (
    FEW_WORDS,
    Verdict,
    deterministic_accuracy,
    json_objects,
    parse_answer,
)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ('{"steps": "a", "answer": "0.2%"}', "0.2%"),
        ('```json\n{"answer": " 0.2% "}\n```', "0.2%"),
        ('Here it is: {"answer": "0.2%"} I hope it helps.', "0.2%"),
        ('{"answer": "1"} then {"answer": "2"} and {"note": "3"}', "2"),
        ('{"answer": {"a": "-$13.2 million", "years": [2022, 2023]}}', '{"a":"-$13.2 million","years":[2022,2023]}'),
        ('{"answer": 12.5}', "12.5"),
        ('{"answer": "Größe"}', "Größe"),
        ('{"steps": "one\ntwo", "answer": "5"}', "5"),
        *((reply, "") for reply in ("", " \n ", '{"answer": ""}', '{"answer": null}', '{"answer": "  "}')),
    ],
)
def test_the_answer_is_that_of_the_last_json_object_with_one(reply, answer):
    assert parse_answer(reply) == answer


@pytest.mark.parametrize(
    "reply",
    [
        '{ "2023": "$2.3 million", "Analysis": "fell" }',
        "The answer is 5.",
        '{"steps": "a", "answer": "5"',
        '{"result": {"answer": "5"}}',
        "{'answer': '5'}",
        "```json\n[1, 2]\n```",
        '{"a":' * 5000,
    ],
)
def test_a_reply_without_an_answer_is_the_answer_itself(reply):
    assert parse_answer(reply) == reply


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_text_survives_in_an_object(before, answer):
    assert parse_answer(before.replace("{", "") + json.dumps({"answer": answer})) == answer.strip()


def test_objects_within_others_are_not_listed():
    assert list(json_objects('{"a": {"b": 1}} {broken {"c": 2}')) == [{"a": {"b": 1}}, {"c": 2}]


@pytest.mark.parametrize("broken", ['{"', '{"a":[0,'])
def test_a_reply_is_given_up_after_a_hundred_broken_objects(broken):
    for times, is_found in ((90, True), (300, False)):
        assert ({"answer": "5"} in json_objects(broken * times + '{"answer": "5"}')) == is_found


def test_braces_that_begin_no_object_cost_nothing():
    many = "{" * 400_000
    assert parse_answer(many) == many
    assert parse_answer(many + r'\frac{1}{2} {"answer": "5"}') == "5"


@pytest.mark.parametrize(
    ("answer", "gold", "outcome", "rule"),
    [
        ("$721 million", "$721 million.", "correct", "equality"),
        ("the Stable", "stable", "correct", "equality"),
        ("(138)", "-138", "correct", "equality"),
        ("\u22120.2%", "(0.2)%", "correct", "equality"),
        ("1234%", "1,234%", "correct", "number"),
        ("The change is 12,450 - 9,175 = 3,275", "$3,275", "correct", "number"),
        ("decreased to 5%", "decrease of 5%", "correct", "number"),
        ("Yes, it did.", "Yes", "correct", "yes_no"),
        ("The outlook is stable.", "Stable", "correct", "containment"),
        ("From 5-35 years", "5-35", "correct", "containment"),
        ("", "5", "wrong", "empty"),
        (" \n", "Stable", "wrong", "empty"),
        ("NaN", "5", "wrong", "number"),
        ("It cannot be determined.", "$5 million", "wrong", "number"),
        ("14.3%", "14.2%", "wrong", "number"),
        ("-5%", "5%", "wrong", "number"),
        ("79", "(79)", "wrong", "number"),
        ("2022", "2023", "wrong", "number"),
        ("No", "Yes", "wrong", "yes_no"),
    ],
)
def test_rules_accept_and_refuse(answer, gold, outcome, rule):
    assert deterministic_accuracy(answer, gold) == Verdict(outcome, rule)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("The total was $721 million in 2023", "$721 million"),  # only an earlier figure agrees
        ("a decrease of 10.7%", "-10.7%"),  # the sign is in words
        ("increase of 5%", "decrease of 5%"),
        ("$48.3 million, then $45.1 million", "$48.3 million"),
        ("0.142", "14.2%"),
        ("14.2%", "0.142"),
        ("It did not change: zero", "0"),
        ("not stable", "Stable"),
        ("5 to 35 years", "5-35"),
        ("It rose", "Yes"),
        ("Growth", "Revenue grew because of prices"),
        ("whatever $", "$"),  # a gold answer without a word
        ("7", "In 2023 the margin fell by 7 points because of freight costs"),
    ],
)
def test_other_cases_are_left_to_a_judge(answer, gold):
    verdict = deterministic_accuracy(answer, gold)
    assert verdict == Verdict("undecided", "judge")
    assert isnan(verdict.score)


def test_a_gold_figure_with_many_words_is_no_number():
    words = " ".join(["word"] * FEW_WORDS)
    assert deterministic_accuracy("8", f"7 {words}").rule == "number"
    assert deterministic_accuracy("8", f"7 {words} more").rule == "judge"


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_texts_get_a_verdict(answer, gold):
    verdict = deterministic_accuracy(answer, gold)
    assert (verdict.outcome == "undecided") == (verdict.rule == "judge")


@given(st.text(max_size=40))
def test_an_answer_that_is_not_empty_never_contradicts_itself(text):
    verdict = deterministic_accuracy(text, text)
    assert verdict.outcome != "wrong" or verdict.rule == "empty"
