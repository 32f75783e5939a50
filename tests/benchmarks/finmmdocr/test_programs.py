"""The program in a reply, by the published rules and by the repaired ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finmmdocr.programs import extract_program

PROGRAM = "def solution():\n    a = 3\n    return a"
FENCED = f"```python\n{PROGRAM}\n```"


def value(code):
    """Run a program of this file's own; None where it fails."""
    space = {}
    try:
        exec(code, space)  # our own programs
        return space["solution"]()
    except Exception:
        return None


@pytest.mark.parametrize("protocol", ["reference", "clean"])
@pytest.mark.parametrize(
    "reply",
    [
        FENCED,
        f"Here it is.\n\n{FENCED}\n\nIt returns 3.",
        f"```\n{PROGRAM}\n```",
        f"```json\n{{}}\n```\n{FENCED}",
        PROGRAM,
        f"\n\n{PROGRAM}\n\n",
        "    a = 3\n    return a",
        "a = 3\n    return a",
        "    a = 3\n    return a\n```",
        "    a = 3\n    return a\n```\nThe values which we return are these.",
        "    a = 1\n    return a\n```\nOr rather:\n" + FENCED,
        "```python3\n" + PROGRAM + "\n```",
    ],
)
def test_both_protocols_find_a_program_in_its_usual_places(reply, protocol):
    assert value(extract_program(reply, protocol)) == 3


@pytest.mark.parametrize("protocol", ["reference", "clean"])
def test_an_empty_reply_has_no_program(protocol):
    assert extract_program("", protocol) == ""


def test_the_published_rules_give_the_first_python_block_whatever_it_holds():
    assert extract_program("```python\nx=1\n```\n" + FENCED) == "x=1"
    assert extract_program("```\nx=1\n```\n" + FENCED) == PROGRAM
    assert extract_program("```\nx=1\n```\n```\ny=2\n```") == "x=1"


def test_the_published_rules_wrap_a_text_without_the_definition():
    assert extract_program("return 5") == "def solution():\n    return 5"
    assert extract_program("    return 5") == "def solution():\n    return 5"
    assert extract_program("I cannot answer.") == "def solution():\n    I cannot answer."
    assert extract_program("a = 1\nreturn a") == "def solution():\n    a = 1\nreturn a"


def test_the_published_rules_take_what_is_before_a_single_fence():
    assert extract_program("return 5\n```\nThe end.") == "def solution():\n    return 5"
    assert extract_program(PROGRAM + "\n```\nThe end.") == PROGRAM + "\n```\nThe end."


def test_the_published_rules_drop_every_reply_that_mentions_argparse():
    assert extract_program(f"No argparse is needed.\n{FENCED}") == ""
    assert extract_program("import argparse") == ""


def test_backticks_and_blank_lines_around_a_program_are_no_part_of_it():
    assert extract_program(f"```python\n\n\n{PROGRAM}\n\n\n```") == PROGRAM
    assert extract_program(f"`{PROGRAM}`") == PROGRAM


@pytest.mark.parametrize(
    "reply",
    [
        "```python\nimport math\n```\n" + FENCED,
        "```python\n" + PROGRAM,
        "Here it is:\n```python\n" + PROGRAM,
        "def solution() -> int:\n    a = 3\n    return a",
        "def  solution( ):\n    a = 3\n    return a",
        "```python\n    a = 3\n    return a\n```",
        "```py\n" + PROGRAM + "\n```",
        "a = 3\nreturn a",
        "def solution():\n    a = 3\n    return a\n```\nThis is an explanation.",
        "    def solution():\n        a = 3\n        return a\n\n    print(solution())",
        f"No argparse is needed.\n{FENCED}",
    ],
)
def test_the_clean_rules_repair_what_the_published_ones_break(reply):
    assert value(extract_program(reply)) is None
    assert value(extract_program(reply, "clean")) == 3


def test_the_clean_rules_prefer_python_to_other_blocks_where_none_defines_the_function():
    assert value(extract_program("```json\n{}\n```\n```python\nreturn 4\n```", "clean")) == 4


def test_a_fence_without_anything_in_it_has_no_program():
    assert extract_program("```python\n```", "clean") == ""
    assert extract_program("```python\n```") == ""


@given(
    st.text(alphabet=st.sampled_from("`a\n =3:()pythonreturn"), max_size=60), st.sampled_from(["reference", "clean"])
)
def test_any_text_gives_a_text(reply, protocol):
    found = extract_program(reply, protocol)
    assert isinstance(found, str)
    assert reply or found == ""
