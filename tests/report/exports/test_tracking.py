"""Runs of MLflow, written to a real store and read back."""

import pytest

from ohr.errors import DataError
from ohr.report.exports.tracking import RUN, export_mlflow
from ohr.results.folder.tags_and_prices import change_tags
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The address of an empty store, and a client that reads it."""
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = (tmp_path / "mlruns").as_uri()
    return uri, mlflow.MlflowClient(tracking_uri=uri)


def runs_of(client, name="study"):
    found = list(client.search_runs([client.get_experiment_by_name(name).experiment_id], max_results=1000))
    (parent,) = (run for run in found if "mlflow.parentRunId" not in run.data.tags)
    return parent, [run for run in found if run is not parent]


def test_a_run_is_read_back_with_its_conditions_and_curves(made, store):
    uri, client = store
    done = export_mlflow(Run(made), uri)
    parent, children = runs_of(client)
    assert (done.run_id, done.children) == (parent.info.run_id, len(children)) and done.children == 25
    assert parent.data.tags[RUN] == parent.info.run_name == f"study/{made.name}"
    (child,) = (run for run in children if run.info.run_name == "retrieval blur-0.8 tokens dense")
    about = {"engine": "tesseract", "noise": "blur", "level": "0.8", "retriever": "dense", "seed": "0"}
    assert child.data.params.items() >= about.items() and "generator" not in child.data.params
    wanted = {"stage": "retrieval", "metric": "lcs", "condition": "blur-0.8", "retriever": "dense"}
    (row,) = read_rows(made / "summary.parquet", by="evidence_source", group="all", **wanted)
    assert {end: child.data.metrics[f"lcs.{end}"] for end in ("low", "high", "lost", "n")} == pytest.approx(
        {end: row[end] for end in ("low", "high", "lost", "n")}
    )
    assert child.data.metrics["lcs"] == row["mean"] and "hit_at_2" in child.data.metrics
    assert child.data.metrics["r_noise"] == row["kb_r_noise"]
    curve = client.get_metric_history(parent.info.run_id, "retrieval/lcs/tokens/dense/blur")
    assert curve[0].step == 0 and len(curve) == 3
    assert curve[-1].value == row["mean"] and curve[-1].step == round(1000 * row["kb_r_noise"])
    files = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert files >= {"spec.json", "manifest.json", "summary.csv"}
    assert {run.info.status for run in (parent, *children)} == {"FINISHED"}


def test_the_same_run_is_exported_once_and_its_tags_follow(one, store):
    uri, client = store
    folder = one()
    first = export_mlflow(Run(folder), uri)
    change_tags(folder, {"paper": "yes"})
    second = export_mlflow(Run(folder), uri)
    assert (second.run_id, second.children) == (first.run_id, 0)
    parent, children = runs_of(client)
    assert len(children) == first.children and parent.data.tags["paper"] == "yes"


def test_an_interrupted_export_is_written_again(one, store):
    uri, client = store
    folder = one()
    first = export_mlflow(Run(folder), uri)
    client.update_run(first.run_id, status="RUNNING")
    second = export_mlflow(Run(folder), uri)
    parent, children = runs_of(client)
    assert parent.info.run_id == second.run_id != first.run_id and len(children) == second.children


def test_what_mlflow_refuses_is_one_line_without_passwords(one, tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE", raising=False)
    folder = one()
    with pytest.raises(DataError, match=r"^MLflow: .*MLFLOW_ALLOW_FILE_STORE=true") as refused:
        export_mlflow(Run(folder), str(tmp_path / "plain"))
    assert "\n" not in str(refused.value)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(DataError, match=r"^MLflow: ") as refused:
        export_mlflow(Run(folder), "http://me:secret@127.0.0.1:9/")
    assert "secret" not in str(refused.value)
