import json

import pytest
from pydantic import ValidationError

from ohr.contracts import Case, Completion
from ohr.errors import SpecError
from ohr.metrics.cases import graded
from ohr.metrics.judge import Judge, read_judge_prompt

JUDGE = Judge(generator={"kind": "extractive"})
CASE = Case("When?", ("1964", "in 1964"), ("It began in {reply}.", "Rent is due."), "about {answers} 1964")


def judge(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return Judge(generator={"kind": "extractive"}, prompt=path)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Right.\nScore: 5", 1.0),
        ("Score: 1", 0.0),
        ("**Score:** 3", 0.5),
        ("score = 4", 0.75),
        ("Score: <2>", 0.25),
        ("A score: 2 at first sight, but then...\nScore: 4/5", 0.75),
        (" 3 ", 0.5),
        ("Score: 4,5", 0.875),
    ],
)
def test_the_last_grade_of_a_reply_counts(reply, score):
    assert JUDGE.score_reply(reply) == score


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no `Score:` in the judge's reply: ''"),
        ("It is right, 5 of 5.", "no `Score:` in the judge's reply: 'It is right, 5 of 5.'"),
        ("Score: 7", "the judge's grade 7 is not on the scale from 1 to 5"),
        ("Score: -1", "the judge's grade -1 is not on the scale from 1 to 5"),
        ("Scores: 5", "no `Score:` in the judge's reply: 'Scores: 5'"),
    ],
)
def test_a_reply_without_a_grade_is_refused_with_the_reason(reply, reason):
    with pytest.raises(ValueError) as caught:
        JUDGE.score_reply(reply)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "reply",
    [
        "It is right. Score: 4.",
        '{"why": "ok", "score": 4}',
        "Score：4",
        "Score: 4 out of 5",
        "4/5",
        "Score: 4 (partly right)",
        "4e0",
        "Score (1-5): 4",
        "Score out of 5: 4",
        "\\boxed{4}",
        "It is nearly right. $\\boxed{4}$",
        "Score: \\boxed{4}",
    ],
)
def test_a_grade_may_be_decorated_and_say_its_scale(reply):
    assert JUDGE.score_reply(reply) == 0.75


@pytest.mark.parametrize(
    "reply",
    [
        "If it is wrong I write Score: 1, if it is right Score: 5. Now the reply",
        "Score: 4/10",
        "8/10",
        "Score: 80%",
        "Score: 4-5",
        "Score: 4 or 5",
        "Score: 1\nScore: 5",
        "Score: 5 means right.",
        "3 4",
        "Score:",
        "\\boxed{1} or \\boxed{5}",
        "\\boxed{right}",
    ],
)
def test_a_number_that_is_not_one_grade_on_the_scale_is_no_grade(reply):
    with pytest.raises(ValueError, match=r"judge's (reply|grade)"):
        JUDGE.score_reply(reply)


def test_a_cut_reply_of_a_judge_has_no_grade():
    cut = Completion("If it is right, I write\nScore: 5", finish="length")
    with pytest.raises(ValueError, match="the judge's reply was cut at its longest"):
        graded(cut)
    assert graded(Completion("<think>Score: 1?</think>Score: 5")) == "Score: 5"


def test_placeholders_inside_the_texts_are_left_alone():
    prompt = JUDGE.prompt_for(CASE)
    assert "1964\nin 1964" in prompt.user
    assert "about {answers} 1964" in prompt.user
    faithful = Judge(generator={"kind": "extractive"}, prompt="faithfulness").prompt_for(CASE)
    assert "It began in {reply}.\n\nRent is due." in faithful.user


def test_without_an_accepted_answer_only_a_prompt_that_needs_one_is_undefined():
    unanswered = Case("When?", (), (), "")
    assert JUDGE.prompt_for(unanswered) is None
    assert "(no reply)" in Judge(generator={"kind": "extractive"}, prompt="faithfulness").prompt_for(unanswered).user


def test_a_custom_prompt_has_its_own_scale_and_identity(tmp_path):
    own = judge(tmp_path, "scale: [10, 0]\nuser: 'Errors in {reply}?'")
    assert own.prompt_for(CASE).user == "Errors in about {answers} 1964?"
    assert own.score_reply("2") == 0.8
    assert own.prompt_sha256 != JUDGE.prompt_sha256
    assert "mine.yaml" not in json.dumps(own.identity())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("user: hm", "user: must have the placeholder {reply}"),
        ("user: '{reply}'\nscale: [1, 1]", "must be two different numbers"),
        ("user: '{reply}'\ntemperature: 1", "temperature: unknown key."),
        ("user: [", "not YAML"),
    ],
)
def test_a_wrong_prompt_file_is_refused(tmp_path, text, fault):
    with pytest.raises(SpecError) as caught:
        judge(tmp_path, text).check()
    assert fault in str(caught.value)


def test_unknown_prompts_and_judges_are_refused():
    with pytest.raises(SpecError, match="Choose one of: correctness, faithfulness"):
        read_judge_prompt("corectness")
    with pytest.raises(ValidationError, match="no generator 'extracctive'"):
        Judge(generator={"kind": "extracctive"})
    with pytest.raises(ValidationError, match="a judge reads text, and transformers_vision reads page images"):
        Judge(generator={"kind": "transformers_vision", "model": "x"})
