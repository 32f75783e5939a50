"""Whole runs: the shipped pipeline, reduced, and the recorded judge."""

import shutil
from pathlib import Path

import pytest

from ohr.results.tables.read_table import read_rows
from samples import tablequest as build

from ..whole_runs import aggregates, finished, values

PIPELINE = Path(__file__).parents[3] / "pipelines" / "tablequest-mini.yaml"
REPLIES, VERDICTS = build.SAMPLE / "replies" / "MODEL.jsonl", build.SAMPLE / "verdicts" / "MODEL.jsonl"
RECORDED = f"""\
name: recorded
benchmark: {{kind: tablequest, root: sample, protocol: PROTOCOL}}
knowledge_bases: [{{name: html}}]
chunker: {{kind: page}}
retrievers: [{{kind: bm25, top_k: 1}}]
generators: [{{kind: canned, replies: {REPLIES}}}]
metrics:
  - &judge {{kind: pairwise, baseline: sample, generator: {{kind: canned, replies: {VERDICTS}}}}}
  - {{<<: *judge, name: agreed, measure: agreed}}
  - {{<<: *judge, name: parsed, measure: parsed}}
"""


def recorded(folder, model, protocol="clean"):
    (folder / "spec.yaml").write_text(RECORDED.replace("MODEL", model).replace("PROTOCOL", protocol))
    return finished(folder / "spec.yaml", folder)


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    """The pipeline over the first context."""
    home = tmp_path_factory.mktemp("mini")
    shutil.copytree(build.SAMPLE, home / "copy")
    lines = (build.SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    (home / "copy/questions.jsonl").write_text("\n".join(lines[:3]), encoding="utf-8")
    levels = (f"benchmark.root={home / 'copy'}", "knowledge_bases.3.image_noise.severity=[0.0, 1.0]")
    return finished(PIPELINE, home, *levels, "knowledge_bases.2.text_noise.rate=0.6", "chunker.size=2048")


def test_blur_lowers_accuracy_and_ratings_and_formatting_does_not(mini):
    found = {
        kb: aggregates(mini, stage="generation", condition=kb) for kb in ("html", "formatting", "blur-0", "blur-1")
    }
    assert [found[kb]["accuracy"] for kb in found] == [1.0, 1.0, 1.0, 0.0]
    assert found["html"]["elo"] == found["formatting"]["elo"] > 1000 > found["blur-1"]["elo"]
    assert set(found["html"]) == {"accuracy", "elo", "elo easy", "elo medium", "elo hard"}


def test_the_damage_of_a_page_that_was_read_is_measured_in_rows_of_its_tables(mini):
    doses = {row["condition"]: row["r_noise"] for row in read_rows(mini / "doses.parquet")}
    assert doses["html"] == doses["markdown"] == 0
    assert doses["blur-0"] < 0.5 < doses["blur-1"] == 1


@pytest.mark.parametrize(
    ("model", "ratings", "agreed", "parsed"),
    [
        ("north", [1000, 1120.4, 1279.6, 1166.0], 7, 8),
        pytest.param("delta", [720.4, 1000, 720.4, 782.4], 7, 8, marks=pytest.mark.acceptance),
    ],
)
def test_recorded_verdicts_of_both_orders_make_the_samples_ratings(tmp_path, model, ratings, agreed, parsed):
    folder = recorded(tmp_path, model)
    found = aggregates(folder, stage="generation")
    names = ("elo easy", "elo medium", "elo hard", "elo")
    assert [found[name] for name in names] == pytest.approx(ratings, abs=0.05)
    assert [sum(values(folder, stage="generation", metric=name).values()) for name in ("agreed", "parsed")] == [
        agreed,
        parsed,
    ]


def test_reference_reads_its_own_context_and_rates_on_the_papers_scale(tmp_path):
    folder = recorded(tmp_path, "north", "reference")
    found = {row["question_id"]: row["document"] for row in read_rows(folder / "hits.parquet")}
    about = {row["question_id"]: row["document"] for row in read_rows(folder / "questions.parquet")}
    assert found == about
    assert aggregates(folder, stage="overall") == aggregates(folder, stage="generation")
    assert aggregates(folder, stage="overall")["elo"] == pytest.approx(892.46 + 165.99, abs=0.02)
