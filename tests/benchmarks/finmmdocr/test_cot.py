"""Accuracy of written solutions: the prompt of the extraction, and what becomes of its replies."""

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import pytest
from pydantic import ValidationError

from ohr.benchmarks.finmmdocr.cot import CotAccuracy, read_extraction_prompt
from ohr.contracts import Case, Completion, Generator, Prompt
from ohr.errors import SpecError
from samples.finmmdocr import SAMPLE

OUTPUTS = [output for output in json.loads((SAMPLE / "outputs.json").read_text("utf-8")) if output["kind"] == "cot"]
GOLDS = {
    record["question_id"]: record["ground_truth"] for record in json.loads((SAMPLE / "test.json").read_text("utf-8"))
}
SOLUTION = Case("What is the margin?", ("75.0",), (), "So 3 of {question} is 75 %.", "test-0")


class Silent(Generator):
    """A generator that is never asked."""

    kind: Literal["silent"] = "silent"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        raise AssertionError("it was asked")


class Seeing(Silent):
    """One that reads images."""

    kind: Literal["seeing"] = "seeing"
    reads_images: ClassVar[bool] = True


def metric(**fields):
    return CotAccuracy(generator=Silent(), **fields)


@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_canned_extractions_score_as_they_promise(protocol):
    scorer = metric(protocol=protocol)
    for output in OUTPUTS:
        case = Case("?", (json.dumps(GOLDS[output["question_id"]]),), (), "a solution")
        if protocol == "clean" and output["case"] == "words":
            with pytest.raises(ValueError, match="no number in the extraction"):  # a failed score, which is 0
                scorer.score_judged(case, [output["output"]])
            assert output["expected"]["clean"] == 0
        else:
            assert scorer.score_judged(case, [output["output"]]) == output["expected"][protocol], output


def test_the_prompt_has_the_question_and_the_solution_as_they_are():
    (prompt,) = metric().prompts_for(SOLUTION)
    assert "What is the margin?" in prompt.user
    assert "So 3 of {question} is 75 %." in prompt.user
    assert prompt.system == read_extraction_prompt("extract_number").system
    assert prompt.id == "test-0"


def test_an_empty_solution_is_wrong_and_asks_nothing():
    empty = Case("?", ("0",), (), " \n")
    assert metric().prompts_for(empty) == ()
    assert [metric().score_judged(empty, replies) for replies in ([], ["None"], ["none of these"])] == [0, 0, 0]


def test_a_gold_that_no_answer_meets_is_asked_about_in_the_reference_protocol_alone():
    odd = Case("?", ('"75"',), (), "75")
    assert metric().prompts_for(odd) is None
    assert len(metric(protocol="reference").prompts_for(odd)) == 1
    assert metric(protocol="reference").score_judged(odd, ["75"]) == 0


def test_another_prompt_changes_the_identity(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("user: '{solution}?'")
    own = metric(prompt=path)
    own.check()
    assert own.prompts_for(SOLUTION)[0].user == "So 3 of {question} is 75 %.?"
    assert own.prompt_sha256 != metric().prompt_sha256
    assert own.identity()["prompt"] == own.prompt_sha256


def test_a_prompt_without_the_solution_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("user: '{question}?'")
    with pytest.raises(SpecError, match=r"must have the placeholder \{solution\}"):
        metric(prompt=path).check()


def test_a_generator_that_reads_images_is_refused():
    with pytest.raises(ValidationError, match="the extraction reads text, and seeing reads page images"):
        CotAccuracy(generator=Seeing())
