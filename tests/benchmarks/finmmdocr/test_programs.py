"""The program in a reply, by the published rules and by the repaired ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.finmmdocr.reply_programs import extract_program

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


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ("```python\nx=1\n```\n" + FENCED, "x=1"),  # the first block of Python, whatever it holds
        ("```\nx=1\n```\n" + FENCED, PROGRAM),
        ("```\nx=1\n```\n```\ny=2\n```", "x=1"),
        ("return 5", "def solution():\n    return 5"),  # a text without the definition is its body
        ("    return 5", "def solution():\n    return 5"),
        ("I cannot answer.", "def solution():\n    I cannot answer."),
        ("a = 1\nreturn a", "def solution():\n    a = 1\nreturn a"),
        ("return 5\n```\nThe end.", "def solution():\n    return 5"),  # what is before a single fence
        (PROGRAM + "\n```\nThe end.", PROGRAM + "\n```\nThe end."),
        (f"No argparse is needed.\n{FENCED}", ""),
        ("import argparse", ""),
        (f"```python\n\n\n{PROGRAM}\n\n\n```", PROGRAM),
        (f"`{PROGRAM}`", PROGRAM),
        ("```python\n```", ""),
        ("", ""),
    ],
)
def test_the_published_rules(reply, program):
    assert extract_program(reply) == program


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
    assert [extract_program(reply, "clean") for reply in ("", "```python\n```")] == ["", ""]


@given(
    st.text(alphabet=st.sampled_from("`a\n =3:()pythonreturn"), max_size=60), st.sampled_from(["reference", "clean"])
)
def test_any_text_gives_a_text(reply, protocol):
    found = extract_program(reply, protocol)
    assert isinstance(found, str)
    assert reply or found == ""
