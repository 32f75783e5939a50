"""The analyses of one real run, each against its rows counted again, and the confused words."""

import json
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from statistics import mean

import pyarrow
import pyarrow.parquet
import pytest

from ohr.engine.executors.inline import Inline
from ohr.metrics.edit import edit_distance
from ohr.report.analyses import ANALYSES, confusions, report_data
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from ohr.results.tables.schema import schema
from ohr.runner.run import run
from ohr.spec.read import read_spec

SPEC = """\
name: small
replicates: 2
benchmark: {kind: mini, domains: [law, finance, manual], languages: [en], max_pages: 1}
knowledge_bases:
  - name: ground_truth
  - name: formatting
    text_noise: {kind: formatting, rate: 0.6}
  - name: mine
    ocr: {kind: precomputed, root: ocr}
chunker: {kind: page}
retrievers: [{kind: bm25}]
generators: [{kind: extractive}]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from ohr.benchmarks.mini import Mini

    home = tmp_path_factory.mktemp("analyses")
    (home / "small.yaml").write_text(SPEC)
    mini = Mini(domains=["law", "finance", "manual"], languages=["en"], max_pages=1)
    for document in mini.documents():
        path = home / "ocr" / f"{document.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [page.text.replace("e", "c") for page in mini.pages(document)]
        path.write_text(json.dumps([{"page_idx": index, "text": text} for index, text in enumerate(texts)]))
    return run(read_spec(home / "small.yaml"), store=home / ".ohr", runs=home / "runs", executor=Inline()).folder


def rows(folder, **wanted):
    return read_rows(folder / "scores.parquet", **wanted)


def by_noise(folder, name):
    return {row["noise"]: row for row in ANALYSES[name](Run(folder))}


def test_r_noise_is_the_mean_of_the_damaged(folder):
    found = by_noise(folder, "r_noise")
    values = [r["value"] for r in rows(folder, noise="mine", metric="damaged") if not isnan(r["value"])]
    assert found["mine"]["r_noise"] == pytest.approx(mean(values))
    assert found["mine"]["n"] == len(values)
    tables = rows(folder, noise="formatting", metric="damaged", evidence_source="table")
    assert found["formatting"]["table"] == pytest.approx(mean(r["value"] for r in tables if not isnan(r["value"])))
    assert found["ground_truth"]["r_noise"] < found["formatting"]["r_noise"]


def test_formatting_lcs_restores_the_cost_of_commands(folder):
    found = by_noise(folder, "formatting_lcs")
    assert found["formatting"]["lcs"] < found["formatting"]["without_formatting"]
    loss = found["ground_truth"]["without_formatting"] - found["formatting"]["without_formatting"]
    assert loss < found["ground_truth"]["lcs"] - found["formatting"]["lcs"]
    assert found["mine"]["without_formatting"] < 0.9  # wrong letters are no formatting


def test_table_formats_are_the_table_questions_alone(folder):
    found = [row for row in ANALYSES["table_formats"](Run(folder)) if row["noise"] == "mine"]
    assert {row["stage"] for row in found} == {"retrieval", "generation", "overall"}
    (found,) = [row for row in found if row["stage"] == "retrieval"]
    asked = rows(folder, noise="mine", stage="retrieval", metric="lcs", evidence_source="table")
    assert found["mean"] == pytest.approx(mean(row["value"] for row in asked))
    assert found["n"] == len(asked) > 0


FORMATS = """\
name: formats
benchmark: {kind: mini, domains: [finance, administration], languages: [en]}
questions: {evidence_source: [table]}
knowledge_bases:
  - {name: latex, text_noise: {kind: table_format, to: latex}}
  - {name: markdown, text_noise: {kind: table_format, to: markdown}}
  - {name: html, text_noise: {kind: table_format, to: html}}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 50}]
evaluate: [retrieval]
replicates: 1
"""


def test_notations_of_one_table_differ_in_the_published_score_but_not_in_their_words(tmp_path):
    (tmp_path / "formats.yaml").write_text(FORMATS)
    finished = run(
        read_spec(tmp_path / "formats.yaml"), store=tmp_path / ".ohr", runs=tmp_path / "runs", executor=Inline()
    )
    formats, words = (by_noise(finished.folder, name) for name in ("table_formats", "formatting_lcs"))
    assert list(formats) == ["latex", "markdown", "html"]
    # in the published score tags are glued to the words of their cells; Markdown's bars vanish
    assert formats["html"]["mean"] + 0.2 < formats["markdown"]["mean"] <= formats["latex"]["mean"]
    assert [words[name]["without_formatting"] for name in formats] == [1, 1, 1]


def test_error_classes_are_shares_of_all_questions(folder):
    found = [row for row in ANALYSES["error_classes"](Run(folder)) if row["stage"] == "overall"]
    classes = [name for name in found[0] if name.startswith("ocr_") and not name.endswith(("_low", "_high"))]
    assert len(classes) == 4
    questions = len(read_rows(folder / "questions.parquet", ["question_id"]))
    assert {row["n"] + row["excluded"] for row in found} == {questions}
    for row in found:
        assert sum(row[name] for name in classes) == pytest.approx(1)
    mine = next(row for row in found if row["noise"] == "mine")
    answers = rows(folder, noise="mine", stage="overall", metric="f1")
    right = mean(row["value"] >= 0.5 for row in answers if not isnan(row["value"]))
    assert mine["ocr_right_answer_right"] + mine["ocr_wrong_answer_right"] == pytest.approx(right)
    damage = {row["question_id"]: row["value"] for row in rows(folder, noise="mine", metric="damaged")}
    assert mine["ocr_wrong_answer_wrong"] == pytest.approx(
        mean(damage[row["question_id"]] == 1 and row["value"] < 0.5 for row in answers)
    )


def test_edit_distances_are_those_of_the_pages(folder):
    found = {row["kb"]: row for row in ANALYSES["edit_distances"](Run(folder))}
    truth, mine = (
        {(row["document"], row["page"]): row["text"] for row in read_rows(folder / "texts.parquet", kb=kb)}
        for kb in ("ground_truth", "mine")
    )
    distances = [edit_distance(text, truth[place]) for place, text in mine.items()]
    assert found["mine"]["mean"] == pytest.approx(mean(distances))
    assert sum(found["mine"]["histogram"]) == pytest.approx(1)
    assert found["ground_truth"]["q95"] == 0


def test_noise_ratios_separate_semantic_from_formatting_noise(folder):
    found = by_noise(folder, "noise_ratios")
    assert found["ground_truth"]["text_errors"] == found["ground_truth"]["redundant_commands"] == 0
    assert found["mine"]["text_errors"] > 0.9
    assert found["formatting"]["redundant_commands"] > found["mine"]["redundant_commands"]
    assert found["formatting"]["text_errors"] < found["mine"]["text_errors"]


def test_a_report_holds_every_analysis_as_json(folder):
    data = report_data(Run(folder))
    assert list(data) == list(ANALYSES)
    # no noise has several levels, no question has facts, no judge was asked, no engine says how sure it is
    stated = {"confidence", "reliability", "thresholds", "limits"}
    without_rows = {"robustness", "survival", "agreement", "hygiene", "repeatability", *stated}
    assert {name for name, rows in data.items() if not rows} == without_rows
    json.dumps(data)


def test_the_command_shows_one_or_all(folder):
    from typer.testing import CliRunner

    from ohr.cli.app import app

    shown = CliRunner().invoke(app, ["show", str(folder), "--analysis", "r_noise"])
    assert shown.stdout.startswith("r_noise:\nnoise         level  r_noise")
    given = CliRunner().invoke(app, ["show", str(folder), "--analysis", "every", "--json"])
    assert list(json.loads(given.stdout)) == list(ANALYSES)
    wrong = CliRunner().invoke(app, ["show", str(folder), "--analysis", "r_nose"])
    assert (wrong.exit_code, "Did you mean 'r_noise'?" in wrong.stderr) == (2, True)


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study whose spec names its data by relative paths; the working folder is beside it."""
    base = tmp_path / "study/data/retrieval_base/gt/law"
    base.mkdir(parents=True)
    (base / "lease.json").write_text(json.dumps([{"page_idx": 0, "text": "The lease began in 1964."}]))
    asked = {"ID": "q", "doc_name": "law/lease", "questions": "When did the lease begin?", "answers": "1964"}
    asked |= {"evidence_source": "text", "evidence_page_no": 0, "evidence_context": "The lease began in 1964."}
    (tmp_path / "study/data/qas.json").write_text(json.dumps([asked]))
    (tmp_path / "study/spec.yaml").write_text(
        "benchmark: {kind: ohrbench, root: data}\nretrievers: [{kind: bm25}]\nevaluate: [retrieval]\n"
        "knowledge_bases: [{name: gt, ocr: {kind: precomputed, root: data/retrieval_base/gt}}]\n"
    )
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "study"


def carried_out(study):
    return run(read_spec(study / "spec.yaml"), store=study / "store", runs=study / "runs", executor=Inline())


def test_a_study_that_was_moved_is_analysed_from_anywhere(study, monkeypatch):
    found = carried_out(Path("../study")).folder.resolve()
    moved = study.rename(study.parent / "moved")
    monkeypatch.chdir("/")
    folder = moved / found.relative_to(study)
    spec = json.loads((folder / "manifest.json").read_text())["spec"]
    assert (spec["benchmark"]["root"], spec["knowledge_bases"][0]["ocr"]["root"]) == (
        "../../../data",
        "../../../data/retrieval_base/gt",
    )
    (row,) = ANALYSES["formatting_lcs"](Run(folder))
    assert (row["lcs"], row["n"]) == (1, 1)


def test_an_absolute_path_stays_in_the_manifest_as_it_was_given(study):
    text = (study / "spec.yaml").read_text()
    (study / "spec.yaml").write_text(text.replace("root: data}", f"root: {study / 'data'}}}"))
    spec = json.loads((carried_out(Path("../study")).folder / "manifest.json").read_text())["spec"]
    assert spec["benchmark"]["root"] == str(study / "data")


def test_a_run_is_the_same_from_wherever_it_is_started(study, monkeypatch):
    first = carried_out(Path("../study"))
    monkeypatch.chdir(study)
    again = carried_out(Path())
    assert again.folder.resolve() == first.folder.resolve()
    (study / "data/retrieval_base/gt/law/lease.json").write_text(json.dumps([{"page_idx": 0, "text": "It began."}]))
    assert carried_out(Path()).folder.name != again.folder.name


@pytest.fixture
def confused(tmp_path):
    """Write the texts of a clean and an OCR condition, page by page."""

    def made(clean: str, read: str):
        tables: Mapping[str, list[dict[str, object]]] = {"texts": [], "pages": []}
        for condition, kind, text in (("clean", "none", clean), ("ocr", "semantic", read)):
            about = {"kb": condition, "condition": condition, "replicate": 0, "document": "law/lease", "page": 0}
            tables["texts"].append({**about, "text": text})
            tables["pages"].append({**about, "noise_type": kind})
        for name, rows in tables.items():
            pyarrow.parquet.write_table(
                pyarrow.Table.from_pylist(rows, schema=schema(name)), tmp_path / f"{name}.parquet"
            )
        return [(row["truth"], row["read"]) for row in confusions(Run(tmp_path))]

    return made


def test_a_word_that_a_line_cuts_is_no_confusion(confused):
    clean = "The repair will cost six million and is due in February"
    assert confused(clean, "The repair will cost six mil-\nlion and is due in Febru-\nary") == []


def test_marks_that_an_engine_leaves_out_are_no_confusion_and_vowel_signs_are(confused):
    assert confused("«दिल्ली» in February", "दिल्ली। in February") == []
    assert confused("किताबे here", "किताबों here") == [("किताबे", "किताबों")]


def test_a_word_that_was_misread_is_one(confused):
    assert confused("due in February of each year", "due in Fcbruary of each year") == [("february", "fcbruary")]


def test_words_that_are_joined_where_a_list_ends_are_no_confusion():
    from ohr.report.analyses import _confused

    truth = ["sales", "fy15", "2nd", "half", "rose"]
    assert list(_confused(truth, ["sales", "fy152nd", "half", "rose", "2nd"])) == []
    assert [pair for pair, _ in _confused(truth, ["sales", "fyl5", "2nd", "half", "rose"])] == [("fy15", "fyl5")]
