"""The benchmark class: reports with their sampled pages, its protocols, and the inputs that it refuses."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from ohr.benchmarks.finqa_tablequest import FinqaTableQuest
from ohr.benchmarks.finqa_tablequest.report_questions import SAMPLE
from ohr.cli.app import app
from ohr.contracts import Passage
from ohr.errors import DataError
from ohr.steps.answers.prompt_templates import make_prompt
from ohr.testing import check_benchmark

BENCHMARK = FinqaTableQuest(root="sample")


@pytest.fixture
def own(tmp_path):
    """A copy of the sample whose questions can be changed."""
    shutil.copytree(SAMPLE, tmp_path / "tablequest")

    def change(level="easy", place=0, **fields):
        path = tmp_path / "tablequest" / "qa_pairs" / f"{level}.json"
        questions = json.loads(path.read_text(encoding="utf-8"))
        questions[place] |= fields
        path.write_text(json.dumps(questions), encoding="utf-8")
        return FinqaTableQuest(root=tmp_path / "tablequest")

    return change


@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_the_sample_keeps_the_contract(protocol):
    check_benchmark(FinqaTableQuest(root="sample", protocol=protocol), images=4)


def test_reports_are_documents_of_their_form_without_ground_truth():
    assert [(document.name, document.pages) for document in BENCHMARK.documents()] == [
        ("10K/BRINDLEMERE_2023_10K", 1),
        ("10K/PENNISTOW_2023_10K", 1),
        ("10K/CALLOWRIDGE_2022_10K", 1),
        ("8K/PENNISTOW_2023_8K_dated-2023-11-14", 1),
    ]
    assert all(BENCHMARK.pages(document) == () for document in BENCHMARK.documents())


def test_a_question_has_its_page_and_only_easy_ones_have_facts():
    found = {question.id: question for question in BENCHMARK.questions()}
    assert found["easy-1"].facts == ("462.1",)
    assert {question.facts for name, question in found.items() if not name.startswith("easy")} == {()}
    assert found["hard-2"].own_pages == (("8K/PENNISTOW_2023_8K_dated-2023-11-14", 0),)
    assert BENCHMARK.origin(found["hard-2"]).endswith("hard.json: entry 2")


def test_pages_of_one_report_are_in_the_order_of_their_numbers(own):
    image = "tablequest/sampled_pages/easy/PENNISTOW_2023_10K_p7.png"
    made = own("easy", 1, image=image, page_number=7)
    report = next(one for one in made.documents() if one.name == "10K/PENNISTOW_2023_10K")
    assert report.pages == 2
    assert [question.pages for question in made.questions() if question.document == report.name] == [(0,), (1,)]


def test_a_page_of_two_levels_is_one_page(own):
    image = "tablequest/sampled_pages/medium/PENNISTOW_2023_10K_p97.png"  # its image is in the folder of easy pages
    made = own("medium", 0, image=image, page_number=97)
    report = next(one for one in made.documents() if one.name == "10K/PENNISTOW_2023_10K")
    assert report.pages == 1
    assert made.page_image(report, 0).shape == (1650, 1275, 3)


def test_an_image_that_is_not_there_is_named_when_it_is_needed(own):
    made = own("easy", 1, image="tablequest/sampled_pages/easy/PENNISTOW_2023_10K_p7.png", page_number=7)
    report = next(one for one in made.documents() if one.name == "10K/PENNISTOW_2023_10K")
    assert len(made.questions()) == 9
    assert made.fingerprint(report, images=True) != made.fingerprint(report, images=False)
    with pytest.raises(DataError, match=r"sampled_pages/easy/PENNISTOW_2023_10K_p7\.png: no such file"):
        made.page_image(report, 0)


def test_a_fault_is_refused_with_file_and_entry(own):
    with pytest.raises(DataError, match=r"medium\.json: entry 2: difficulty must be easy, medium, hard"):
        own("medium", 1, difficulty="Medium").check()
    with pytest.raises(DataError, match=r"easy\.json: cannot be read: No such file or directory"):
        FinqaTableQuest(root=SAMPLE / "absent").check()


def test_reference_merges_questions_of_equal_texts_and_says_what_it_does_not_repeat():
    reference = FinqaTableQuest(root="sample", protocol="reference")
    (same,) = reference.scoring.metric_fields["RR"]["merged"]
    assert same[0].startswith("What is the last figure")
    assert same[1] == (("10K/BRINDLEMERE_2023_10K", 0), ("10K/PENNISTOW_2023_10K", 0))
    assert BENCHMARK.scoring.metric_fields["RR"]["merged"] == ()
    assert "7 questions which in the published code read the pages that were found for another" in reference.notes()[-1]
    assert len(BENCHMARK.notes()) == 2


def test_prompts_have_the_pages_and_the_question():
    question = BENCHMARK.questions()[0]
    prompt = make_prompt(BENCHMARK, question, [Passage("{question}")])
    assert "## Pages:\n{question}\n\n## Question:\nWhat was the accumulated depreciation" in prompt.user
    shown = make_prompt(BENCHMARK, question, [Passage("{question}")], images=True)
    assert "{question}" not in shown.user


def test_data_without_a_licence_cannot_be_fetched(tmp_path):
    with pytest.raises(
        DataError, match=r"its repository has no licence; if you may use it, clone .* at commit c628ea7"
    ):
        FinqaTableQuest.fetch(tmp_path)


def test_counts_are_compared_with_the_published_ones():
    found = CliRunner().invoke(app, ["data", "verify", "sample", "--benchmark", "finqa_tablequest", "--json"])
    assert found.exit_code == 1
    tallies = [(one["what"], one["published"]) for one in json.loads(found.stdout)["tallies"]]
    assert tallies == [("questions: easy", 58), ("questions: medium", 53), ("questions: hard", 58), ("questions", 169)]


def test_a_file_of_answers_is_scored_by_rule():
    command = ["score", "answers", str(SAMPLE / "replies.jsonl"), "--benchmark", "finqa_tablequest"]
    found = CliRunner().invoke(app, [*command, "--set", "root=sample", "--json"])
    assert found.exit_code == 0
    levels = json.loads(found.stdout)["scores"]["table_accuracy"]["level"]
    assert {name: level["mean"] for name, level in levels.items()} == {
        "easy": pytest.approx(2 / 3),
        "medium": pytest.approx(2 / 3),
        "hard": None,
        "all": pytest.approx(2 / 3),
    }
