"""The sentence on an agent beside single searches: what each keeps, and what a question takes."""

import json
from math import nan

import pytest

from ohr.contracts.system import SPLIT
from ohr.report.agent_or_search import kept_sentence, side_by_side
from ohr.results.run import Run
from ohr.results.tables.table_files import Tables

from ..results.conftest import RunTables
from ..results.test_summary import add, finished

REPAIR = {
    **dict.fromkeys(("more_retained", "more_retained_low", "more_retained_high", "gap", "gap_low", "gap_high"), 0.1),
    **{"lost_agent": 0.1, "lost_single": 0.2, "retained_agent": 0.9, "retained_single": 0.8},
    **{"clean_gap": 0.1, "clean_gap_low": 0.1, "clean_gap_high": 0.1, "n": 120, "documents": 12, "note": ""},
    **{"condition": "blur-0.7", "noise": "blur", "noise_type": "semantic", "knob_value": "0.7", "agent": "react"},
    **{"chunker": None, "retriever": "bm25", "generator": "model", "metric": "f1", "verdict": "open"},
}
EFFORT = {
    **dict.fromkeys(("answered", "calls", "searches", "turns", "images", "pages_shown"), 0.0),
    **dict.fromkeys(("shared_tokens", "shared_seconds", *SPLIT, "score", "low", "high"), 0.5),
    **{"stage": "overall", "condition": "blur-0.7", "noise": "blur", "noise_type": "semantic", "knob": "rate"},
    **{"knob_value": "0.7", "chunker": None, "metric": "f1", "n": 120, "failed": 0},
}


@pytest.fixture
def study(tmp_path):
    """Make a run of an agent beside two searches: what differs in each row of `repair`, and the seconds of each."""

    def make(*repairs, seconds=(20.4, 1.0, 50.0)):
        run = RunTables(tmp_path, 120)
        systems = (("", "react", 5000.0), ("bm25", "model", 100.0), ("dense", "model", 9000.0))
        for retriever, generator, _ in systems:
            add(run, {"blur-0.7": 0.5}, "overall", "f1", retriever=retriever, generator=generator)
        folder = finished(run).folder
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps({**manifest, "agents": {"react": {"reads": ["text"]}}}))
        for name in ("repair", "effort"):
            (folder / f"{name}.parquet").unlink(missing_ok=True)
        efforts = [
            {"retriever": retriever, "generator": generator, "tokens_in": tokens, "tokens_out": 10.0, "seconds": each}
            for (retriever, generator, tokens), each in zip(systems, seconds, strict=True)
        ]
        with Tables(folder, ("repair", "effort")) as tables:
            tables.append_rows("repair", [{**REPAIR, **row} for row in repairs or [{}]])
            tables.append_rows("effort", [{**EFFORT, **row} for row in efforts])
        return Run(folder)

    return make


def test_a_question_takes_what_it_takes_in_the_search_that_is_named(study):
    said = kept_sentence(study({}))
    assert "react keeps 90% of its score, bm25 + model 80%" in said
    assert said.endswith(". There a question takes 5,010 tokens against 110, and 20 seconds against 1.")


def test_seconds_below_ten_have_a_digit_after_the_point(study):
    run = study({}, seconds=(0.3, 0.25, 12.4))
    assert kept_sentence(run).endswith("and 0.3 seconds against 0.25.")
    assert side_by_side(run).rows[-1] == ("seconds a question", "0.3", "0.25", "12")


def test_a_share_that_is_nearly_0_is_not_below_it(study):
    assert "bm25 + model 0% under" in kept_sentence(study({"retained_single": -0.001}))


@pytest.mark.parametrize("rows", [[{}], [{"condition": "x", "lost_agent": 0.1, "lost_single": 0.3}, {}]])
def test_a_loss_that_is_undefined_is_no_number(study, rows):
    unknown = {"lost_agent": nan, "retained_agent": nan, "verdict": "", "note": "near the floor"}
    *others, last = rows
    said = kept_sentence(study(*others, {**last, **unknown}))
    assert "nan" not in said
    if not others:
        assert said.startswith(
            "Agent or single search: which keeps more, react or bm25 + model, has no verdict under blur-0.7, as a "
            "clean score is near its floor. "
        )
