"""The effect of the reference protocol on answers and texts, case by case; with the code's own numbers if known."""

import json
import os
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from ohr.benchmarks.ohrbench import REFERENCE, OhrBench
from ohr.contracts import Chunk, Page, Passage, Question
from ohr.dataset.inputs import Inputs
from ohr.graph.cache_keys import Keys
from ohr.metrics.answers import F1
from ohr.metrics.dose import by_page, own_passages
from ohr.metrics.floors import OtherPages
from ohr.metrics.lcs import Lcs
from ohr.metrics.question_scores import answer_scores, retrieval_scores
from ohr.metrics.scores import Rules
from ohr.spec.read import read_spec
from ohr.steps.answers.prompt_templates import make_prompt, parse_answer, read_prompt
from ohr.text.words import normalise

ASKED = Question("q", "When?", ("1964",), "law/lease", (0,), ("began in 1964",), "text", "law")


@pytest.fixture
def keys(folder):
    """The keys of a run by the reference protocol."""
    spec = folder.root / "spec.yaml"
    spec.write_text(
        "benchmark: {kind: ohrbench, root: ., protocol: reference}\nknowledge_bases: [{}]\nevaluate: [retrieval]\n"
    )
    read = read_spec(spec)
    return Keys(read, Inputs(read.benchmark, (), (ASKED,), {}, ()))


@pytest.fixture
def rules(keys):
    return Rules(REFERENCE, keys.metrics)


@pytest.fixture(scope="module")
def vectors():
    """Numbers of the benchmark's own code."""
    if "OHRBENCH_VECTORS" not in os.environ:
        pytest.skip("OHRBENCH_VECTORS names no folder")
    return json.loads((Path(os.environ["OHRBENCH_VECTORS"]) / "ohrbench_metrics.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("prediction", "accepted", "f1"),
    [
        ("rent in May", "May rent", 0.8),
        ("3.14", "314", 1.0),
        ("yes", "Yes, in May", 0.0),
        ("", "", 0.0),
        ("the", "a", 0.0),
        ("合同 租金 五月", "租金 三百 元", 0.6),  # the two spaces of each side are tokens too
        ("–5", "5", 0.0),
    ],
)
def test_f1_is_that_of_the_code(keys, prediction, accepted, f1):
    assert keys.metrics["f1"].score(prediction, accepted) == pytest.approx(f1, abs=1e-15)


@pytest.mark.parametrize(
    ("retrieved", "evidence", "lcs"),
    [
        ("one two", "one two three four", 0.5),
        ("北京上海", "北京 上海", 0.0),
        ("anything", "...", 0.5),
        ("", "the", 0.5),
    ],
)
def test_lcs_is_that_of_the_code(keys, retrieved, evidence, lcs):
    assert keys.metrics["lcs"].score(retrieved, evidence) == lcs


def test_evidence_without_a_word_scores_half_only_where_its_page_was_found(rules):
    asked = replace(ASKED, evidence=("...",))
    found = [Chunk("a", "law/lease", (0,), 0, 0, "")]
    for chunks, score in ((found, 0.5), ([], 0.0)):
        scores = retrieval_scores([asked], {"q": chunks}, rules, OtherPages({}), 2, ())
        assert scores.values["lcs"] == [score]


@pytest.mark.parametrize("answer", [842, None, True, ["1964"], {"year": 1964}])
def test_an_answer_that_is_no_string_scores_minus_one(folder, rules, answer):
    folder.question("q2", answers=answer)
    bench = OhrBench(root=folder.root, protocol="reference")
    asked = bench.questions()[-1]
    scores = answer_scores([asked], {"q2": "1964"}, rules, "overall", "gt", ())
    assert scores.values == {"f1": [-1.0], "em": [-1.0]}
    assert scores.failures == []
    assert "1 answer other than a string, scored -1 as in the published code: q2" in bench.notes()


def test_the_clean_protocol_reads_them_as_they_are_written(folder):
    folder.question("q2", answers=["1964", 5])
    assert OhrBench(root=folder.root).questions()[-1].answers == ("1964", "5")


def test_the_prompt_is_the_codes_to_the_last_space():
    prompt = read_prompt(REFERENCE.prompt)
    system, user = prompt.system, prompt.user
    assert "both the retrieved information. \n\nYou **MUST**" in system
    assert system.endswith('say: "Not answerable".\n\n')
    assert user == "Question: {question}\n\nRetrieved Documents: {retrieved_documents}"


def test_passages_are_cut_where_the_librarys_own_prompt_would_begin():
    passages = ["Rent is due.\nGiven the context information and so on", "It began in 1964."]
    benchmark = OhrBench(root=Path("OHR-Bench"), protocol="reference")
    asked = make_prompt(benchmark, ASKED, [Passage(text) for text in passages])
    assert asked.user.endswith("Documents: Rent is due.\n\nIt began in 1964.")


def test_a_generator_reads_the_pages_that_are_there_in_their_order():
    asked = replace(ASKED, pages=(0, 1, 2, 3))
    pages = [Page("law/lease", 2, "third"), Page("law/lease", 0, "first"), Page("law/lease", 1, "", "null")]
    assert [passage.text for passage in own_passages(asked, by_page(pages))] == ["first", "third"]
    assert own_passages(asked, {}) == []


def test_every_score_of_the_code_is_repeated(keys, vectors):
    compared = 0
    for case in vectors["vectors"]:
        prediction, truth = case["prediction"], case["ground_truth"]
        if not (isinstance(prediction, str) and isinstance(truth, str)):
            continue  # answers that are no string: `test_an_answer_that_is_no_string_scores_minus_one`
        found = {
            "f1_score": keys.metrics["f1"].score(prediction, truth),
            "exact_match_score": keys.metrics["em"].score(prediction, truth),
            "lcs_score": keys.metrics["lcs"].score(prediction, truth),
        }
        assert found == {name: case[name] for name in found}, case
        compared += 1
    assert compared == 40
    assert all(normalise(case["in"]) == case["out"] for case in vectors["normalize"])
    assert all(parse_answer(case["raw"]) == case["parsed"] for case in vectors["parse"])


def test_the_undefined_is_left_out_in_the_clean_protocol():
    assert isnan(Lcs().score("rent", "the"))
    assert isnan(F1().score("rent", "..."))
