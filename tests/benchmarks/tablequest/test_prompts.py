"""The prompts: filled in with a context and a question, and with an example that is read as any reply is."""

import pytest

from ohr.benchmarks.tablequest import TableQuest
from ohr.benchmarks.tablequest.answer_match import parse_answer
from ohr.contracts import Passage
from ohr.steps.answers.prompt_templates import make_prompt

BENCHMARK = TableQuest(root="sample")


def asked(*texts, images=False):
    question = BENCHMARK.questions()[0]
    return make_prompt(BENCHMARK, question, [Passage(text) for text in texts], images=images)


def test_the_prompt_has_the_passages_and_the_question_as_they_are():
    prompt = asked("<table>{question}</table>", "<p>more</p>")
    end = (
        "## Context:\n<table>{question}</table>\n\n<p>more</p>\n\n## Question:\nWhat was the balance of work in process"
    )
    assert end in prompt.user
    assert prompt.passages == ("<table>{question}</table>", "<p>more</p>")
    assert prompt.id == "brindlemere_2023-e"


@pytest.mark.parametrize("images", [False, True])
def test_the_example_is_a_reply_that_is_read(images):
    assert parse_answer(asked("<p></p>", images=images).user) == "25.0%"


def test_the_prompt_for_images_has_no_text_of_the_pages():
    assert "57.9" not in asked("Work in process 57.9", images=True).user
