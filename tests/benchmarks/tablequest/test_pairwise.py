import json

import pytest

from ohr.benchmarks.tablequest.pairwise import forfeit, pairwise_prompt, parse_pairwise


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ('{"rationale": "x", "better_model": "model_1"}', "model_1"),
        ('```json\n{"better_model": "tie"}\n```', "tie"),
        ('{"better_model": "Model_2"}', "model_2"),
        ('{"better_model": " TIE "}', "tie"),
        ('I compare both. {"better_model": "model_2"}', "model_2"),
        ('{"better_model": "model_1"} On reflection: {"better_model": "model_2"}', "model_2"),
    ],
)
def test_the_choice_is_read(reply, choice):
    assert parse_pairwise(reply) == choice


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "model_1",
        "model_1 is better",
        '{"better_model": "model_3"}',
        '{"better_model": 1}',
        '{"better_model": null}',
        '{"better_model": "model_1"',
        '{"rationale": "x"}',
        '{"better": "model_1"}',
    ],
)
def test_a_reply_without_a_choice_has_none(reply):
    assert parse_pairwise(reply) is None


def test_an_empty_answer_loses_without_a_judge():
    assert forfeit("", "5").outcome == "loss"
    assert forfeit("5", " ").outcome == "win"
    assert forfeit(" ", "").outcome == "tie"
    assert forfeit("5", "6") is None


def test_the_prompt_has_the_papers_keys_in_their_order():
    prompt = pairwise_prompt("Why {x}?", "Größe", "first", "second")
    case = json.loads(prompt.user[prompt.user.index("\n{") :])
    assert list(case.items()) == [("question", "Why {x}?"), ("gt", "Größe"), ("pred_1", "first"), ("pred_2", "second")]
    assert all(key in prompt.user for key in ("rationale", "better_model", "model_1", "model_2", "tie"))
