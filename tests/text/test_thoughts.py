"""Thoughts are left out whatever a model calls them, and text that only names a mark stays."""

import pytest

from ohr.text.thoughts import is_mark, opened_thought, without_thoughts

PAIRS = [
    ("<think>", "</think>"),
    ("<THINKING depth='2'>", "</ thinking >"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("＜think＞", "＜/think＞"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ("<思考>", "</思考>"),
    ("【思考过程】", "【/思考过程】"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
    ("<pensée>", "</pensée>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
]


@pytest.mark.parametrize(("opens", "closes"), PAIRS)
def test_the_answer_is_what_follows_the_thought(opens, closes):
    assert without_thoughts(f"{opens}Lyon? Or Rome?{closes}\n\nParis") == "Paris"


@pytest.mark.parametrize("opens", [opens for opens, _ in PAIRS if opens != "【思考过程】"])
def test_a_reply_that_was_cut_in_its_thought_is_empty(opens):
    assert without_thoughts(f"{opens}It could be Lyon, or") == ""


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("It could be Lyon.</think>Paris", "Paris"),
        ("Lyon?</think>Rome?</think>Paris", "Paris"),
        ("<think>a<think>b</think>c</think>Paris", "Paris"),
        ("<think>a<think>b</think>still thinking", ""),
        ("<think>a</think>In Paris, <think>no?</think>France", "In Paris, France"),
        ("<think>the `x</think>Paris `y`", "Paris `y`"),
        ("<think>a</thinking>Paris", "Paris"),
        ('<think>The year is "1964"</think>"1964"', '"1964"'),
        ("<think>`x`</think>`x`", "`x`"),
        ("`x`</think>`x`", "`x`"),
        ("Answer: 5<think/>", "Answer: 5"),
        ("Paris<thinking/>", "Paris"),
        ("<think>Lyon?<think/>Paris", "Paris"),
        ("analysisLyon is near.assistantfinalParis", "Paris"),
        ("Here is my thought process:\nLyon?\nHere is my response:\nParis", "Paris"),
    ],
)
def test_nested_repeated_and_unopened_thoughts_are_left_out(reply, answer):
    assert without_thoughts(reply) == answer


@pytest.mark.parametrize(
    "reply",
    [
        " Paris ",
        "The tag `<think>` opens a thought.",
        'It is written "<think>".',
        "Write:\n```\n<think>plan</think>\n```\nthen answer.",
        "【思考】租约【回答】巴黎",
        "<thoughtful>x</thoughtful>",
        "analysis of the lease",
        "AnalysisServices",
        "[Think tank] RAND",
        "<Think Different> was a slogan",
        "a <thought experiment>",
    ],
)
def test_text_that_is_no_thought_stays_as_it_is(reply):
    assert without_thoughts(reply) == reply


def test_a_fence_around_the_whole_reply_quotes_nothing():
    assert "Lyon" not in without_thoughts("```\n<think>Lyon</think>\nParis\n```")


def test_a_template_may_open_the_thought_and_special_tokens_may_mark_it():
    assert opened_thought("assistant\n<think>\n") == "<think>"
    assert opened_thought("<think>\n\n</think>\n\n") == opened_thought("assistant\n") == ""
    assert is_mark("[THINK]") and is_mark("<|channel|>")
    assert not is_mark("<|im_end|>")
