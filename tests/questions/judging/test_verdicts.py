import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Completion
from ohr.questions.judging.model_rules import reply_of
from ohr.questions.judging.verdicts import RIGHT_WRONG, TASKS, YES_NO, named_in, verdict, yes_or_no

REPLIES = {
    "yes": (YES_NO, ["yes", "Yes, since it names the company.", "The question names a place.\nAnswer: **yes**",
                     "The question names a place.\nYes.", '```json\n{"answer": true}\n```', "I would say yes here.",
                     "是。问题写明了公司。"]),
    "no": (YES_NO, ["**No.** The question says nothing.", "Answer: no", "不能", "否", "判断：否",
                    '{"verdict": "no", "reason": "yes and no"}']),
    "neither": (YES_NO, ["yes or no", "是否", "是或否", "It depends: yes for some, no for others.",
                        "Nothing of this", ""]),
    "wrong": (RIGHT_WRONG, ["wrong", "Not correct", "不正确"]),
    "right": (RIGHT_WRONG, ["Correct.", "正确"]),
    "unknown": (RIGHT_WRONG, ["unknown"]),
    "understanding": (TASKS, ["understanding", "答案：理解"]),
    "reasoning": (TASKS, ["Reasoning: two numbers are added.", "This is a question of reasoning", "推理"]),
    "either": (TASKS, ["understanding or reasoning"]),
}  # fmt: skip
"""Words and replies by the verdict that they give; it is no word where they give none."""


@pytest.mark.parametrize("expected", REPLIES)
def test_verdicts_are_read_however_they_are_written(expected):
    words, replies = REPLIES[expected]
    assert {reply: verdict(reply, words) for reply in replies} == dict.fromkeys(
        replies, expected if expected in words else ""
    )


@pytest.mark.parametrize(
    ("question", "reply", "expected"),
    [
        ("What is the rent of Berth 3 in Norrgate?", "Norrgate", "names"),
        ("What is the rent of Berth 3 in Norrgate?", "Names: norrgate, berth 3", "names"),
        ("What is the rent of Berth 3 in Norrgate?", "It names **Norrgate**.", "names"),
        ("What is the rent of Berth 3 in Norrgate?", "none", "none"),
        ("What is the rent of Berth 3 in Norrgate?", "Paris", ""),
        ("What is the rent in this table?", "table", "none"),
        ("What is the rent in this table?", "What is the rent in this table?", "none"),
        ("What is the rent in this table?", "There is no name.", "none"),
        ("What is the rent in this table?", "Names: none", "none"),
        ("What is the rent in 2019?", "2019", "none"),
        ("云岫县一共要购置多少辆公交车？", "云岫县", "names"),
        ("云岫县一共要购置多少辆公交车？", "名称：云岫县、公交车", "names"),
        ("云岫县政务公报第几期公布了预算？", "云 岫 县 政 务 公 报", "names"),
        ("云 岫 县 政 务 公 报第几期公布了预算？", "云 岫 县 政 务 公 报", "names"),
        ("云 岫 县 政 务 公 报第几期公布了预算？", "云岫县政务公报", "names"),
        ("该 公 司的收入是多少？", "该 公 司", "none"),
        ("该公司的收入是多少？", "该公司", "none"),
        ("该公司的收入是多少？", "无", "none"),
        ("PilotLog有多少段落？", "PilotLog", "names"),
        ("What weighs Regulator No. 27?", "No. 27", "names"),
        ("What?", "", ""),
    ],
)
def test_a_name_counts_where_the_question_has_it(question, reply, expected):
    assert named_in(question, reply) == expected


@given(st.text(), st.text())
def test_no_reply_about_names_raises(question, reply):
    assert named_in(question, reply) in ("names", "none", "")


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
