import json
import shutil
from pathlib import Path
from statistics import fmean

import pytest
from typer.testing import CliRunner

from ohr.cli.app import app
from ohr.results.tables.read_table import read_rows
from ohr.results.tables.row_lookup import Lookup
from speed.made_up_run import large

SPEC = """\
name: study
limit: 6
benchmark: {kind: mini, languages: [en], max_pages: 1, domains: [law, textbook]}
knowledge_bases:
  - name: ground_truth
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


QUICK = ("--executor", "inline", "--no-figures", "--no-report")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder in which `study.yaml` was run once; tests leave it as it is."""
    home = tmp_path_factory.mktemp("study")
    (home / "study.yaml").write_text(SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert CliRunner().invoke(app, ["run", "study.yaml", *QUICK]).exit_code == 0
    return home


@pytest.fixture
def ran(done, monkeypatch):
    """The run's folder; the working folder is where it was started."""
    monkeypatch.chdir(done)
    return max((done / "runs" / "study").glob("*-*"))


@pytest.fixture
def copied(ran, tmp_path, monkeypatch):
    """A copy of the run, to be damaged."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(ran, tmp_path / "runs" / "study" / ran.name))


def ohr(*words):
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)


def test_each_cut_is_the_mean_of_its_rows(ran):
    rows = read_rows(ran / "scores.parquet", stage="retrieval", metric="lcs")
    held = {
        (line["by"], line["group"]): line
        for line in read_rows(ran / "summary.parquet", stage="retrieval", metric="lcs")
    }
    domains = {domain: [row["value"] for row in rows if row["domain"] == domain] for domain in ("law", "textbook")}
    for domain, values in domains.items():
        assert held["domain", domain]["mean"] == pytest.approx(fmean(values))
        assert held["domain", domain]["n"] == len(values)
    whole = held["evidence_source", "all"]
    assert whole["mean"] == pytest.approx(fmean(row["value"] for row in rows))
    assert whole["macro_mean"] == pytest.approx(fmean(map(fmean, domains.values())))
    assert whole["domains"] == 2
    forms = {row["answer_form"] for row in rows}
    assert {group for by, group in held if by == "answer_form"} == (forms if len(forms) > 1 else set())


def test_a_run_is_shown_by_domain(ran):
    done = ohr("show", "study", "--by", "domain").stdout.splitlines()
    assert done[0] == "scored by the protocol clean"
    headers = "noise level pipeline metric n failed questions micro macro law textbook"
    assert " ".join(done[2].split()) == headers
    assert done[3].split()[0] == "ground_truth"
    assert "retrieval; all questions have the same pages\n" in ohr("show", "study", "--by", "pages").stdout


def test_the_json_has_the_rows(ran):
    rows = json.loads(ohr("show", str(ran), "--by", "domain", "--metric", "mrr", "--json").stdout)
    assert [row["group"] for row in rows] == ["all", "law", "textbook"]


def test_a_question_of_a_run_without_answers_shows_what_was_found(ran):
    hits = read_rows(ran / "hits.parquet")
    name = hits[0]["question_id"]
    lines = ohr("show", ran, "--question", name).stdout.splitlines()
    assert any(line.startswith("retrieval on ground_truth, tokens/bm25; lcs ") for line in lines)
    (asked,) = read_rows(ran / "questions.parquet", question_id=name)
    own = [hit for hit in hits if hit["question_id"] == name and hit["document"] == asked["document"]]
    place = f"  {own[0]['rank']}. {own[0]['document']} page {own[0]['page'] + 1}"
    assert any(line.startswith(f"{place}, evidence: ") for line in lines)
    found = json.loads(ohr("show", ran, "--question", name, "--json").stdout)["rankings"]
    assert [hit["rank"] for hit in found[0]["hits"]] == list(range(1, len(found[0]["hits"]) + 1))


def test_of_the_questions_that_lost_most_alone_texts_and_hits_are_read(tmp_path, monkeypatch):
    read, rows_at = [], Lookup._rows_at

    def counted(lookup, places):
        read.append(len(places))
        return rows_at(lookup, places)

    monkeypatch.setattr(Lookup, "_rows_at", counted)
    folder = large(400, levels=1, words=30, retrievers=1, generators=0).write(tmp_path)
    shown = json.loads(ohr("show", folder, "--questions", "--worst", 2, "--json").stdout)
    assert [row["lost"] for row in shown] == sorted((row["lost"] for row in shown), reverse=True)
    assert len(shown) == 2
    assert sum(read) <= 2 * (1 + 8 + 4)  # a question, four pages of its document twice, and two hits twice


def test_a_metric_that_is_not_there_is_named(ran):
    result = ohr("show", "study", "--metric", "rouge")
    assert result.exit_code == 2
    assert "has no rouge; it has " in result.stderr


def changed(folder, **entries):
    """Change entries of a run's manifest."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


@pytest.mark.parametrize("words", [("show",), ("show", "--analysis", "every"), ("show", "--by", "domain"), ("plot",)])
@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"status": "running", "process": None}, "this run is not finished (interrupted): it has no results yet"),
        ({"status": "stopped"}, "this run is not finished (stopped): it has no results yet; run its spec again"),
        ({"files": {"summary.parquet": {"bytes": 1}}}, "summary.parquet: is missing or damaged; run the spec again"),
    ],
)
def test_what_is_no_finished_run_is_refused_in_a_sentence(copied, words, entries, said):
    changed(copied, **entries)
    result = ohr(words[0], copied, *words[1:])
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr and "Traceback" not in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("table", ["summary", "scores", "questions", "doses", "pages"])
def test_a_table_that_was_flipped_is_refused_in_a_sentence(copied, table):
    path = copied / f"{table}.parquet"
    path.write_bytes(b"\xff" * path.stat().st_size)
    for words in (
        ("show", "study"),
        ("show", "study", "--analysis", "every"),
        ("plot", "study", "--format", "svg"),
        ("noise", "stats", "study"),
    ):
        result = ohr(*words)
        assert result.exit_code == 0 or (result.exit_code == 2 and str(path.name) in result.stderr), (
            words,
            result.stderr,
        )
        assert "Traceback" not in result.stderr


def test_options_of_questions_are_refused_without_them(ran):
    for words in (("--condition", "blr"), ("--search", "dues")):
        done = ohr("show", ran, *words)
        assert done.exit_code == 2 and "add --questions" in done.stderr


def test_a_name_means_its_newest_finished_run(copied):
    later = Path(shutil.copytree(copied, copied.with_name("29990101T000000-abababab")))
    changed(later, status="running", process={"pid": 0, "host": "elsewhere"})
    assert ohr("show", "study").exit_code == 0
    statuses = {run["path"].rpartition("/")[2]: run["status"] for run in json.loads(ohr("runs", "--json").stdout)}
    assert statuses == {copied.name: "finished", later.name: "running"}


def test_a_first_screen_is_kept_until_something_of_it_changes(copied, monkeypatch):
    def shown():
        return ohr("show", "study").output.splitlines()[:-1]  # the last line has the folder

    listed, whole, path = ohr("runs", "--json").output, shown(), copied / "screen.json"
    kept = path.read_text("utf-8")
    screen = json.loads(kept)
    monkeypatch.setattr("ohr.cli.display.screen._parts", lambda run, further: ["Made again."])
    assert shown() == whole
    edited = [screen | {"screens": {"0": ["Edited."]}}, screen | {"screens": {"0": [1]}}, screen | {"verdicts": "abc"}]
    for content in ("", "{", "[]", *map(json.dumps, edited)):
        path.write_text(content, encoding="utf-8")
        assert shown() == ["Made again."] and ohr("runs", "--json").output == listed
        assert path.read_text("utf-8") == content  # who looks writes nothing
    path.write_text(kept, encoding="utf-8")
    (copied / "prices.json").write_text(json.dumps({"prices": {}, "currency": "EUR"}), encoding="utf-8")
    assert shown() == ["Made again."]
