import json
from statistics import fmean

import pytest

from ohr.results.reading import read_rows

from .conftest import command

SPEC = """\
name: study
limit: 6
benchmark: {kind: mini, languages: [en], max_pages: 1, domains: [law, textbook]}
knowledge_bases:
  - name: ground_truth
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder in which the study was run once."""
    home = tmp_path_factory.mktemp("study")
    (home / "study.yaml").write_text(SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert command("run", "study.yaml", "--workers", "1").exit_code == 0
    return home


@pytest.fixture
def ran(study, monkeypatch):
    """Go to the folder of the study; return that of its run."""
    monkeypatch.chdir(study)
    return max((study / "runs" / "study").glob("*-*"))


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
    told = command("show", "study", "--by", "domain").stdout.splitlines()
    assert told[0] == "protocol clean"
    assert told[2].split() == [
        "noise",
        "level",
        "pipeline",
        "metric",
        "n",
        "failed",
        "micro",
        "macro",
        "law",
        "textbook",
    ]
    assert told[3].split()[0] == "ground_truth"
    assert "retrieval; by pages all questions are alike\n" in command("show", "study", "--by", "pages").stdout


def test_the_json_has_the_rows(ran):
    rows = json.loads(command("show", str(ran), "--by", "domain", "--metric", "mrr", "--json").stdout)
    assert [row["group"] for row in rows] == ["all", "law", "textbook"]


def test_a_metric_that_is_not_there_is_told(ran):
    result = command("show", "study", "--metric", "rouge")
    assert result.exit_code == 2
    assert "has no rouge; it has " in result.stderr
