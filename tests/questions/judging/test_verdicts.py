import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Completion
from ohr.questions.judging.asking import reply_of
from ohr.questions.judging.verdicts import RIGHT_WRONG, TASKS, YES_NO, verdict, yes_or_no


@pytest.mark.parametrize(
    ("reply", "words", "expected"),
    [
        ("yes", YES_NO, "yes"),
        ("Yes, since it names the company.", YES_NO, "yes"),
        ("**No.** The question says nothing.", YES_NO, "no"),
        ("Answer: no", YES_NO, "no"),
        ("The question names a place.\nAnswer: **yes**", YES_NO, "yes"),
        ("The question names a place.\nYes.", YES_NO, "yes"),
        ('{"verdict": "no", "reason": "yes and no"}', YES_NO, "no"),
        ('```json\n{"answer": true}\n```', YES_NO, "yes"),
        ("I would say yes here.", YES_NO, "yes"),
        ("是。问题写明了公司。", YES_NO, "yes"),
        ("不能", YES_NO, "no"),
        ("否", YES_NO, "no"),
        ("判断：否", YES_NO, "no"),
        ("yes or no", YES_NO, ""),
        ("是否", YES_NO, ""),
        ("是或否", YES_NO, ""),
        ("It depends: yes for some, no for others.", YES_NO, ""),
        ("Nothing of this", YES_NO, ""),
        ("", YES_NO, ""),
        ("wrong", RIGHT_WRONG, "wrong"),
        ("Not correct", RIGHT_WRONG, "wrong"),
        ("Correct.", RIGHT_WRONG, "right"),
        ("不正确", RIGHT_WRONG, "wrong"),
        ("正确", RIGHT_WRONG, "right"),
        ("unknown", RIGHT_WRONG, ""),
        ("understanding", TASKS, "understanding"),
        ("Reasoning: two numbers are added.", TASKS, "reasoning"),
        ("This is a question of reasoning", TASKS, "reasoning"),
        ("推理", TASKS, "reasoning"),
        ("答案：理解", TASKS, "understanding"),
        ("understanding or reasoning", TASKS, ""),
    ],
)
def test_verdicts_are_read_however_they_are_written(reply, words, expected):
    assert verdict(reply, words) == expected


def test_yes_and_no_of_answers():
    assert [yes_or_no(text) for text in ("Yes, both", "否", "thirty", "Not at all")] == [True, False, None, False]


@given(st.one_of(st.text(), st.text(alphabet='{}[]":,yesno是否答案 \n'), st.text(alphabet="{[", min_size=3000)))
def test_no_reply_raises(reply):
    for words in (YES_NO, RIGHT_WRONG, TASKS):
        assert verdict(reply, words) in ("", *words)


@pytest.mark.parametrize(
    ("completion", "text", "fault"),
    [
        (Completion("yes"), "yes", ""),
        (Completion("<think>no, or is it?</think>\nyes"), "yes", ""),
        (Completion("<think>no, or is it?"), "", "the reply is empty"),
        (Completion(" \n"), "", "the reply is empty"),
        (Completion("no", finish="error", error="timed out"), "", "the model failed: timed out"),
        (Completion("yes", truncated=True), "", "the prompt was cut to fit the model"),
        (Completion("The question na", finish="length"), "", "the reply was cut"),
        (Completion("yes\nThe question na", finish="length"), "yes", ""),
        (Completion("<think>is it", finish="length"), "", "the reply was cut"),
    ],
)
def test_replies_that_cannot_be_used_say_why(completion, text, fault):
    assert reply_of(completion) == (text, fault)
