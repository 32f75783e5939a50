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


def test_the_answer_is_read_from_bare_and_fenced_json():
    assert parse_answer('{"steps": "a", "answer": "0.2%"}') == "0.2%"
    assert parse_answer('```json\n{"answer": " 0.2% "}\n```') == "0.2%"
    assert parse_answer('Here it is: {"answer": "0.2%"} I hope it helps.') == "0.2%"


def test_the_last_object_with_an_answer_counts():
    assert parse_answer('{"answer": "1"} then {"answer": "2"} and {"note": "3"}') == "2"


def test_an_answer_that_is_no_text_is_written_as_compact_json():
    assert parse_answer('{"answer": {"change": "-$13.2 million", "years": [2022, 2023]}}') == (
        '{"change":"-$13.2 million","years":[2022,2023]}'
    )
    assert parse_answer('{"answer": 12.5}') == "12.5"
    assert parse_answer('{"answer": "Größe"}') == "Größe"


@pytest.mark.parametrize(
    "reply",
    [
        '{ "2023": "$2.3 million", "Analysis": "fell" }',
        "The answer is 5.",
        '{"steps": "a", "answer": "5"',
        '{"result": {"answer": "5"}}',
        "{'answer': '5'}",
        "```json\n[1, 2]\n```",
    ],
)
def test_a_reply_without_an_answer_is_the_answer_itself(reply):
    assert parse_answer(reply) == reply


@pytest.mark.parametrize("reply", ["", " \n ", '{"answer": ""}', '{"answer": null}', '{"answer": "  "}'])
def test_an_empty_reply_has_the_empty_answer(reply):
    assert parse_answer(reply) == ""


def test_line_feeds_within_strings_are_read():
    assert parse_answer('{"steps": "one\ntwo", "answer": "5"}') == "5"


def test_deeply_nested_replies_are_the_answer_themselves():
    deep = '{"a":' * 5000
    assert parse_answer(deep) == deep


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
    ("answer", "gold", "rule"),
    [
        ("$721 million", "$721 million.", "equality"),
        ("the Stable", "stable", "equality"),
        ("(138)", "-138", "equality"),
        ("\u22120.2%", "(0.2)%", "equality"),
        ("1234%", "1,234%", "number"),
        ("The change is 12,450 - 9,175 = 3,275", "$3,275", "number"),
        ("decreased to 5%", "decrease of 5%", "number"),
        ("Yes, it did.", "Yes", "yes_no"),
        ("The outlook is stable.", "Stable", "containment"),
        ("From 5-35 years", "5-35", "containment"),
        ("$48.3 million, then $45.1 million", "$48.3 million", "judge"),
    ],
)
def test_rules_accept(answer, gold, rule):
    verdict = deterministic_accuracy(answer, gold)
    assert verdict == Verdict("undecided" if rule == "judge" else "correct", rule)


@pytest.mark.parametrize(
    ("answer", "gold", "rule"),
    [
        ("", "5", "empty"),
        (" \n", "Stable", "empty"),
        ("NaN", "5", "number"),
        ("It cannot be determined.", "$5 million", "number"),
        ("14.3%", "14.2%", "number"),
        ("-5%", "5%", "number"),
        ("79", "(79)", "number"),
        ("2022", "2023", "number"),
        ("No", "Yes", "yes_no"),
    ],
)
def test_rules_refuse(answer, gold, rule):
    assert deterministic_accuracy(answer, gold) == Verdict("wrong", rule)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("The total was $721 million in 2023", "$721 million"),  # only an earlier figure agrees
        ("a decrease of 10.7%", "-10.7%"),  # the sign is in words
        ("increase of 5%", "decrease of 5%"),
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
