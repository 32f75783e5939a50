from pathlib import Path

import pytest

from ohr.benchmarks.finmmdocr.cot import read_extraction_prompt
from ohr.benchmarks.mini import Mini
from ohr.contracts import Passage, Prompt, Question
from ohr.errors import SpecError
from ohr.metrics.judge import read_judge_prompt
from ohr.steps.answers.prompt_templates import make_prompt, parse_answer, read_prompt


def made(texts: list[str], prompt: str | Path | None = None) -> Prompt:
    """Ask "When?" with some passages."""
    asked = Question("q", "When?", ("1964",), "law/lease", (0,), ("It began.",), "text", "law")
    return make_prompt(Mini(), asked, [Passage(text) for text in texts], prompt=prompt)


@pytest.mark.parametrize("name", ["ohrbench", "short"])
def test_a_prompt_of_ours_holds_the_question_and_the_passages(name):
    filled = made(["One.", "Two {question}."], name)
    assert "Question: When?" in filled.user
    assert "One.\n\nTwo {question}." in filled.user  # a placeholder in a passage is left alone


def test_the_papers_prompt_is_worded_as_in_its_table():
    asked = made(["In 1964.", "Or 1965."])
    assert asked.user == "Question: When?\n\nRetrieved Documents: In 1964.\n\nOr 1965."
    assert asked.system.endswith("\nWrite the answers within <response></response>.")
    assert asked.opening == ""


def test_a_file_is_a_prompt(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text('user: "{retrieved_documents}? {question}"\nopening: "It is"\n')
    asked = made(["One"], path)
    assert (asked.system, asked.user, asked.opening) == ("", "One? When?", "It is")


@pytest.mark.parametrize(
    ("read", "before", "after"),
    [
        (read_prompt, "user: '{question}'", "user: 'Again: {question}'"),
        (read_judge_prompt, "user: '{reply}'", "user: 'Again: {reply}'"),
        (read_extraction_prompt, "user: '{question} {solution}'", "user: 'Again: {question} {solution}'"),
    ],
)
def test_a_prompt_file_that_changed_is_read_again(read, before, after, tmp_path):
    (tmp_path / "own.yaml").write_text(before)
    assert not read(tmp_path / "own.yaml").user.startswith("Again")
    (tmp_path / "own.yaml").write_text(after)
    assert read(tmp_path / "own.yaml").user.startswith("Again")


def test_an_unknown_prompt_names_the_nearest():
    with pytest.raises(SpecError) as caught:
        read_prompt("shrot")
    assert str(caught.value) == (
        "no prompt 'shrot'. Choose one of: m3docrag, ohrbench, ohrbench_code, page_images, short. Did you mean "
        "'short'? Or name a file, as in ./my_prompt.yaml"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user: hello", "user: must have the placeholder {question}; the other is {retrieved_documents}"),
        ("system: hello", "user: is required"),
        ("just text", "must be a mapping with `user`, and perhaps `system` and `opening`"),
        (
            'user: "{question}"\nopenning: x',
            "openning: unknown key. Choose one of: system, user, opening. Did you mean 'opening'?",
        ),
        ("user: [a]", "user: must be text"),
    ],
)
def test_a_file_that_is_no_prompt_is_reported(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        read_prompt(path)
    assert str(caught.value) == f"prompt {path}: {message}"


def test_a_missing_file_is_reported():
    with pytest.raises(SpecError) as caught:
        read_prompt(Path("/no/mine.yaml"))
    assert str(caught.value) == "prompt /no/mine.yaml: No such file or directory"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("<response>1964</response>", "1964"), (" 1964.\n", "1964."), ("so <response> a </response>", "a"), ("", "")],
)
def test_an_answer_is_taken_out_of_its_tags(reply, answer):
    assert parse_answer(reply) == answer
