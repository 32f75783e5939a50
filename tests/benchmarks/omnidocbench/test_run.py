"""Whole runs on the sample: readings of two systems, by version, beside the loss of retrieval; ranks."""

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ohr.benchmarks.omnidocbench import SAMPLE
from ohr.cli.app import app
from ohr.report.html.report_file import write_report
from ohr.report.views.protocol import pages, views
from ohr.results.run import Run

from ..whole_runs import aggregates, finished, scored, values

pytestmark = pytest.mark.usefixtures("one_process")
CAREFUL, HASTY = SAMPLE / "results/careful", SAMPLE / "results/hasty"


def test_a_reading_is_scored_by_version_and_searched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, report = scored("ocr", CAREFUL, "omnidocbench", "--set", "versions=[1.0, 1.5]")
    assert (status, report["truth"], report["metric"]) == (0, "gt", "lcs_content")
    (_, base) = json.loads((Path(report["run"]) / "manifest.json").read_text("utf-8"))["spec"]["knowledge_bases"]
    assert base["ocr"]["root"] == str(CAREFUL.resolve())  # of its copy nothing is left
    numbers = aggregates(Path(report["run"]), condition="careful", stage="page")
    assert {name.split("@")[1] for name in numbers} == {"1.0", "1.5"}
    assert numbers["teds@1.5"] == numbers["teds@1.0"] == 1
    assert 0 < numbers["text_edit@1.5"] < 0.01  # one digit of four pages
    assert numbers["overall_without_cdm@1.5"] == pytest.approx(1 - numbers["text_edit@1.5"] / 2)
    found = report["pages"]["careful"]["teds@1.5"], report["aggregates"]["careful"]["text_edit@1.5"]
    assert found[0] == {"mean": 1, "low": None, "high": None, "n": 2, "documents": 2}  # the truth has two tables
    assert (found[1]["value"], found[1]["n"]) == (numbers["text_edit@1.5"], 4)
    view = next(view for view in pages(Run(report["run"])) if view.title == "Pages, version 1.5")
    assert {row[-1] for row in view.long} == {"4, 1, 2, 4, 2, 2"}
    clean = aggregates(Path(report["run"]), condition="gt", stage="page")
    assert (clean["text_edit@1.5"], clean["order_edit@1.5"], clean["teds_s@1.5"]) == (0, 0, 1)


def test_a_page_without_a_result_is_read_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CAREFUL, tmp_path / "partial")
    (tmp_path / "partial/harbor_dues_3.md").rename(tmp_path / "partial/harbour_dues_3.md")
    status, report = scored("ocr", tmp_path / "partial", "omnidocbench")
    assert status == 1
    assert report["warnings"][-1] == "1 file of no document of the benchmark: harbour_dues_3.md"
    status, again = scored("ocr", tmp_path / "partial", "omnidocbench")
    assert (status, again["failures"], again["run"]) == (1, report["failures"], report["run"])
    (tmp_path / "partial/book").mkdir()
    (tmp_path / "partial/book/pilot_rules_5.json").write_text("[]")
    (tmp_path / "partial/pilot_rules_55.TXT").write_text("Nobody's.")
    assert scored("ocr", tmp_path / "partial", "omnidocbench")[1]["warnings"][-2:] == [
        "2 files of no document of the benchmark: harbour_dues_3.md, pilot_rules_55.TXT",
        "1 JSON file beside those of the benchmark's layout, not read",
    ]
    command = ["score", "ranks", str(CAREFUL), "partial", "--benchmark", "omnidocbench", "--set", "root=sample"]
    for _ in range(2):
        done = CliRunner().invoke(app, [*command, "--json"])
        assert (done.exit_code, len(json.loads(done.stdout)["failures"])) == (1, 1)
    kept = values(Path(report["run"]), condition="partial", stage="page", metric="text@1.5")
    assert kept["financial_report/harbor_dues_3"] == 0 < kept["book/pilot_rules_5"]
    tables = values(Path(report["run"]), condition="partial", stage="page", metric="teds@1.5")
    assert [tables[name] for name in ("financial_report/harbor_dues_3-table-0", "book/pilot_rules_5-table-0")] == [0, 1]


def test_ranks_change_with_the_conversion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CAREFUL, tmp_path / "html")
    table = tmp_path / "html/pilot_rules_5.md"
    table.write_text(
        table.read_text("utf-8").replace("<tr><td>up to 60 m</td>", "<tr><td>up to</td>"), encoding="utf-8"
    )
    words = ["score", "ranks", f"pipes={HASTY}", "html", "--benchmark", "omnidocbench", "--set", "root=sample"]
    done = CliRunner().invoke(app, [*words, "--set", "conversions=[html]", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    ranks = {(each["number"], each["version"]): each["ranks"] for each in found["ranked"]}
    assert ranks["text_edit", "1.5"] == {"html": 1, "pipes": 2}
    assert ranks["teds", "1.5-html"] == {"html": 1, "pipes": 2}
    assert ranks["teds", "1.5"] == {"html": 2, "pipes": 1}
    (html,) = [each for each in found["survival"] if each["versions"] == ["1.5", "1.5-html"]]
    assert (html["tau"], html["swapped"]) == (-1, [["pipes", "html"]])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([str(HASTY)], "name two folders or more, each with its own name (got hasty)"),
        ([str(HASTY), f"hasty={CAREFUL}"], "each with its own name (got hasty, hasty)"),
        ([str(HASTY), "absent"], "absent"),
        ([str(HASTY), "q=w=gone"], "'q=w=gone': no such folder; it is read as 'w=gone' with the name 'q'"),
        ([str(HASTY), f"c={CAREFUL}", "--set", "conversions=[raw, raw]"], "conversions: 'raw' is listed twice"),
        ([str(HASTY), f"c={CAREFUL}", "--set", "versions=[1.5, '1.5']"], "versions: '1.5' is listed twice"),
    ],
)
def test_ranks_of_fewer_than_two_systems_are_refused(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["score", "ranks", *words, "--benchmark", "omnidocbench", "--set", "root=sample"])
    assert (done.exit_code, message in done.stderr) == (2, True), done.output


def test_results_without_questions_are_scored_by_page_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, report = scored("ocr", CAREFUL, "omnidocbench", "--set", "queries=false")
    assert (status, report["truth"]) == (0, "")
    assert aggregates(Path(report["run"]), stage="page")["teds@1.5"] == 1


def test_a_text_that_is_no_page_is_not_scored_and_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CAREFUL, tmp_path / "long")
    (tmp_path / "long/harbor_dues_3.md").write_text("|a|b|\n" * 20_000, encoding="utf-8")
    status, report = scored("ocr", tmp_path / "long", "omnidocbench")
    assert status == 1 and all("120,000 characters" in str(failure) for failure in report["failures"])
    text = values(Path(report["run"]), stage="page", metric="text@1.5")
    formulas = values(Path(report["run"]), stage="page", metric="formula@1.5")
    whole = scored("ocr", CAREFUL, "omnidocbench")[1]
    assert text["financial_report/harbor_dues_3"] == 0  # the page alone, none of its queries
    assert set(text) == set(values(Path(whole["run"]), stage="page", metric="text@1.5"))
    assert set(formulas) == set(values(Path(whole["run"]), stage="page", metric="formula@1.5"))


def test_the_report_of_pages_alone_has_their_scores_first_and_nothing_empty(tmp_path):
    bases = "knowledge_bases:\n- name: ground_truth\n- {name: marked, text_noise: {kind: formatting, rate: 0.7}}\n"
    spec = "name: pages\nbenchmark: {kind: omnidocbench, root: sample, queries: false}\nevaluate: [page]\n"
    (tmp_path / "spec.yaml").write_text(spec + bases)
    run = Run(finished(tmp_path / "spec.yaml", tmp_path))
    (path,) = write_report([run], tmp_path / "report.html")
    sections = re.findall(r'<section id="r0-(\w+)"', path.read_text("utf-8"))
    assert sections[:2] == ["protocol", "cost"] and {"curves", "questions"}.isdisjoint(sections)
    first, *others = [view.title for view in views(run)]
    assert first == "Pages, version 1.5" and "Pages, version 1.5, by group" in others  # the first one is open
