"""The benchmark class: its documents and questions, its protocols, and the inputs that it refuses."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from ohr.benchmarks.tablequest import TableQuest
from ohr.benchmarks.tablequest.answer_match import parse_answer
from ohr.benchmarks.tablequest.context_questions import question_file
from ohr.cli.app import app
from ohr.contracts import Passage
from ohr.errors import DataError
from ohr.files.printed import PrintedTables
from ohr.steps.answers.prompt_templates import make_prompt
from ohr.testing import check_benchmark
from samples import tablequest as build

SAMPLE = TableQuest(root="sample")
GOOD = {
    "id": "a",
    "company": "Brindlemere / Sons, Inc.",
    "year": 2023,
    "difficulty": "easy",
    "context": "<table><tr><td>Cash</td><td>57.9</td></tr></table>",
    "question": "How much?",
    "answer": "$57.9 million",
}


@pytest.fixture
def own(tmp_path):
    def make(*records, **fields):
        (tmp_path / "questions.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
        return TableQuest(root=tmp_path, **fields)

    return make


@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_the_sample_keeps_the_contract(protocol):
    check_benchmark(TableQuest(root="sample", protocol=protocol), images=3)


def test_contexts_are_documents_of_their_company():
    names = [document.name for document in SAMPLE.documents()]
    assert names == [
        "Brindlemere_Tool_Works_Inc/2023",
        "Callowridge_Water_Company/2022",
        "Pennistow_Foods_Corporation/2023",
    ]
    assert {question.document for question in SAMPLE.questions()} == set(names)


def test_a_question_has_its_level_its_figures_and_the_rows_that_hold_them():
    question = next(one for one in SAMPLE.questions() if one.id == "brindlemere_2023-m")
    assert (question.groups, question.facts) == ((("level", "medium"),), ("466.6", "416.5"))
    assert question.evidence == ("Inventories, net $ 416.5 $ 466.6",)
    assert question.evidence_source == "table"
    assert SAMPLE.origin(question).endswith("questions.jsonl:2")


def test_contexts_of_one_report_are_numbered_and_equal_ones_are_one(own):
    assert len(own(GOOD).questions()) == 1  # a file that changed is read again
    other = GOOD | {"context": "<p>No tables: 57.9.</p>"}
    unnamed = GOOD | {"id": "e", "company": "///"}
    made = own(GOOD, other | {"id": "b"}, GOOD | {"id": "c"}, GOOD | {"id": "d", "year": 2022}, unnamed)
    assert [question.document for question in made.questions()] == [
        "Brindlemere_Sons_Inc/2023",
        "Brindlemere_Sons_Inc/2023-2",
        "Brindlemere_Sons_Inc/2023",
        "Brindlemere_Sons_Inc/2022",
        "company/2023",
    ]
    check_benchmark(made, images=0)
    with pytest.raises(DataError, match=r"Brindlemere_Sons_Inc/2023: has no page image: name one in its questions"):
        made.page_image(made.documents()[0], 0)


def test_a_file_may_be_named_itself_and_a_folder_without_one_is_refused(own, tmp_path):
    own(GOOD)
    assert TableQuest(root=tmp_path / "questions.jsonl").questions() == TableQuest(root=tmp_path).questions()
    with pytest.raises(DataError, match=r"holds neither questions\.jsonl nor questions\.json; or name the file"):
        question_file(tmp_path / "absent")


@pytest.mark.parametrize("given", [5, " ", ["a.png"]])
def test_an_image_that_is_no_path_is_refused(own, given):
    with pytest.raises(DataError, match=r"questions\.jsonl:1: image must be the path of a page image"):
        own(GOOD | {"image": given}).check()


def test_other_contents_have_other_fingerprints(own, tmp_path):
    shutil.copytree(build.SAMPLE / "pages", tmp_path / "pages")
    image = {"image": "pages/brindlemere_2023.png"}
    made = own(GOOD | image)
    before = [made.fingerprint(made.documents()[0], images=images) for images in (False, True)]
    shutil.copy(tmp_path / "pages/pennistow_2023.png", tmp_path / "pages/brindlemere_2023.png")
    made = own(GOOD | image | {"context": "<p>57.9 and 1</p>"})
    after = [made.fingerprint(made.documents()[0], images=images) for images in (False, True)]
    assert not set(before) & set(after)


def test_what_looks_wrong_is_noted(own, tmp_path):
    shutil.copytree(build.SAMPLE / "pages", tmp_path / "pages")
    made = own(
        GOOD | {"image": "pages/brindlemere_2023.png"},
        GOOD | {"id": "b", "answer": "$", "year": 2022},
        GOOD | {"id": "c", "answer": "$58.0 million", "image": "pages/brindlemere_2023.png"},
        GOOD | {"id": "d", "answer": "Cash", "image": "pages/brindlemere_2023.png"},
    )
    assert made.notes() == (
        "1 question whose gold answer has no word, so that no rule can judge it: b",
        "1 easy question whose figure is not in its context, scored as it is: c",
        "1 context without a page image: Brindlemere_Sons_Inc/2022",
    )


def test_the_published_protocol_has_no_retrieval_and_the_papers_ratings():
    reference = TableQuest(root="sample", protocol="reference")
    assert (SAMPLE.scoring.index_scope, reference.scoring.index_scope) == ("corpus", "document")
    assert {one.name: f"{one.combine([0.5], [80]):.2f}" for one in reference.aggregates() if "elo" in one.name} == {
        "elo": "892.46",
        "elo easy": "901.93",
        "elo medium": "965.14",
        "elo hard": "797.37",
    }
    assert {one.combine([0.5], [80]) for one in SAMPLE.aggregates() if "elo" in one.name} == {1000.0}


def test_ratings_on_the_papers_scale_are_those_of_its_tables():
    rows = PrintedTables("ohr.benchmarks.tablequest").rows
    rated = {one.name: one.combine for one in TableQuest(root="sample", protocol="reference").aggregates()}
    printed = {row["system"]: row for row in rows("elo.csv")}
    for row in rows("implied-points.csv"):
        for level in ("easy", "medium", "hard"):
            if row[level] and row["system"] != "gpt-4o":
                found = rated[f"elo {level}"]([float(row[level]) / 80], [80])
                assert found == pytest.approx(float(printed[row["system"]][level]), abs=0.006)


def test_data_that_were_not_released_cannot_be_fetched(tmp_path):
    with pytest.raises(DataError, match=r"no public release of its data was found; put questions of your own"):
        TableQuest.fetch(tmp_path)


def test_counts_are_compared_with_the_papers():
    found = CliRunner().invoke(app, ["data", "verify", "sample", "--benchmark", "tablequest", "--json"])
    assert found.exit_code == 1
    assert json.loads(found.stdout)["tallies"][-1] == {"what": "questions", "found": 9, "published": 240}


@pytest.mark.parametrize(
    ("model", "accuracy", "decided"),
    [("baseline", 5 / 6, 1), ("north", 1, 1), ("delta", 1 / 6, 1 / 2), ("plain", 1 / 2, 1)],
)
def test_a_file_of_answers_is_scored_and_placed(model, accuracy, decided):
    command = ["score", "answers", str(build.SAMPLE / "replies" / f"{model}.jsonl"), "--benchmark", "tablequest"]
    found = CliRunner().invoke(app, [*command, "--set", "root=sample", "--json"])
    assert found.exit_code == 0
    report = json.loads(found.stdout)
    assert report["scores"]["table_decided"]["level"]["all"]["mean"] == pytest.approx(decided)
    assert report["scores"]["table_accuracy"]["level"]["hard"]["n"] == 0
    (board,) = report["leaderboards"]
    assert board["groups"] == ["accuracy", "table_accuracy easy", "table_accuracy medium"]
    (mine,) = [row for row in board["rows"] if row["own"]]
    assert mine["scores"]["accuracy"] == pytest.approx(accuracy)


def test_an_image_of_a_long_name_is_absent_and_cut_in_messages(own):
    bench = own(GOOD | {"image": "a" * 100_000})
    (document,) = bench.documents()
    assert bench.fingerprint(document, images=True) != bench.fingerprint(document, images=False)
    with pytest.raises(DataError, match="no such file") as caught:
        bench.page_image(document, 0)
    assert len(str(caught.value)) < 400
    two = own(GOOD | {"image": "a" * 100_000}, GOOD | {"id": "b", "image": "b" * 100_000})
    with pytest.raises(DataError, match=r"questions\.jsonl:2: image is 'b.* in .*:1, of one context") as caught:
        two.check()
    assert len(str(caught.value)) < 700


# --- prompts ----------------------------------------------------------------------------------------------


def asked(*texts, images=False):
    question = SAMPLE.questions()[0]
    return make_prompt(SAMPLE, question, [Passage(text) for text in texts], images=images)


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
