import json

import pytest
from pydantic import ValidationError

from ohr.contracts import Case
from ohr.errors import SpecError
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
