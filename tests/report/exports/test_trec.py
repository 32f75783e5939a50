"""Rankings as files of TREC: scored again by trec_eval's code, they have the run's own scores."""

import json
from dataclasses import replace

import ir_measures
import numpy as np
import pytest
from ir_measures import RR, R, Success, nDCG

from ohr.errors import DataError
from ohr.report.exports.trec import Exported, _falling, _scale, export_trec, token
from ohr.results.derived.comparison import Side, compare_sides
from ohr.results.derived.ranked_runs import compare_hits, read_hits
from ohr.results.run import Run
from ohr.results.score_arrays import ScoreTable
from ohr.runner.run import run
from ohr.spec.read import read_spec
from tests.report.exports.conftest import MADE

SPEC = """
name: ranks
replicates: 2
benchmark: {kind: mini, languages: [en], domains: [law, finance]}
knowledge_bases: [{name: gt}, {name: fmt, text_noise: {kind: formatting, rate: 0.5}}]
chunker: {kind: tokens, size: 48}
retrievers: [{kind: bm25, top_k: 10}]
metrics: [{kind: ndcg, k: 10}]
evaluate: [retrieval]
"""
MEASURES = {"hit@10": Success @ 10, "recall@10": R @ 10, "mrr": RR, "ndcg": nDCG @ 10}


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """A real run with several hits on a page, and two draws of a noise."""
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "ranks.yaml").write_text(SPEC)
    return Run.finished(run(read_spec(folder / "ranks.yaml"), store=folder / "store", runs=folder / "runs").folder)


def scored_again(out, file):
    """Return topic and measure to value."""
    qrels = list(ir_measures.read_trec_qrels(str(out / "qrels.txt")))
    ranked = list(ir_measures.read_trec_run(str(file)))
    return {(v.query_id, v.measure): v.value for v in ir_measures.iter_calc(list(MEASURES.values()), qrels, ranked)}


def test_another_tool_gives_every_question_the_runs_own_score(ranks, tmp_path):
    out, scores = tmp_path / "out", ScoreTable.of(ranks)
    exported = export_trec(ranks, out)
    assert exported == Exported(runs=3, topics=len(scores.questions.ids))
    files = {"gt": ["gt.tokens.bm25.trec"], "fmt": ["fmt.tokens.bm25/0.trec", "fmt.tokens.bm25/1.trec"]}
    for place in scores.of_stage("retrieval"):
        cell = scores.read(place)
        for draw, name in enumerate(files[place.condition]):
            again = scored_again(out, out / "runs" / name)
            for metric, measure in MEASURES.items():
                own = cell.draws[cell.metrics.index(metric), draw]
                assert [again[topic, measure] for topic in scores.questions.ids] == pytest.approx(
                    own.tolist(), abs=1e-12
                )


def test_topics_name_the_documents_that_cluster_them(ranks, tmp_path):
    export_trec(ranks, tmp_path / "out")
    rows = [line.split("\t") for line in (tmp_path / "out" / "clusters.tsv").read_text().splitlines()]
    documents = {row["question_id"]: row["document"] for row in ranks.rows("questions")}
    assert rows[0] == ["topic", "document"]  # with fewer than five documents in a domain, domains are no strata
    assert dict(rows[1:]) == documents


def test_names_with_spaces_are_one_word_and_domains_that_all_share_are_left_out(made, tmp_path):
    export_trec(Run(made), tmp_path / "out")
    lines = (tmp_path / "out" / "qrels.txt").read_text().splitlines()
    assert lines[1] == "q1 0 lease%201 1"  # every document has one page, so its number says nothing
    for file in (tmp_path / "out" / "runs").rglob("*.trec"):
        assert all(len(line.split()) == 6 for line in file.read_text().splitlines()), file


def test_failed_questions_have_no_ranking(one, tmp_path):
    exported = export_trec(Run(one(failed=frozenset({("clean", "q3")}))), tmp_path / "out")
    assert exported.failed == 2  # of two retrievers
    ranked = {
        file.name.partition(".")[0]: {line.split()[0] for line in file.read_text().splitlines()}
        for file in (tmp_path / "out").rglob("*.trec")
    }
    assert "q3" not in ranked["clean"]
    assert "q3" in ranked["blur-0"]


def test_a_copy_of_a_page_is_written_as_the_page_that_counts(one, tmp_path):
    folder = one()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["copies"] = [["law/lease 7", 0, "law/lease 2", 0]]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    export_trec(Run(folder), tmp_path / "out")
    lines = (tmp_path / "out" / "qrels.txt").read_text().splitlines()
    assert "q7 0 lease%202 1" in lines


def test_a_run_without_rankings_is_refused(tmp_path):
    with pytest.raises(DataError, match="has no rankings to export"):
        export_trec(Run(replace(MADE, retrievers=()).write(tmp_path / "runs")), tmp_path / "out")


@pytest.mark.parametrize(
    ("scores", "printed"),
    [
        ([3.5, 3.5, 1.0], ["3.5", "3.49999976", "1"]),
        ([0.1 + 1e-12, 0.1], ["0.100000001", "0.0999999940"]),
        ([0.0, 0.0], ["0", "-1.40129846e-45"]),
        ([-1.0, -2.0], ["-1", "-2"]),
    ],
)
def test_scores_fall_strictly_in_single_precision(scores, printed):
    assert list(map(float, _falling(scores))) == list(map(float, printed))
    assert np.all(np.diff(np.array(_falling(scores), np.float32)) < 0)


def test_different_names_stay_different():
    assert [token(name) for name in ("a b", "a%20b", "a\tb", "a/b", "中文")] == [
        "a%20b",
        "a%2520b",
        "a%09b",
        "a/b",
        "中文",
    ]


def test_the_runs_own_means_and_losses_come_back_to_the_digit(ranks, tmp_path):
    out = tmp_path / "out"
    export_trec(ranks, out)
    files = [out / "runs" / "gt.tokens.bm25.trec", out / "runs" / "fmt.tokens.bm25"]  # the second one has two draws
    hits = read_hits(files, out / "qrels.txt", ["nDCG@10", "RR"], out / "clusters.tsv")
    again = compare_hits(hits, ranks.choices.margin)
    own = compare_sides(Side(ranks, "gt"), Side(ranks, "fmt"), ["ndcg"])
    assert hits.topics == ScoreTable.of(ranks).questions.ids
    theirs, ours = again.pairs[0].found, own.pairs[0].found
    for name in ("mean", "low", "high", "p", "n", "documents"):
        assert getattr(theirs.difference, name) == pytest.approx(getattr(ours.difference, name), abs=1e-12)
    assert (theirs.verdict, theirs.lost, theirs.gained) == (ours.verdict, ours.lost, ours.gained)
    rows = ranks.rows("summary", stage="retrieval", metric="mrr", by="evidence_source", group="all")
    means = {row["condition"]: row for row in rows}
    for condition, (_, mean) in zip(("gt", "fmt"), hits.means(), strict=True):
        expected = [means[condition][name] for name in ("mean", "low", "high")]
        assert [mean.mean, mean.low, mean.high] == pytest.approx(expected, abs=1e-12)


def test_a_question_that_found_nothing_keeps_its_topic(tmp_path):
    corpus = tmp_path / "port"
    (corpus / "qrels").mkdir(parents=True)
    texts = ["berth fees for boats", "ice from the ice house", "the ferry leaves at nine"]
    lines = [json.dumps({"_id": f"a~{number}", "text": text}) for number, text in enumerate(texts)]
    (corpus / "corpus.jsonl").write_text("\n".join(lines))
    (corpus / "queries.jsonl").write_text('{"_id": "q1", "text": "berth fees"}\n{"_id": "q2", "text": "zeppelin"}\n')
    (corpus / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta~0\t2\nq2\ta~1\t1\n")
    spec = f"name: empty\nbenchmark: {{kind: beir, root: {corpus}}}\nknowledge_bases: [{{name: clean}}]\n"
    spec += "chunker: {kind: page}\nretrievers: [{kind: bm25, top_k: 2}]\nevaluate: [retrieval]\n"
    (tmp_path / "empty.yaml").write_text(spec)
    folder = run(read_spec(tmp_path / "empty.yaml"), store=tmp_path / "store", runs=tmp_path / "runs").folder
    out = tmp_path / "out"
    export_trec(Run.finished(folder), out)
    (file,) = (out / "runs").glob("*.trec")
    assert [line.split()[:3] for line in file.read_text().splitlines()] == [
        ["q1", "Q0", "a~0"],  # the ids of the data, since this protocol has no further hits on a page
        ["q2", "Q0", "nothing:found"],
    ]
    hits = read_hits([file], out / "qrels.txt", ["nDCG@10"])
    assert (hits.missing.any(), hits.scores[0, 0].tolist()) == (False, [1.0, 0.0])


def test_grades_that_are_no_whole_numbers_are_multiplied():
    assert _scale({"q": {"a": 2.5, "b": 1.0}}) == 10
    assert _scale({"q": {"a": 3.0}, "r": {"b": 7654321.0}}) == 1
    assert _scale({"q": {"a": 1 / 3}}) == 10**6
