"""Whole runs: the shipped pipeline, and scores that equal those of other programs."""

from pathlib import Path

import bm25s
import ir_measures
import numpy as np
import pytest

from ohr.dataset.inputs import read_inputs
from ohr.report.figures.panels import read_panels
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from ohr.retrievers.lexical.bm25 import BM25
from ohr.spec.read import read_spec
from ohr.steps.retrieval import retrieve
from ohr.steps.retrieval.retrieve import _pages as pages_of

from ..whole_runs import finished, values

PIPELINE = Path(__file__).parents[3] / "pipelines" / "beir.yaml"
SPEC = """\
name: run
replicates: 1
benchmark: {kind: beir, root: ./port}
knowledge_bases: [{name: clean}]
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: TOP}]
evaluate: [retrieval]
"""


def scores(data_set, metric, *overrides, top_k=10):
    """Run BM25 over a data set, and return a metric by question."""
    folder = data_set.write().parent
    (folder / "spec.yaml").write_text(SPEC.replace("TOP", str(top_k)))
    return values(finished(folder / "spec.yaml", folder, *overrides), metric=metric)


def peer_scores(data_set, measure, grades, *, last_first=False):
    """Return a measure by query of bm25s and ir-measures, with ohr's words; ties are in the order of the corpus.

    `trec_eval` breaks ties by the documents' names, so that it is given ranks in place of scores.
    """
    cut = BM25().cut
    engine = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    texts = [f"{record.get('title', '')} {record['text']}".strip() for record in data_set.corpus]
    engine.index([list(cut(text)) for text in texts], show_progress=False)
    ranking = {}
    for query in data_set.queries:
        found = engine.get_scores(list(cut(query["text"])))
        order = np.argsort(found, kind="stable")[::-1] if last_first else np.argsort(-found, kind="stable")
        ranking[query["_id"]] = {
            data_set.corpus[place]["_id"]: float(len(order) - rank)
            for rank, place in enumerate(order)
            if found[place] > 0
        }
    return {one.query_id: one.value for one in measure.iter_calc(grades, ranking)}


@pytest.fixture
def generated(data_set):
    """200 documents, of which a fifth have the text of another, and 2,000 queries with graded judgments."""
    rng = np.random.default_rng(7)
    words = [f"w{number}" for number in range(300)]
    texts = [" ".join(rng.choice(words, rng.integers(5, 40))) for _ in range(160)]
    texts += [texts[place] for place in rng.integers(0, 160, 40)]
    data_set.corpus = [{"_id": f"d{place}", "text": texts[place]} for place in rng.permutation(200)]
    data_set.queries = [{"_id": f"q{number}", "text": " ".join(rng.choice(words, 4))} for number in range(2_000)]
    all_drawn = ((rng.choice(210, 12, replace=False), rng.integers(-1, 4, 12)) for _ in data_set.queries)
    grades = {
        query["_id"]: {f"d{place}": int(grade) for place, grade in zip(*drawn, strict=True)}
        for query, drawn in zip(data_set.queries, all_drawn, strict=True)
    }
    for judged in grades.values():
        judged["d0"] = 1
    rows = [f"{query}\t{name}\t{grade}" for query, judged in grades.items() for name, grade in judged.items()]
    data_set.judgments = "query-id\tcorpus-id\tscore\n" + "\n".join(rows)
    return data_set, grades


@pytest.mark.acceptance
def test_ndcg_of_2000_queries_equals_bm25s_and_trec_eval_with_ties_and_unknown_documents(generated):
    data_set, grades = generated
    mine, theirs = scores(data_set, "ndcg@10"), peer_scores(data_set, ir_measures.nDCG @ 10, grades)
    assert len(mine) == len(theirs) == 2_000
    assert max(abs(mine[query] - theirs[query]) for query in mine) < 1e-9
    assert len(set(mine.values())) > 500
    others = peer_scores(data_set, ir_measures.nDCG @ 10, grades, last_first=True)
    assert sum(mine[query] != pytest.approx(others[query]) for query in mine) > 50  # so many depend on the ties


def test_recall_at_100_equals_that_of_trec_eval(generated):
    data_set, grades = generated
    data_set.queries = data_set.queries[:50]
    grades = {query["_id"]: grades[query["_id"]] for query in data_set.queries}
    mine = scores(data_set, "recall@100", top_k=100)
    theirs = peer_scores(data_set, ir_measures.R @ 100, grades)
    assert mine == pytest.approx(theirs, abs=1e-9)
    assert len(mine) == 50


def test_a_document_without_text_is_found_by_nobody_and_stops_no_run(data_set):
    data_set.corpus.append({"_id": "d4", "text": ""})
    data_set.judgments = "q1\td1\t1\nq1\td4\t1\nq2\td2\t1\n"
    found = scores(data_set, "ndcg@10")
    assert found == pytest.approx({"q1": 1 / (1 + 1 / np.log2(3)), "q2": 1})


def test_a_query_about_a_document_without_text_alone_has_no_clean_score(data_set):
    data_set.corpus.append({"_id": "d4", "text": ""})
    data_set.judgments = "q1\td4\t1\nq2\td2\t1\n"
    folder = data_set.write().parent
    (folder / "spec.yaml").write_text(SPEC.replace("TOP", "10"))
    finished_run = finished(folder / "spec.yaml", folder)
    (row,) = read_rows(finished_run / "summary.parquet", stage="retrieval", metric="ndcg@10", group="all")
    assert (row["n"], row["mean"]) == (1, 1)


def test_a_query_about_unknown_documents_alone_scores_0(data_set):
    data_set.judgments = "q1\tgone\t1\nq2\td2\t1\n"
    assert scores(data_set, "ndcg@10") == {"q1": 0, "q2": 1}


def test_judgments_of_documents_that_a_limit_leaves_out_are_left_out_too(data_set):
    data_set.judgments = "q1\td1\t1\nq1\td3\t1\nq1\tgone\t1\n"
    whole = 1 / sum(1 / np.log2(rank + 1) for rank in (1, 2, 3))
    assert scores(data_set, "ndcg@10") == pytest.approx({"q1": whole})
    assert scores(data_set, "ndcg@10", "limit=1") == pytest.approx({"q1": 1 / (1 + 1 / np.log2(3))})


def test_the_pipeline_draws_a_curve(tmp_path):
    folder = finished(PIPELINE, tmp_path, "replicates=1", "retrievers.1.top_k=100")
    rows = read_rows(folder / "summary.parquet", stage="retrieval", metric="ndcg@10", group="all")
    means = {(row["retriever"], row["condition"]): row["mean"] for row in rows}
    assert len(means) == 2 * 7
    for retriever in ("words", "stems"):
        assert means[retriever, "channel-0.9"] < means[retriever, "clean"] - 0.05
        assert abs(means[retriever, "formatting-0.9"] - means[retriever, "clean"]) < 0.06
    assert means["stems", "clean"] > means["words", "clean"]
    curves = read_rows(folder / "curves.parquet")
    assert {row["noise"] for row in curves} == {"channel", "formatting"}
    panels = read_panels(Run(folder), "evidence_loss")
    assert [panel.group for panel in panels] == ["all"]  # all questions have one source, so its panel would be the same


def test_a_query_does_not_find_the_document_of_its_own_id(data_set):
    data_set.corpus = [{"_id": f"d{number}", "text": f"the ferry leaves at {number}"} for number in range(4)]
    data_set.queries = [{"_id": "d0", "text": "the ferry leaves at 0"}, {"_id": "q", "text": "ferry at 3"}]
    data_set.judgments = "query-id\tcorpus-id\tscore\nd0\td1\t1\nq\td3\t1\n"
    folder = data_set.write().parent
    assert any("with the id of a document" in note for note in data_set.read().notes())
    (folder / "spec.yaml").write_text(SPEC.replace("TOP", "3"))
    hits = read_rows(finished(folder / "spec.yaml", folder) / "hits.parquet")
    ranked = {name: [row["document"] for row in hits if row["question_id"] == name] for name in ("d0", "q")}
    assert [len(documents) for documents in ranked.values()] == [3, 3]
    assert "port/d0" not in ranked["d0"]
    assert ranked["q"][0] == "port/d3"


def test_passages_are_gone_through_once_however_many_batches_of_queries_have_a_hidden_document(data_set, monkeypatch):
    data_set.corpus = [{"_id": f"d{number}", "text": f"the ferry leaves at {number}"} for number in range(50)]
    data_set.queries = [{"_id": f"d{number}", "text": f"the ferry leaves at {number}"} for number in range(20)]
    data_set.judgments = "query-id\tcorpus-id\tscore\n" + "".join(f"d{n}\td{n + 1}\t1\n" for n in range(20))
    monkeypatch.setattr("ohr.graph.indexes._BATCH", 1)
    seen = []
    monkeypatch.setattr(retrieve, "_pages", lambda chunk: seen.append(chunk) or pages_of(chunk))
    folder = data_set.write().parent
    (folder / "spec.yaml").write_text(SPEC.replace("TOP", "3"))
    hits = read_rows(finished(folder / "spec.yaml", folder) / "hits.parquet")
    assert not any(row["document"].endswith(f"/{row['question_id']}") for row in hits)
    assert len(seen) <= 50 + 20 * 4  # each passage once, and what each query finds


def test_what_cannot_be_scored_as_it_is_asked_is_a_warning():
    overrides = ["retrievers.0.top_k=5", "evaluate=[retrieval, overall]", "generators=[{kind: extractive}]"]
    warnings = read_inputs(read_spec(PIPELINE, overrides)).warnings
    assert "words ends at top_k 5, before ndcg@10 does: the rest counts as not found" in warnings
    assert not any(warning.startswith("stems ends") for warning in warnings)
    assert "no question has an accepted answer: answers are asked for, and not scored" in warnings
    assert not any("accepted answer" in warning for warning in read_inputs(read_spec(PIPELINE)).warnings)
