"""A run of which much failed says so first, and nothing of it is judged."""

import json

import pytest

PLUGIN = """\
from collections.abc import Iterator, Sequence
from typing import Literal

from ohr.contracts import Completion, Generator, Prompt


class Refused(Generator):
    '''Refuses every prompt, or answers none.'''

    kind: Literal["refused"] = "refused"
    says: Literal["error", "nothing"] = "error"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        for _ in prompts:
            yield Completion("", finish="error", error="the key is wrong") if self.says == "error" else Completion("")
"""


@pytest.fixture
def broken(home, ohr):
    """Run the study with a generator that gives no answer; returns what the command said."""

    def run(says, *more):
        (home / "refused.py").write_text(PLUGIN)
        if "refused" not in (lines := (home / "small.yaml").read_text()):
            lines = lines.replace("extractive", f"refused, says: {says}")
            (home / "small.yaml").write_text(f"plugins: [./refused.py]\n{lines}evaluate: [overall]\n")
        inline = ("--executor", "inline", "--set", "retries=0", "--no-figures", "--no-report")
        return ohr("run", "small.yaml", "--trust-plugins", *inline, *more)

    return run


def test_the_summary_says_that_too_much_failed_and_what_helps(broken):
    lines = broken("error").stdout.splitlines()
    text = " ".join(" ".join(lines).split())
    first, second = (text.index(part) for part in (" items failed, ", "2 of 2 comparisons cannot be judged: more than"))
    assert first < 10 and first < second < text.index(" condition ")
    assert [line.split("  ")[-1] for line in lines if line.startswith("formatting")] == [
        "not judged: too much failed"
    ] * 2
    assert len(lines) <= 25
    assert max(len(line) for line in lines if "runs/" not in line) <= 100
    assert "the key is wrong. Repair that and run the spec again: only what failed is done again." in text


def test_answers_that_were_all_refused_show_no_loss_of_0(broken, ohr):
    done = broken("error", "--details")
    assert done.exit_code == 1
    first, second, *rest = done.stdout.splitlines()
    assert "items failed, " in first
    assert first.endswith("the key is wrong. Repair that and run the spec again: only what failed is done again.")
    assert second.startswith("2 of 2 comparisons cannot be judged: more than 10% of the questions failed")
    none = "Answers end to end (F1): none of 2 comparisons with clean text shows a loss"
    assert f"{none} (judged together by Holm's method), 2 cannot be judged." in rest
    table = next(line for line in rest if line.startswith("formatting  "))
    assert "0.00 not judged: " in table and "not shown" not in table
    assert "2 of 2 not judged: too much failed" in ohr("runs").stdout
    assert json.loads(ohr("runs", "--json").stdout)[0]["not_judged"] == 2


def test_a_rule_on_what_failed_is_not_judged_and_ends_with_1(broken, ohr):
    broken("error")
    sides = ("small:ground_truth", "small:formatting-0.6")
    plain = ohr("compare", *sides)
    assert plain.exit_code == 0
    assert plain.stdout.startswith("1 of 1 comparison cannot be judged: more than 10% of the questions failed")
    assert "the key is wrong" in plain.stdout
    assert "Nothing can be said: too much failed in every comparison." in plain.stdout
    ruled = ohr("compare", *sides, "--fail-if", "low > 0.02", "--json")
    found = json.loads(ruled.stdout)
    assert (ruled.exit_code, found["met"], len(found["not_judged"])) == (1, [], 1)
    assert found["pairs"][0]["verdict"] == "failed"


def test_a_system_that_answers_nothing_has_no_verdict(broken, ohr):
    lines = broken("nothing").stdout.splitlines()
    assert lines[0].startswith("refused answers fewer than half of the questions on clean text: no loss ")
    assert sum(line.endswith("not judged: hardly any answer") for line in lines) == 2
    done = broken("nothing", "--details")
    assert done.exit_code == 1
    assert done.stdout.startswith("The generator answers fewer than half of the questions on clean text: no loss ")
    assert "2 cannot be judged." in done.stdout
