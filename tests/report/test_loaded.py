"""A finished run in Python: its tables and its figures."""

import subprocess
import sys

import pytest

import ohr
from ohr.engine.executors.inline import Inline
from ohr.errors import DataError
from ohr.runner.run import run
from ohr.spec.read import read_spec

pytest.importorskip("matplotlib")

SPEC = """\
name: engines
benchmark: {kind: mini, languages: [en], domains: [law], max_pages: 1}
knowledge_bases:
  - name: ground_truth
  - {name: formatting, text_noise: {kind: formatting, rate: 0.5}}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 2}]
evaluate: [retrieval]
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    home = tmp_path_factory.mktemp("loaded")
    (home / "spec.yaml").write_text(SPEC)
    folder = run(read_spec(home / "spec.yaml"), store=home / ".ohr", runs=home / "runs", executor=Inline()).folder
    return ohr.load_run(folder)


def test_a_run_draws_its_figures(loaded):
    compared, curves = loaded.plot.comparison(), loaded.plot.performance("condition", columns=["all"])
    assert [axes.get_xlabel() for axes in compared.axes] == ["LCS (%)", "← gain   loss to noise (points) →"]
    assert len(curves.axes) == 1
    assert set(loaded.table("scores")["stage"].to_pylist()) >= {"retrieval"}


def test_what_a_run_does_not_have_is_a_sentence(loaded):
    with pytest.raises(DataError, match="nothing to draw: no losses by stage"):
        loaded.plot.decomposition()
    with pytest.raises(DataError, match="this run has no metric 'rouge'; choose one of: lcs"):
        loaded.plot.performance(metric="rouge")


def test_importing_ohr_and_loading_a_run_imports_no_matplotlib(loaded):
    code = f"import sys, ohr; ohr.load_run({str(loaded.folder)!r}).plot; print('matplotlib' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
