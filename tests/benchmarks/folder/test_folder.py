"""Runs on a user's own documents, with everything and with as little as there may be."""

import json
from math import isnan

import pytest

from ohr.engine.executors.inline import Inline
from ohr.errors import DataError, OhrError
from ohr.report.figures.drawing import draw
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from ohr.runner.run import run
from ohr.spec.read import read_spec

from .conftest import write_image, write_scan

SPEC = """\
name: own
replicates: 1
benchmark: {kind: folder, root: docs, questions: q.json%s}
knowledge_bases:
%s
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 1}]
generators: [{kind: extractive}]
"""
TRUE, READ = "  - name: truth\n", "  - {name: mine, ocr: {kind: precomputed, root: ocr}}\n"


@pytest.fixture
def carry_out(two):
    """Run a spec over the two PDFs."""

    def go(keys="", bases=TRUE):
        path = two.home / "own.yaml"
        path.write_text(SPEC % (keys, bases))
        return run(read_spec(path), store=two.home / ".ohr", runs=two.home / "runs", executor=Inline())

    return go


@pytest.fixture
def recorded(two):
    """OCR results with a mistake, in `ocr`."""
    for name, texts in {
        "documents/lease": ["The leaze began in 1964.", "It ends in"],
        "bylaws/noise": ["Horns."],
    }.items():
        path = two.home / "ocr" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([{"page_idx": i, "text": text} for i, text in enumerate(texts)]))
    return two


def mean(finished, stage, metric, noise, column="mean"):
    (cell,) = [
        row[column]
        for row in read_rows(finished.folder / "summary.parquet", stage=stage, metric=metric, noise=noise, group="all")
    ]
    return cell


def test_the_text_layer_is_a_ground_truth(carry_out, recorded):
    finished = carry_out(", ground_truth: text_layer", TRUE + READ)
    assert mean(finished, "retrieval", "lcs", "truth") == 1
    assert mean(finished, "retrieval", "lcs", "mine") < 1
    truth, mine = read_rows(finished.folder / "doses.parquet")
    assert (truth["r_noise"], truth["evidence_loss"]) == (0, 0)
    assert mine["r_noise"] == 1
    assert 0 < mine["evidence_loss"] < 1
    assert mine["questions"] == 3


@pytest.mark.parametrize("inside", ["documents/lease", "lease"])
def test_a_folder_is_a_ground_truth(carry_out, recorded, inside):
    for name, text in {inside: "The lease began in 1964.", "bylaws/noise": "Horns may sound at noon."}.items():
        path = recorded.home / "gt" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([{"page_idx": 0, "text": text}]))
    finished = carry_out(", ground_truth: gt", READ)
    (mine,) = read_rows(finished.folder / "doses.parquet")
    assert (mine["questions"], mine["excluded"]) == (2, 1)  # nobody checked the lease's second page


def test_without_ground_truth_the_evidence_gives_the_dose(carry_out, recorded):
    finished = carry_out("", READ)
    (mine,) = read_rows(finished.folder / "doses.parquet")
    assert mine["r_noise"] == 1
    assert all(isnan(mine[name]) for name in ("evidence_loss", "edit_distance", "r_noise_clean"))
    assert 0 < mean(finished, "retrieval", "lcs", "mine") < 1
    assert {path.name for path in draw(Run(finished.folder))} == {"comparison.svg", "comparison.png"}


def test_without_evidence_only_answers_are_scored_and_the_conditions_are_drawn(carry_out, recorded):
    recorded.ask(
        {"question": "When did the lease begin?", "answers": "1964"},
        {"question": "When may horns sound?", "answers": "noon"},
        {"question": "Who drew the map?"},
    )
    finished = carry_out("", READ)
    rows = read_rows(finished.folder / "scores.parquet")
    for row in rows:
        scored = row["stage"] == "overall" or (row["stage"] == "reference" and row["kb"] != "evidence_only")
        assert isnan(row["value"]) != (scored and row["question_id"] != "q3"), row
    assert mean(finished, "overall", "f1", "mine", "n") == 2
    assert len([row for row in read_rows(finished.folder / "answers.parquet") if row["stage"] == "overall"]) == 3
    assert {path.name for path in draw(Run(finished.folder))} == {"comparison.svg", "comparison.png"}
    assert not [note for note in Run(finished.folder).manifest["warnings"] if "absent" in note]


def test_a_knowledge_base_of_ground_truth_that_is_not_there_is_refused(carry_out):
    with pytest.raises(OhrError, match="'truth': the benchmark has no ground truth to take its text from"):
        carry_out()


def test_a_scan_has_no_text_layer_which_is_reported(two):
    write_scan(two.root / "scan.pdf", 2)
    benchmark = two.benchmark(ground_truth="text_layer")
    (scan,) = [document for document in benchmark.documents() if document.name == "documents/scan"]
    assert benchmark.pages(scan) == []
    assert "1 document without ground truth: documents/scan" in benchmark.notes()


def test_a_ground_truth_folder_that_is_not_there_is_reported(two):
    with pytest.raises(DataError, match="ground_truth: no such folder"):
        two.benchmark(ground_truth=two.home / "nothing").check()


def test_another_piece_of_evidence_is_another_run(carry_out, recorded):
    first = carry_out("", READ)
    assert carry_out("", READ).folder == first.folder
    record = {"question": "When did the lease begin?", "answers": "1964", "document": "lease", "page": 1}
    recorded.ask({**record, "evidence": "began in 1964"})
    changed = carry_out("", READ)
    recorded.ask({**record, "evidence": "The leaze began"})
    assert carry_out("", READ).folder not in (first.folder, changed.folder)


def test_page_images_are_read_by_an_engine(own):
    write_image(own.root / "letters/a/1.png", "The lease began in 1964.")
    write_image(own.root / "letters/b/1.png", "Horns may sound at noon.")
    (own.root / "letters/b/2.png").write_bytes(b"")
    own.ask(
        {"question": "When did the lease begin?", "answers": "1964", "document": "a", "page": 1,
         "evidence": "The lease began in 1964."},
        {"question": "What does the second page say?", "answers": "x", "document": "b", "page": 2, "evidence": "x"},
    )  # fmt: skip
    (own.home / "own.yaml").write_text(SPEC % ("", "  - {name: read, ocr: {kind: tesseract}}\n"))
    finished = run(read_spec(own.home / "own.yaml"), store=own.home / ".ohr", runs=own.home / "runs", executor=Inline())
    scores = {
        row["question_id"]: (row["value"], row["status"])
        for row in read_rows(finished.folder / "scores.parquet")
        if (row["stage"], row["metric"]) == ("retrieval", "lcs")
    }
    assert scores == {"q1": (1.0, "ok"), "q2": (0.0, "failed")}
    (failure,) = finished.ledger.failures
    assert "the file is empty" in failure.reason


def test_own_ocr_results_are_scored_by_the_command_line(recorded, monkeypatch, one_process):
    from typer.testing import CliRunner

    from ohr.cli.app import app

    monkeypatch.chdir(recorded.home)
    words = ["score", "ocr", "ocr", "--benchmark", "folder", "--root", "docs", "--set", "questions=q.json"]
    without = CliRunner().invoke(app, words)
    assert (without.exit_code, "no ground truth" in without.stderr) == (2, True)
    done = CliRunner().invoke(app, [*words, "--set", "ground_truth=text_layer", "--json"])
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["doses"]["ocr"]["r_noise"] == 1
    assert found["doses"]["gt"]["edit_distance"] == 0


def checked(home, *words):
    from typer.testing import CliRunner

    from ohr.cli.app import app

    path = home / "own.yaml"
    path.write_text(SPEC % (", ground_truth: text_layer", TRUE))
    return CliRunner().invoke(app, ["check", str(path), *words], catch_exceptions=False)


def test_evidence_that_is_not_on_its_page_is_reported_with_its_line_and_the_best_match(two):
    common = {"answers": "x", "document": "lease", "page": 1}
    two.ask(
        {"question": "When?", "evidence": "The lease began in 1965.", **common},
        {"question": "End?", "evidence": "It ends in 2034.", **common},
        {"question": "Quoted?", "evidence": "The “lease” began in 1964.", **common},
    )
    result = checked(two.home)
    assert result.exit_code == 0
    assert "2 questions whose evidence is not on its page word for word" in result.stdout
    first, second = result.stdout.split("evidence that is not on its page:\n")[1].splitlines()
    assert first.strip() == (
        f"{two.home / 'q.json'}: question 0: q1: evidence is not on page 1 of documents/lease (best match 75%: "
        "'The lease began in 1964.')"
    )
    assert second.strip().endswith("; it is on page 2")
    found = json.loads(checked(two.home, "--json").stdout)
    assert len(found["misplaced_evidence"]) == 2


def test_a_run_warns_of_evidence_that_is_not_on_its_page(carry_out, recorded):
    recorded.ask({"question": "When?", "answers": "x", "document": "lease", "page": 1, "evidence": "Not there at all"})
    finished = carry_out(", ground_truth: text_layer", TRUE + READ)
    warnings = Run(finished.folder).manifest["warnings"]
    assert [w for w in warnings if w.startswith("1 question whose evidence is not on its page")]


def test_a_question_about_a_scan_is_in_no_comparison(carry_out, recorded):
    write_scan(recorded.root / "scan.pdf", 1)
    path = recorded.home / "ocr/documents/scan.json"
    path.write_text(json.dumps([{"page_idx": 0, "text": "A photo of a permit."}]))
    common = {"answers": "1964", "page": 1}
    recorded.ask(
        {"question": "When did the lease begin?", "document": "lease", "evidence": "The lease began", **common},
        {"question": "What is on the permit?", "document": "scan", "evidence": "A photo of a permit.", **common},
    )
    finished = carry_out(", ground_truth: text_layer", TRUE + READ)
    (row,) = read_rows(finished.folder / "summary.parquet", stage="retrieval", metric="lcs", noise="mine", group="all")
    assert (row["n"], row["pairs"]) == (1, 1)
    assert (
        "1 question left out of every mean and comparison: the pages have no clean text"
        in Run(finished.folder).manifest["warnings"]
    )
