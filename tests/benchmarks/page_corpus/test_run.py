"""Text against vision on one noise axis, from the shipped spec to its figure, with a tiny model."""

from io import BytesIO
from math import isnan
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from typer.testing import CliRunner

import ohr.pipelines
from ohr.cli.app import app
from ohr.results.tables.read_table import read_rows
from ohr.runner.run import run
from ohr.spec.read import read_spec
from ohr.statistics.ranking import ndcg_at_k

from .conftest import judged, page, query

SPEC = Path(ohr.pipelines.__file__).parent / "text-vs-vision.yaml"
LEVELS, ARMS = ("clean", "blur-0.3", "blur-0.6"), ("bm25", "colqwen", "random")


def test_the_spec_gives_text_and_vision_the_same_pages():
    spec = read_spec(SPEC)
    assert [named.stage.reads_images for named in spec.retrievers] == [False, True, False]
    assert {named.stage.top_k for named in spec.retrievers} == {10}
    assert [base.name for base in spec.knowledge_bases] == ["clean", "blur-0", "blur-0.3", "blur-0.6"]
    assert [chunker.stage.kind for chunker in spec.chunkers] == ["page"]


@pytest.fixture
def drawn(pages) -> str:
    """A set of three pages with a line of text each, and two queries with grades."""
    texts = ["the ferry berth lease began in 1964", "the berth lease ends in 2034", "nobody sings at night"]
    pages.corpus = [page(number, f"paper {number}", text=text) for number, text in enumerate(texts)]
    for row in pages.corpus:
        row["image"]["bytes"] = line_of(row["markdown"])
    pages.queries = [query(0, "When did the ferry berth lease begin?"), query(1, "Who sings at night?")]
    pages.qrels = [judged(0, 0, 2), judged(0, 1, 1), judged(1, 2, 2), judged(1, 1, 1)]
    return str(pages.save())


def line_of(text: str) -> bytes:
    image, content = Image.new("L", (560, 60), "white"), BytesIO()
    ImageDraw.Draw(image).text((20, 16), text, fill="black", font=ImageFont.load_default(24))
    image.save(content, "PNG")
    return content.getvalue()


def run_spec(folder: Path, model: Path, **changes: object) -> Path:
    """Run the shipped spec with a tiny model, and return the folder of the run."""
    changes = {"retrievers.1.model": model, "benchmark.languages": "[english]", **changes}
    changes["knowledge_bases.1.image_noise.severity"] = "[0.3, 0.6]"
    command = ["run", str(SPEC), "--workers", "1", *(f"--set={name}={value}" for name, value in changes.items())]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    return next((folder / "runs/text-vs-vision").glob("*-*"))


def means_of(run: Path) -> dict[tuple[str, str], dict]:
    """Read the summary of NDCG@10 over all questions, by level and arm."""
    rows = read_rows(run / "summary.parquet", stage="retrieval", metric="ndcg@10", group="all", by="evidence_source")
    return {(row["condition"], row["retriever"]): row for row in rows}


@pytest.mark.acceptance
@pytest.mark.usefixtures("one_process")
def test_text_and_vision_have_scores_with_grades_on_one_axis(tiny_colqwen, drawn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = run_spec(tmp_path, tiny_colqwen, **{"benchmark.root": drawn})
    means = means_of(folder)
    assert means.keys() == {(level, arm) for level in LEVELS for arm in ARMS}
    for level in LEVELS:
        assert len({means[level, arm]["kb_evidence_loss"] for arm in ARMS}) == 1
    assert {row["n"] for row in means.values()} == {2}
    assert isnan(means["clean", "bm25"]["floor"])  # an overlap of texts is no floor of a ranking
    for arm in ARMS:
        assert scores_of(folder, arm) == pytest.approx(scores_again(folder, arm))
    assert scores_of(folder, "bm25") != pytest.approx(scores_again(folder, "bm25", binary=True), abs=0.01)
    groups = {row["group"] for row in read_rows(folder / "summary.parquet", by="language", metric="ndcg@10")}
    assert groups == {"english"}


def test_a_broken_image_is_a_counted_failure_of_its_page(pages, tmp_path):
    pages.corpus[1]["image"] = {"bytes": b"no image", "path": None}
    pages.queries.append(query(1, "When does it end?"))
    pages.qrels.append(judged(1, 1))
    spec = tmp_path / "broken.yaml"
    spec.write_text(
        f"name: broken\nbenchmark: {{kind: page_corpus, root: {str(pages.save())!r}}}\n"
        "knowledge_bases: [{name: read, ocr: {kind: tesseract}}]\nchunker: {kind: page}\n"
        "retrievers: [{kind: bm25, top_k: 2}]\nevaluate: [retrieval]\n"
    )
    finished = run(read_spec(spec), store=tmp_path / "store", runs=tmp_path / "runs", workers=1)
    failures = read_rows(finished.folder / "failures.parquet")
    assert [failure["item"] for failure in failures if "image" in failure["reason"]] == [
        "read: harbour%20set/lease page 2"
    ]
    rows = read_rows(finished.folder / "scores.parquet", metric="ndcg@10", stage="retrieval")
    assert {row["question_id"]: row["status"] for row in rows}["1"] == "failed"


@pytest.mark.acceptance  # it reads 24 pages; the test above does the same with three lines
def test_blur_costs_text_retrieval_on_the_sample(tiny_colqwen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = run_spec(tmp_path, tiny_colqwen)
    means = means_of(folder)
    losses = [means[level, "bm25"]["kb_evidence_loss"] for level in LEVELS]
    assert losses == sorted(losses)
    assert means["clean", "bm25"]["mean"] > means["blur-0.6", "bm25"]["mean"]
    assert (folder / "figures/performance-evidence-loss.png").is_file()


def scores_of(run: Path, arm: str) -> dict[str, float]:
    """Read the scores on the clean pages."""
    rows = read_rows(run / "scores.parquet", condition="clean", retriever=arm, metric="ndcg@10", stage="retrieval")
    return {row["question_id"]: row["value"] for row in rows}


def scores_again(run: Path, arm: str, *, binary: bool = False) -> dict[str, float]:
    """Compute the same scores from the hits and the judgments that the run has."""
    hits: dict[str, list] = {}
    for row in read_rows(run / "hits.parquet", condition="clean", retriever=arm):
        hits.setdefault(row["question_id"], []).append((row["rank"], [(row["document"], row["page"])]))
    judged = {row["question_id"]: row["relevant"] for row in read_rows(run / "questions.parquet")}
    return {
        name: ndcg_at_k(
            [pages for _, pages in sorted(hits.get(name, []))],
            {(page["document"], page["page"]): 1.0 if binary else page["grade"] for page in pages},
            10,
        )
        for name, pages in judged.items()
    }
