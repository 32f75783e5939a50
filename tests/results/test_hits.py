"""Foreign runs: their scores are those of ir_measures and trec_eval, their comparisons those of ohr's statistics."""

import io
import random
import sys
from math import log2

import ir_measures
import pytest
import pytrec_eval

from ohr.errors import DataError, MissingExtra
from ohr.files.trec import read_qrels, read_run
from ohr.results.derived.ranked_runs import Measures, compare_hits, read_hits, shared_documents
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import compare, holm

NAMES = ("nDCG@10", "R@5", "RR", "AP", "P@3", "nDCG", "AP(rel=2)", "RR@10", "Judged@10")
OF_TREC_EVAL = {"nDCG@10": "ndcg_cut_10", "R@5": "recall_5", "RR": "recip_rank", "AP": "map", "P@3": "P_3"}


def random_qrels(rng):
    """Judgments of some topics: graded, negative, and of some topics nothing above 0."""
    lines = []
    for topic in range(rng.randint(1, 4)):
        grades = rng.choice([(0,), (0, 1), (-1, 0), (-1, 0, 1, 2, 3)])
        lines += [f"q{topic} 0 d{d} {rng.choice(grades)}" for d in rng.sample(range(30), rng.randint(1, 12))]
        lines.append(f"q{topic} 0 d30 {max(grades) and rng.randint(0, 1)}")  # trec_eval's nDCG may not end without
    return "\n".join(lines) + "\n"


def random_run(rng):
    """A run with ties, unjudged documents, topics that are missing, and one that nobody judged."""
    lines, step = [], rng.choice([1, 4, 1e-9, 1000])
    for topic in rng.sample(range(6), rng.randint(1, 5)):
        lines += [
            f"q{topic} Q0 d{d} 1 {rng.randint(-6, 6) / step!r} tag" for d in rng.sample(range(40), rng.randint(1, 15))
        ]
    rng.shuffle(lines)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("judgments", [20, pytest.param(100, marks=pytest.mark.acceptance)])
def test_scores_are_those_of_ir_measures_and_of_trec_eval_on_random_runs(judgments, tmp_path):
    rng, qrels, path = random.Random(0), tmp_path / "qrels", tmp_path / "run"
    parsed = [ir_measures.parse_measure(name) for name in NAMES]
    for _ in range(judgments):
        qrels.write_text(random_qrels(rng))
        ready = Measures(NAMES, read_qrels(qrels))
        peer = ir_measures.evaluator(parsed, list(ir_measures.read_trec_qrels(qrels.read_text())))
        grades = pytrec_eval.parse_qrel(io.StringIO(qrels.read_text()))
        trec_eval = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut.10", "recall.5", "recip_rank", "map", "P.3"})
        for _ in range(20):
            path.write_text(random_run(rng))
            scores = ready.scores(read_run(path))
            made = {(name, topic): 0.0 for name in ready.names for topic in ready.topics}
            made |= {
                (str(m.measure), m.query_id): m.value
                for m in peer.iter_calc(ir_measures.read_trec_run(path.read_text()))
            }
            assert scores.tolist() == [[made[name, topic] for topic in ready.topics] for name in ready.names]
            evaluated = trec_eval.evaluate(pytrec_eval.parse_run(io.StringIO(path.read_text())))
            for name, theirs in OF_TREC_EVAL.items():
                values = [evaluated.get(topic, {}).get(theirs, 0.0) for topic in ready.topics]
                assert scores[ready.names.index(name)].tolist() == values


MANY = (*NAMES, "nDCG(gains={1:0,3:7})@10", "nDCG(gains={1:2})", "IPrec@0.1", "IPrec@0.101", "SetF", "SetF(beta=2.0)")


def test_a_measure_scores_the_same_alone_and_beside_others(tmp_path):
    rng, qrels, path = random.Random(1), tmp_path / "qrels", tmp_path / "run"
    for _ in range(10):
        qrels.write_text(random_qrels(rng))
        path.write_text(random_run(rng))
        judgments, run = read_qrels(qrels), read_run(path)
        alone = {name: Measures([name], judgments).scores(run)[0].tolist() for name in MANY}
        names = rng.sample(MANY, rng.randint(2, len(MANY)))
        assert Measures(names, judgments).scores(run).tolist() == [alone[name] for name in names]


def test_gains_count_beside_another_ndcg(tmp_path):
    qrels, path = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 3\n")
    path.write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n")
    ready = Measures(["nDCG@10", "nDCG(gains={1:0,3:7})@10"], read_qrels(qrels))
    plain, gained = (1 + 3 / log2(3)) / (3 + 1 / log2(3)), 1 / log2(3)
    assert ready.scores(read_run(path))[:, 0].tolist() == pytest.approx([plain, gained])


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return write


def made_up(seed, skill, topics=40):
    """Lines of a run that finds each topic's relevant document, `r0` of `q0`, at a random place; better with skill."""
    rng = random.Random(seed)
    return "".join(
        f"q{topic} Q0 {name} 0 {rng.random() + (skill if name.startswith('r') else 0):.4f} {seed}\n"
        for topic in range(topics)
        for name in (f"r{topic}", "a", "b", "c")
    )


QRELS = "".join(f"q{topic} 0 r{topic} 1\n" for topic in range(40))


def clustered(qrels, file):
    judgments = read_qrels(file("qrels", qrels))
    clusters, kind, (note,) = shared_documents(list(judgments.grades), judgments)
    return clusters.documents.tolist(), kind, note


def test_topics_that_share_a_relevant_document_are_of_one_cluster(file):
    # pages of one document, a topic about two documents, and a grade of 0 that says nothing
    qrels = "a 0 x#1 1\nb 0 x#2 1\nb 0 y#1 0\nc 0 y#1 2\nd 0 z 1\nd 0 z2#0_1 1\ne 0 z2#0_9 1\nf 0 x#1 0\n"
    codes, kind, note = clustered(qrels, file)
    assert kind == "document"
    assert codes[0] == codes[1] and codes[3] == codes[4] and len(set(codes)) == 4
    assert note.endswith("--clusters FILE says it otherwise")


def test_topics_that_share_none_or_are_chained_are_by_themselves_with_a_note(file):
    apart = clustered("".join(f"q{topic} 0 d{topic} 1\n" for topic in range(20)), file)
    chain = "".join(f"q{topic} 0 d{topic} 1\nq{topic} 0 d{topic + 1} 1\n" for topic in range(20))
    chained = clustered(chain, file)
    for codes, kind, note in (apart, chained):
        assert (len(set(codes)), kind) == (20, "topic")
        assert "intervals are too short and p too small" in note
    assert chained[2].startswith("20 topics share relevant documents")
    assert set(clustered("".join(f"q{topic} 0 d#{topic} 1\n" for topic in range(20)), file)[0]) == {0}


def test_means_and_comparisons_are_those_of_the_statistics(file):
    runs = [file("good", made_up(1, 0.8)), file("bad", made_up(2, -0.5)), file("same", made_up(1, 0.8))]
    documents = [f"d{topic // 2}" for topic in range(40)]
    map_file = file("map", "".join(f"q{topic} {documents[topic]}\n" for topic in range(40)))
    hits = read_hits(runs, file("qrels", QRELS), ["RR", "P@1"], map_file)
    clusters = Clusters.of(documents)
    found = compare_hits(hits, 0.05)
    assert [pair.label for pair in found.pairs] == ["bad RR", "bad P@1", "same RR", "same P@1"]
    for pair, (run, row) in zip(found.pairs, [(1, 0), (1, 1), (2, 0), (2, 1)], strict=True):
        alone = compare(hits.scores[0, row], hits.scores[run, row], clusters, 0.05)
        assert (pair.found.difference.mean, pair.verdict) == pytest.approx((alone.difference.mean, alone.verdict))
        assert (pair.found.difference.low, pair.found.p) == pytest.approx((alone.difference.low, alone.p), nan_ok=True)
    assert [pair.verdict for pair in found.pairs] == ["worse", "worse", "identical", "identical"]
    assert [pair.p_holm for pair in found.pairs] == pytest.approx(
        holm([pair.found.p for pair in found.pairs], 4), nan_ok=True
    )  # the run with the same scores is two of the four comparisons
    assert (found.questions, found.documents, found.cluster) == (40, 20, "document")
    assert hits.means()[0][0].mean == pytest.approx(hits.scores[0, 0].mean())
    assert hits.means()[0][0].documents == 20


def test_a_missing_topic_scores_0_and_counts_as_failed(file):
    whole = made_up(1, 0.8)
    few = "".join(line for line in whole.splitlines(keepends=True) if not line.startswith(("q1 ", "q2 ")))
    many = "".join(line for line in whole.splitlines(keepends=True) if line.startswith("q1"))
    hits = read_hits([file("a", whole), file("b", few), file("c", many)], file("qrels", QRELS), ["RR"])
    assert hits.missing.sum(axis=1).tolist() == [0, 2, 29]
    assert [row[0].failed for row in hits.means()] == [0, 2, 29]
    assert hits.scores[1, 0, 1:3].tolist() == [0, 0]
    pairs = compare_hits(hits).pairs
    assert [(pair.failed, pair.verdict == "failed") for pair in pairs] == [(2, False), (29, True)]
    assert not pairs[1].shown
    assert "b: 2 topics of the qrels missing, scored 0 and counted as failed: q1, q2" in hits.notes


def test_what_is_odd_about_the_files_is_noted(file):
    qrels = QRELS + "q98 0 r 1\nq99 0 r 0\nunused 0 r -3\n"
    runs = [file("a", made_up(1, 0.8) + "q99 Q0 r 1 1 1\nx Q0 r 1 1 1\n"), file("b", "q1 Q0 r 1 1 t\nq1 Q0 s 2 1 t\n")]
    hits = read_hits(runs, file("qrels", qrels), ["RR", "RR@10", "nDCG"], file("map", "q1 d\nq2 d\n"))
    assert hits.notes == (
        "qrels: 1 grade below 0: not relevant, as 0",
        "2 topics without a relevant document, scored 0: q99, unused",
        "map: 41 topics without a document, each by itself: q0, q3, q4 and 38 more",
        "a: 1 topic not in the qrels, left out: x",
        "a: 2 topics of the qrels missing, scored 0 and counted as failed: q98, unused",
        "b: 42 topics of the qrels missing, scored 0 and counted as failed: q0, q2, q3 and 39 more",
        "topics with equal scores: 1 of b: trec_eval ranks these documents by id, the last one first, looks at 7 "
        "digits of a score, and never at the rank; RR@10 may rank them otherwise",
        "with fewer documents for each topic than the largest cutoff (10) counts: a (4), b (2)",
        "2 topics of the qrels in no run: if nobody asked them, leave them out of the qrels",
    )
    assert hits.scores[:, :, hits.topics.index("unused")].tolist() == [[0, 0, 0], [0, 0, 0]]
    assert len(hits.clusters.counts) == 42


def test_domains_of_a_map_are_strata(file):
    lines = "".join(f"q{topic} d{topic} {'law' if topic % 2 else 'news'}\n" for topic in range(40))
    hits = read_hits([file("a", made_up(1, 0.8))], file("qrels", QRELS), None, file("map", lines))
    assert hits.clusters.stratified
    assert hits.measures == ("nDCG@10", "R@100", "RR")


@pytest.mark.parametrize(
    ("runs", "map_lines", "words"),
    [
        (["x Q0 r 1 1 t\n"], None, "has no topic of"),
        (["q1 Q0 r 1 1 t\n", "q2 Q0 r 1 1 t\n"], None, "run0 and run1 have no topic in common"),
        ([made_up(1, 0.8)], "x d\n", "has no topic of the qrels"),
    ],
)
def test_topics_that_do_not_meet_are_an_error(file, runs, map_lines, words):
    files = [file(f"run{place}", run) for place, run in enumerate(runs)]
    with pytest.raises(DataError, match=words):
        compare_hits(read_hits(files, file("qrels", QRELS), None, map_lines and file("map", map_lines)))


def test_a_run_that_is_named_twice_is_an_error_and_equal_names_are_told_apart(file, tmp_path):
    (tmp_path / "other").mkdir()
    run, other, qrels = file("a", made_up(1, 0.8)), file("other/a", made_up(2, 0.8)), file("qrels", QRELS)
    with pytest.raises(DataError, match="is named twice"):
        read_hits([run, tmp_path / "other" / ".." / "a"], qrels)
    assert read_hits([run, other], qrels).runs == (str(run), str(other))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndcg@10", "did you mean nDCG@10?"),
        ("recal@5", "did you mean R@5"),
        ("ndcg_cut_10", "trec_eval's is written nDCG@10 here"),
        ("foo", "there are "),
        ("R", "a cutoff is written as in R@100"),
        ("R@0", "the cutoff must be 1 or more"),
        ("1 +", "cannot be read"),
        ("nDCG(foo=1)", "unsupported params"),
        ("NumRelRet", "is a count"),
        ("NumRet", "is a count"),
        ("alpha_nDCG@10", "needs the subtopics of qrels"),
        ("RBP", "Unsupported measures"),
    ],
)
def test_a_measure_that_cannot_be_judged_is_explained(file, name, message):
    with pytest.raises(DataError) as error:
        Measures([name], read_qrels(file("qrels", QRELS)))
    assert message in str(error.value)


def test_a_score_outside_0_and_1_is_refused(file, monkeypatch):
    ready = Measures(["RR"], read_qrels(file("qrels", QRELS)))
    monkeypatch.setattr(
        "ir_measures.providers.base.Evaluator.iter_calc",
        lambda self, run: [ir_measures.Metric("q1", ir_measures.RR, 3.2)],
    )
    with pytest.raises(
        DataError, match=r"RR of topic 'q1' is 3\.2: ohr has intervals for measures between 0 and 1 only"
    ):
        ready.scores(read_run(file("a", made_up(1, 0.8))))


def test_a_missing_library_names_its_extra(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ohr\[trec\]'"):
        read_hits([file("a", made_up(1, 0.8))], file("qrels", QRELS))
