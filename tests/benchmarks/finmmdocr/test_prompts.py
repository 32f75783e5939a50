"""The prompts: the published parts, in their order."""

from importlib.resources import files

import pytest
from ruamel.yaml import YAML

from ohr.benchmarks.finmmdocr.answer_numbers import cot_accuracy, pot_accuracy
from ohr.benchmarks.finmmdocr.reply_programs import extract_program
from ohr.steps.answers.prompt_templates import read_prompt


def prompt(name):
    folder = files("ohr.benchmarks.finmmdocr").joinpath("prompts", f"{name}.yaml")
    return YAML(typ="safe", pure=True).load(folder.read_text("utf-8"))


@pytest.mark.parametrize("name", ["pot_text", "pot_images"])
def test_the_parts_of_a_program_prompt_are_in_the_published_order(name):
    found = prompt(name)
    context = "{retrieved_documents}" if name == "pot_text" else "The images of the financial document follow."
    parts = ["Question:", "{question}", "must have this form", "def solution():", "Continue the program", context]
    places = [found["user"].index(part) for part in parts]
    assert places == sorted(places)
    assert found["user"].strip().endswith(context)


@pytest.mark.parametrize("name", ["pot_text", "pot_images"])
def test_the_example_in_a_program_prompt_is_a_program_that_is_found_and_runs(name):
    space = {}
    exec(extract_program(prompt(name)["system"]), space)  # our own program
    assert pot_accuracy(float(space["solution"]()), 26.25) == 1


def test_both_program_prompts_ask_the_same_but_for_the_context():
    text, images = prompt("pot_text")["user"], prompt("pot_images")["user"]
    assert text.split("\nText of the")[0] == images.split("\nThe images of")[0]


def test_the_prompt_that_extracts_a_number_has_question_and_solution():
    user = prompt("extract_number")["user"]
    assert user.index("{question}") < user.index("{solution}")
    assert "None" in prompt("extract_number")["system"]


@pytest.mark.parametrize("name", ["cot_text", "cot_images"])
def test_the_example_in_a_prompt_for_words_has_a_number_that_is_found(name):
    closing = prompt(name)["system"].splitlines()[-1]
    number = closing.rsplit(" ", 1)[1]
    assert cot_accuracy(number, 26.25, "clean") == 1
    assert ("{retrieved_documents}" in prompt(name)["user"]) == (name == "cot_text")


@pytest.mark.parametrize("name", ["pot_text", "pot_images", "cot_text", "cot_images"])
def test_a_spec_may_name_each_prompt(name):
    assert read_prompt(f"ohr.benchmarks.finmmdocr:{name}").user == prompt(name)["user"]
