"""A finished run in Python: its figures, and its data frames in each library."""

import subprocess
import sys

import pytest

import ohr
from ohr.errors import DataError, MissingExtra
from ohr.results.derived.frames import frame, tables_of
from ohr.results.derived.losses import read_losses
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from tests.report.exports.conftest import CONDITIONS

NAMES = [condition.name for condition in CONDITIONS]


@pytest.mark.parametrize("table", ["summary", "scores", "questions", "losses", "texts", "hits", "failures", "doses"])
def test_every_library_has_the_same_rows(made, table):
    arrow = frame(Run(made), table, "arrow")
    assert (frame(Run(made), table).shape, frame(Run(made), table, "polars").shape) == (
        arrow.shape,
        arrow.shape,
    )
    assert frame(Run(made), table, "polars").columns == list(frame(Run(made), table).columns) == arrow.column_names


def test_the_mean_of_the_scores_is_that_of_the_summary(made):
    scores = frame(Run(made), "scores", stage="retrieval", metric="lcs")
    means = scores.pivot_table(index="condition", columns="retriever", values="value", observed=True)
    assert list(means.index) == NAMES  # in the order of the run
    for row in read_rows(made / "summary.parquet", stage="retrieval", metric="lcs", by="evidence_source", group="all"):
        assert means.loc[row["condition"], row["retriever"]] == pytest.approx(row["mean"])


def test_levels_are_numbers_and_what_is_not_there_is_missing(made):
    scores = frame(Run(made), "scores", engine="tesseract")
    assert sorted(set(scores["level"])) == [0.2, 0.8] and set(scores["condition"]) == {"blur-0.2", "blur-0.8"}
    assert scores["r_noise"].notna().all() and scores["domain"].dtype == "category"
    clean = frame(Run(made), "scores", condition="clean", stage="retrieval")
    assert clean["level"].isna().all() and clean["generator"].isna().all()
    counts = frame(Run(made), "summary")["pairs"]
    assert str(counts.dtype) == "Int64" and counts.isna().any()
    assert (
        frame(Run(made), "scores", "polars", generator=None).height
        == len(frame(Run(made), "scores", generator=None))
        > 0
    )


def test_polars_counts_no_undefined_number(made):
    polars = pytest.importorskip("polars")
    floors = frame(Run(made), "summary", "polars")["lost"]
    assert floors.null_count() > 0 and not floors.is_nan().any()
    assert frame(Run(made), "losses", "polars")["lost"].dtype == polars.Float64


def test_losses_are_those_of_the_cost_block(made):
    losses = frame(Run(made), "losses", group="all", metric="lcs", stage="retrieval")
    known = {
        (loss.condition, loss.retriever): loss.lost for loss in read_losses(Run(made)) if loss.stage == "retrieval"
    }
    pairs = zip(losses["condition"], losses["retriever"], strict=True)
    assert dict(zip(pairs, losses["lost"], strict=True)) == known
    assert set(frame(Run(made), "losses")["group"]) == {"all", "text", "multimodal", "table"}


def test_what_is_not_there_is_named(made, monkeypatch):
    with pytest.raises(DataError, match=r"has no table 'score'. Did you mean 'scores'|has no table 'score'"):
        frame(Run(made), "score")
    with pytest.raises(DataError, match="has no column color"):
        frame(Run(made), "scores", color="red")
    with pytest.raises(DataError, match="has no column color"):
        frame(Run(made), "losses", color="red")
    with pytest.raises(DataError, match="no frames of 'dask'"):
        frame(Run(made), "scores", "dask")
    assert {"losses", "scores", "summary", "questions"} <= set(tables_of(Run(made)))
    monkeypatch.setattr("ohr.extras.find_spec", lambda name: None)
    for library in ("pandas", "polars"):
        with pytest.raises(MissingExtra, match=rf"{library} is not installed: pip install 'ohr\[{library}\]'"):
            frame(Run(made), "scores", library)
    assert frame(Run(made), "scores", "arrow").num_rows


def test_a_run_draws_its_figures_or_says_what_it_does_not_have(made):
    loaded = ohr.load_run(made)
    compared, curves = loaded.plot.comparison(), loaded.plot.performance("condition", columns=["all"])
    loss = "← gain   loss to noise (points) →"
    assert [axes.get_xlabel() for axes in compared.axes] == ["LCS (%)", loss, "F1 (%)", loss, "F1 (%)", loss]
    assert len(curves.axes) == 3
    assert set(loaded.table("scores")["stage"].to_pylist()) >= {"retrieval"}
    with pytest.raises(DataError, match="nothing to draw: no losses by stage"):
        loaded.plot.decomposition()
    with pytest.raises(DataError, match="this run has no metric 'rouge'; choose one of: lcs"):
        loaded.plot.performance(metric="rouge")


def test_importing_ohr_and_loading_a_run_imports_no_matplotlib(made):
    code = f"import sys, ohr; ohr.load_run({str(made)!r}).plot; print('matplotlib' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
