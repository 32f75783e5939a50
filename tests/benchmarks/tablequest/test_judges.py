"""Judges: what they are asked, how their replies count, and the answers of the opponent."""

import json
from math import isnan

import pytest
from pydantic import ValidationError

from ohr.benchmarks.tablequest import TableQuest
from ohr.benchmarks.tablequest.by_rule import ByRule
from ohr.benchmarks.tablequest.judges import (
    Pairwise,
    TableAccuracyJudged,
    forfeit,
    pairwise_prompt,
    parse_pairwise,
    read_baseline,
)
from ohr.contracts import Case, Prompt
from ohr.errors import DataError

RULES = {"generator": {"kind": "by_rule"}}
QUESTION = TableQuest(root="sample").questions()[0]
MODEL_1, MODEL_2, TIE = (json.dumps({"better_model": name}) for name in ("model_1", "model_2", "tie"))


def case(reply, question=QUESTION):
    return Case(question.text, question.answers, (), reply, question.id, dict(question.groups))


def pairwise(**fields):
    return Pairwise(**RULES, **({"baseline": "sample"} | fields))


def asked(prompt):
    return json.loads(prompt.user[prompt.user.index("\n{") :])


def test_both_orders_are_asked_with_the_parsed_answers():
    first, second = pairwise().prompts_for(case('{"answer": "$58 million"}'))
    assert (first.id, second.id) == ("brindlemere_2023-e/first", "brindlemere_2023-e/second")
    assert [asked(first)[key] for key in ("gt", "pred_1", "pred_2")] == [
        "$57.9 million",
        "$58 million",
        "$57.9 million",
    ]
    assert [asked(second)[key] for key in ("pred_1", "pred_2")] == ["$57.9 million", "$58 million"]


@pytest.mark.parametrize(
    ("replies", "points", "agreed", "parsed"),
    [
        ((MODEL_1, MODEL_2), 1, 1, 1),
        ((MODEL_2, MODEL_1), 0, 1, 1),
        ((TIE, TIE), 0.5, 1, 1),
        ((MODEL_2, MODEL_2), 0.5, 0, 1),  # the judge prefers a place
        ((MODEL_1, TIE), 0.5, 0, 1),
        ((TIE, MODEL_1), 0.5, 0, 1),
        ((MODEL_1, MODEL_1), 0.5, 0, 1),
        ((MODEL_1, "both are fine"), 0.5, 0, 0),
        (("", ""), 0.5, 0, 0),
    ],
)
def test_replies_of_both_orders_make_points_and_counts_of_doubts(replies, points, agreed, parsed):
    found = [pairwise(measure=name).score_judged(case("x"), replies) for name in ("points", "agreed", "parsed")]
    assert found == [points, agreed, parsed]


@pytest.mark.parametrize(
    ("order", "reply", "points"), [("first", MODEL_1, 1), ("second", MODEL_1, 0), ("second", "", 0.5)]
)
def test_one_order_alone_may_be_asked(order, reply, points):
    metric = pairwise(orders=order)
    (prompt,) = metric.prompts_for(case("x"))
    assert prompt.id == f"brindlemere_2023-e/{order}"
    assert metric.score_judged(case("x"), [reply]) == points


@pytest.mark.parametrize("reply", ["", " ", '{"answer": null}', '{"answer": ""}'])
def test_an_empty_answer_loses_without_a_judge(reply):
    assert pairwise().prompts_for(case(reply)) == ()
    assert pairwise().score_judged(case(reply), []) == 0


def test_a_question_that_the_opponent_did_not_answer_has_no_points(tmp_path):
    (tmp_path / "theirs.jsonl").write_text('{"id": "other", "reply": "5"}\n{"id": 7, "reply": ""}')
    assert pairwise(baseline=tmp_path / "theirs.jsonl").prompts_for(case("5")) is None
    assert read_baseline(tmp_path / "theirs.jsonl") == {"other": "5", "7": ""}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", r"theirs\.jsonl:1: not readable as JSON"),
        ('{"id": "a", "reply": "5"}\n{"id": "a", "reply": "6"}', r"theirs\.jsonl:2: question 'a' has a reply already"),
        ('{"id": "a"}', r"theirs\.jsonl:1: must have `id` and `reply`, a text"),
        ('{"id": true, "reply": "5"}', r"theirs\.jsonl:1: must have `id` and `reply`, a text"),
        ("", r"theirs\.jsonl: has no replies"),
    ],
)
def test_broken_answers_of_the_opponent_are_refused_before_a_run(tmp_path, text, said):
    (tmp_path / "theirs.jsonl").write_text(text)
    with pytest.raises(DataError, match=said):
        pairwise(baseline=tmp_path / "theirs.jsonl").check()
    with pytest.raises(DataError, match=r"absent\.jsonl: cannot be read"):
        pairwise(baseline=tmp_path / "absent.jsonl").check()


def test_other_answers_of_the_opponent_make_another_metric(tmp_path):
    path = tmp_path / "theirs.jsonl"
    path.write_text('{"id": "a", "reply": "5"}')
    before = pairwise(baseline=path).identity()
    path.write_text('{"id": "a", "reply": "6"}')
    assert pairwise(baseline=path).identity() != before


def test_a_judge_that_reads_images_is_refused():
    vision = {"kind": "openai_vision", "base_url": "http://localhost:1/v1", "model": "any"}
    with pytest.raises(ValidationError, match="a judge reads text, and openai_vision reads page images"):
        Pairwise(generator=vision, baseline="sample")


def test_a_judge_is_asked_about_what_rules_leave_open_and_nothing_else():
    metric = TableAccuracyJudged(**RULES)
    (prompt,) = metric.prompts_for(case("It fell, to $57.9 million or 58.9"))
    assert "REFERENCE ANSWER: $57.9 million" in prompt.user
    assert metric.prompts_for(case("57.9")) == metric.prompts_for(case("57.1")) == ()
    assert [metric.score_judged(case(reply), []) for reply in ("57.9", "57.1", "")] == [1, 0, 0]
    assert metric.score_judged(case("x"), ["**JUDGMENT:** CORRECT"]) == 1
    assert metric.score_judged(case("x"), ["JUDGMENT: INCORRECT"]) == 0


def test_a_judge_that_answers_nonsense_is_a_failed_score():
    with pytest.raises(ValueError, match="no verdict in the judge's reply: 'bananas'"):
        TableAccuracyJudged(**RULES).score_judged(case("x"), ["bananas"])


def test_hard_questions_are_not_judged_for_accuracy():
    hard = next(one for one in TableQuest(root="sample").questions() if dict(one.groups)["level"] == "hard")
    assert TableAccuracyJudged(**RULES).prompts_for(case("x", hard)) is None
    assert isnan(TableAccuracyJudged(**RULES).score_judged(case("x", hard), []))


@pytest.mark.parametrize(
    ("gold", "first", "second", "better"),
    [
        ("$57.9 million", "57.9", "58.9", "model_1"),
        ("$57.9 million", "57.1", "it is 57.9 of 60", "model_2"),
        ("$57.9 million", "57.9 million", "$57.9", "tie"),
        ("Yes: it rose from 16.9 to 21.7.", "It rose from 16.9.", "It rose from 16.9 to 21.7.", "model_2"),
        ("Yes.", "Perhaps.", "Maybe.", "tie"),
    ],
)
def test_the_judge_by_rule_prefers_what_rules_and_figures_find(gold, first, second, better):
    (reply,) = ByRule().answer([Prompt("", (gold, first, second), "", "")])
    assert json.loads(reply.text)["better_model"] == better


@pytest.mark.parametrize(
    ("gold", "answer", "judgment"),
    [
        ("5%", "5%", "CORRECT"),
        ("5%", "6%", "INCORRECT"),
        ("From 5 to 6.", "6, it was 5", "CORRECT"),
        ("From 5 to 6.", "only 6", "INCORRECT"),
        ("Because it rained.", "Because of rain.", "INCORRECT"),
    ],
)
def test_the_judge_by_rule_judges_one_answer(gold, answer, judgment):
    (reply,) = ByRule().answer([Prompt("", (gold, answer), "", "")])
    assert reply.text.startswith(f"JUDGMENT: {judgment}\n")


# --- one comparison -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ('{"rationale": "x", "better_model": "model_1"}', "model_1"),
        ('```json\n{"better_model": "tie"}\n```', "tie"),
        ('{"better_model": "Model_2"}', "model_2"),
        ('{"better_model": " TIE "}', "tie"),
        ('I compare both. {"better_model": "model_2"}', "model_2"),
        ('{"better_model": "model_1"} On reflection: {"better_model": "model_2"}', "model_2"),
        ("", None),
        ("model_1 is better", None),
        ('{"better_model": "model_3"}', None),
        ('{"better_model": 1}', None),
        ('{"better_model": null}', None),
        ('{"better_model": "model_1"', None),
        ('{"better": "model_1"}', None),
    ],
)
def test_the_choice_is_read_where_there_is_one(reply, choice):
    assert parse_pairwise(reply) == choice


def test_an_empty_answer_forfeits():
    assert [forfeit(*pair) for pair in (("", "5"), ("5", " "), (" ", ""), ("5", "6"))] == [0, 1, 0.5, None]


def test_the_prompt_has_the_papers_keys_in_their_order():
    prompt = pairwise_prompt("Why {x}?", "Größe", "first", "second")
    case = json.loads(prompt.user[prompt.user.index("\n{") :])
    assert list(case.items()) == [("question", "Why {x}?"), ("gt", "Größe"), ("pred_1", "first"), ("pred_2", "second")]
    assert all(key in prompt.user for key in ("rationale", "better_model", "model_1", "model_2", "tie"))
