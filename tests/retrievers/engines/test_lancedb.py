import re
import shutil
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ohr.contracts import Hit, Index
from ohr.errors import MissingExtra, PluginError
from ohr.keys import identity
from ohr.retrievers.engines.lance_table import connected
from ohr.retrievers.engines.lancedb import LanceDb
from ohr.retrievers.hybrid import Hybrid
from ohr.retrievers.lexical.bm25 import BM25
from ohr.testing import check_retriever, indexed

from ..corpus import chunks
from .drawn import Drawn, DrawnTokens, vector

WORDS = ("rain", "harbour", "lease", "rent", "may", "wall", "x1")
few = settings(max_examples=4, deadline=None)


def texts(count, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 9))) + f" n{place % 40}" for place in range(count)]


TEXTS = texts(90)
QUERIES = ["rain on the wall", "lease n3", "", "?", "may rent x1 harbour", "n7"]


def lance(mode="dense", **fields):
    embedders = {"dense": Drawn(), "hybrid": Drawn(), "multivector": DrawnTokens()}
    return LanceDb(mode=mode, **({"embedder": embedders[mode]} if mode in embedders else {}), **fields)


def places(rankings):
    return [[hit.place for hit in hits] for hits in rankings]


def same(ours, theirs, tolerance=1e-5):
    """Report whether two lists of rankings have the same hits, with nearly the same scores."""
    scores = [[hit.score for hits in rankings for hit in hits] for rankings in (ours, theirs)]
    return places(ours) == places(theirs) and scores[0] == pytest.approx(scores[1], abs=tolerance)


@pytest.mark.acceptance
def test_words_keep_the_contract():
    check_retriever(LanceDb(mode="text"))  # `dense` is in tests/test_conformance.py


@pytest.mark.acceptance
def test_words_and_vectors_keep_the_contract():
    check_retriever(LanceDb(mode="hybrid", embedder={"kind": "dense", "max_tokens": 32}))


@pytest.mark.slow
def test_vectors_of_tokens_keep_the_contract(tiny_bge_m3):
    embedder = {"kind": "bge_m3", "model": str(tiny_bge_m3), "max_tokens": 32}
    check_retriever(LanceDb(mode="multivector", embedder=embedder), finds=False)  # random weights find nothing


@pytest.mark.parametrize("k", [1, 5, 999])
def test_exact_vectors_are_found_as_by_the_embedder_s_own_search(k):
    truth = indexed(Drawn(), chunks(*TEXTS)).search(QUERIES, k)
    assert same(indexed(lance(), chunks(*TEXTS)).search(QUERIES, k), truth)


def test_exact_vectors_are_found_as_by_dense():
    from ohr.retrievers.vector.dense import Dense

    corpus = chunks(
        "The rent is due in May.", "The mast was painted.", "今年的租金是三百元。", "The mast was painted.", ""
    )
    asked = ["When is the rent due?", "mast", ""]
    ours = indexed(LanceDb(embedder={"kind": "dense", "max_tokens": 32}), corpus).search(asked, 4)
    assert same(ours, indexed(Dense(max_tokens=32), corpus).search(asked, 4))


def formula(bags, words):
    """BM25 with k1 = 1.2 and b = 0.75 of all rows that have a word."""
    held = [bag for bag in bags if bag]
    mean = sum(map(len, held)) / max(len(held), 1)
    scores = {}
    for place, bag in enumerate(bags):
        for word in words:
            if count := bag.count(word):
                holders = sum(word in other for other in held)
                idf = log(1 + (len(held) - holders + 0.5) / (holders + 0.5))
                part = idf * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * len(bag) / mean))
                scores[place] = scores.get(place, 0.0) + part
    return scores


@few
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), min_size=1, max_size=9))
def test_scores_of_words_are_those_of_the_formula(corpus):
    asked = ["rain wall", "lease lease may", "absent", "", "x1"]
    rankings = indexed(lance("text"), chunks(*corpus)).search(asked, 99)
    for query, hits in zip(asked, rankings, strict=True):
        expected = formula([text.split() for text in corpus], query.split())
        assert {hit.place: hit.score for hit in hits} == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("tokenizer", ["words", "stems", "whitespace", "ohrbench"])
def test_words_are_cut_as_for_bm25(tokenizer):
    corpus = [
        "今年的租金是三百元。",
        "Leases, terminated!",
        "THE Harbour-wall",
        "Ünïcode café",
        "a\0b",
        "x\ud800y",
        "w" * 300,
    ]
    asked = ["租金是多少？", "lease", "harbourwall the", "café", *corpus]
    ours, theirs = (
        places(indexed(kind, chunks(*corpus)).search(asked, 9))
        for kind in (lance("text", tokenizer=tokenizer), BM25(tokenizer=tokenizer, k1=1.2))
    )
    assert [sorted(each) for each in ours] == [sorted(each) for each in theirs]


@pytest.mark.parametrize("query", ['rain AND "wall', "words:rain^2", "-rain", "(rain", "rain*", "[a TO z] rain~2", "*"])
def test_a_query_is_never_parsed(query):
    index = indexed(lance("text", tokenizer="whitespace"), chunks("rain wall", "lease", query))
    assert places(index.search([query], 1)) == [[2]]


def test_hybrid_is_reciprocal_rank_fusion_of_the_two_searches():
    joined = Hybrid(retrievers=(lance(), lance("text")), rrf_k=9, depth=20)
    truth = indexed(joined, chunks(*TEXTS)).search(QUERIES, 12)
    assert same(indexed(lance("hybrid", rrf_k=9, depth=20), chunks(*TEXTS)).search(QUERIES, 12), truth, 1e-9)


def test_vectors_of_tokens_are_ranked_by_maxsim():
    truth = indexed(DrawnTokens(), chunks(*TEXTS)).search(QUERIES, 99)
    ours = indexed(lance("multivector"), chunks(*TEXTS)).search(QUERIES, 99)
    assert same(ours, truth, 1e-4)


def test_vectors_of_tokens_are_those_of_bge_m3(tiny_bge_m3):
    from ohr.retrievers.vector.bge_m3 import BgeM3

    fields = {"model": str(tiny_bge_m3), "max_tokens": 32}
    asked, corpus = (
        ["when was it founded", "a dog"],
        chunks("it was founded in 1923", "a lazy dog", "rain", "a lazy dog"),
    )
    truth = indexed(BgeM3(**fields, dense=0, sparse=0, multi_vector=1), corpus).search(asked, 9)
    index = indexed(LanceDb(mode="multivector", embedder={"kind": "bge_m3", **fields}), corpus)
    assert places(index.search(asked, 9)) == places(truth)


@pytest.mark.parametrize("mode", ["dense", "text", "hybrid", "multivector"])
def test_ties_are_in_the_order_of_the_chunks(mode):
    corpus = [f"another thing {place}" for place in range(60)]
    corpus[5:45] = ["rain fell on the wall"] * 40
    index = indexed(lance(mode), chunks(*corpus))
    for k in (1, 2, 7, 40):
        assert places(index.search(["rain fell on the wall"], k)) == [list(range(5, 5 + k))]


@pytest.mark.parametrize("mode", ["dense", "text", "hybrid", "multivector"])
def test_a_corpus_of_nothing_or_little_finds_what_is_there(mode):
    assert indexed(lance(mode)).search(["rain", ""], 3) == [[], []]
    only = indexed(lance(mode), chunks("rain"))
    assert places(only.search(["rain"], 1000)) == [[0]]
    assert only.search(["rain"], 0) == [[]]
    assert only.search([], 3) == []
    assert all(len(hits) <= 3 for hits in indexed(lance(mode), chunks("", "", "?")).search(["rain", "", "?"], 5))


@pytest.mark.parametrize("kind", ["ivf_flat", "ivf_sq", "ivf_pq", "ivf_rq", "hnsw_flat", "hnsw_sq", "hnsw_pq"])
def test_an_approximate_index_reports_its_recall(kind):
    index = indexed(lance(index_type=kind, partitions=2), chunks(*map(str, range(300))))
    warning, note = index.notes
    assert warning == "a warning of the embedder"
    assert note.startswith(f"`{kind}` is approximate: recall@10 ")
    recall = float(note.rpartition("recall@10 ")[2].split()[0])
    assert 0 < recall <= 1
    assert recall > 0.9 or kind not in ("ivf_flat", "hnsw_flat", "hnsw_sq")
    assert [len(hits) for hits in index.search(["1", "rain"], 5)] == [5, 5]


def test_settings_of_the_index_and_the_search_reach_lancedb():
    corpus = chunks(*map(str, range(600)))
    coarse = indexed(lance(index_type="ivf_pq", partitions=20, sub_vectors=4, bits=4, probes=1), corpus)
    fine = indexed(lance(index_type="ivf_pq", partitions=20, sub_vectors=4, bits=4, probes=20, refine=30), corpus)
    recalls = [float(index.notes[1].rpartition("recall@10 ")[2].split()[0]) for index in (coarse, fine)]
    assert recalls[0] < 0.5 < 0.95 < recalls[1]
    graph = indexed(lance(index_type="hnsw_sq", partitions=1, m=4, ef_construction=20, ef=100), corpus)
    assert len(graph.search(["1"], 5)[0]) == 5


@pytest.mark.acceptance
def test_vectors_of_tokens_can_be_searched_approximately():
    index = indexed(lance("multivector", index_type="ivf_flat", partitions=2, probes=2), chunks(*texts(300)))
    assert index.notes[0].startswith("`ivf_flat` is approximate: recall@10 ")
    assert len(index.search(["rain wall"], 5)[0]) == 5


def test_few_chunks_are_searched_exactly_and_it_is_said():
    index = indexed(lance(index_type="ivf_pq"), chunks(*TEXTS))
    assert index.notes[1:] == ("90 passages, too few for `ivf_pq`: the search is exact",)
    assert same(index.search(QUERIES, 5), indexed(lance(), chunks(*TEXTS)).search(QUERIES, 5))


def test_vectors_that_are_no_numbers_are_reported(monkeypatch):
    def broken(self, texts):
        return np.full((len(texts), 16), np.nan, np.float32), ()

    monkeypatch.setattr(Drawn, "embed_passages", broken)
    with pytest.raises(PluginError, match="retriever lancedb: the model gave NaN or infinity for 2 of 2 chunks"):
        indexed(lance(), chunks("rain", "wall"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mode": "text", "depth": 9}, "depth does not count with mode text"),
        ({"mode": "text", "embedder": {"kind": "dense", "max_tokens": 9}}, "embedder does not count with mode text"),
        ({"tokenizer": "stems"}, "tokenizer does not count with mode dense"),
        ({"probes": 3}, "probes does not count with index_type exact"),
        ({"index_type": "ivf_pq", "ef": 3, "m": 4}, "ef does not count with index_type ivf_pq; m does not"),
        ({"index_type": "hnsw_flat", "refine": 2}, "refine does not count with index_type hnsw_flat"),
        ({"index_type": "ivf_pq", "bits": 5}, "bits must be 4 or 8 for ivf_pq, not 5"),
        (
            {"embedder": {"kind": "bm25"}},
            "mode dense needs an embedder with one vector per text, such as {kind: dense}",
        ),
        ({"mode": "multivector"}, "mode multivector needs an embedder of tokens, such as {kind: bge_m3}, not dense"),
        ({"embedder": {"kind": "dense", "index_type": "ivf"}}, "index_type belongs beside embedder, not in it"),
        ({"uri": "db://mine"}, r"LanceDB Cloud \(db://\) is not supported"),
        ({"embedder": {"kind": "colpali"}}, "must read text, and colpali looks at page images"),
        ({"embedder": {"kind": "nothing"}}, "no retriever 'nothing'"),
        ({"index_type": "ivf"}, "index_type"),
        ({"partitions": 0}, "partitions"),
    ],
)
def test_fields_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        LanceDb(**fields)


def test_the_embedder_decides_the_key_but_not_that_of_words():
    keys = [
        identity(LanceDb(**fields))
        for fields in ({}, {"embedder": {"kind": "dense", "max_tokens": 9}}, {"mode": "text"})
    ]
    assert keys[0][2]["embedder"] != keys[1][2]["embedder"]
    assert keys[2][2]["embedder"] is None


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setattr("ohr.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ohr\[lancedb\]'"):
        LanceDb(mode="text").check()


def test_searching_leaves_the_files_as_they_are():
    index = indexed(lance("hybrid"), chunks(*TEXTS))
    folder: Path = index.index["tables"]
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert index.search(QUERIES, 3)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files


@pytest.mark.parametrize("harm", ["cut", "gone", "no folder"])
def test_a_damaged_folder_is_reported_with_what_helps(harm):
    index = indexed(lance(), chunks(*TEXTS))
    folder: Path = index.index["tables"]
    data = next(folder.rglob("data/*.lance"))
    if harm == "cut":
        data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])
    elif harm == "gone":
        data.unlink()
    else:
        shutil.rmtree(folder)
    with pytest.raises(PluginError, match=f"remove {re.escape(str(folder.parent))}, and the next run makes the index"):
        index.search(["rain"], 1)


def test_a_full_disk_is_named(monkeypatch):
    def full(*_, **__):
        raise RuntimeError("lance error: LanceError(IO): No space left on device (os error 28), structural.rs:191:9")

    monkeypatch.setattr("ohr.retrievers.engines.lancedb.write", full)
    with pytest.raises(OSError, match="No space left on device"):
        indexed(lance("text"), chunks("rain"))


class TestUri:
    """Tables in a folder that the user names."""

    @pytest.mark.parametrize("mode", ["dense", "text", "hybrid", "multivector"])
    def test_a_whole_table_is_used_again(self, mode, tmp_path, monkeypatch):
        fields = {"uri": str(tmp_path / "tables")}
        first = indexed(lance(mode, **fields), chunks(*TEXTS))
        files = sorted((tmp_path / "tables").rglob("*"))
        monkeypatch.setattr(Drawn, "embed_passages", None)
        again = indexed(lance(mode, **fields), chunks(*TEXTS))
        assert sorted((tmp_path / "tables").rglob("*")) == files
        assert again.notes == first.notes
        assert again.search(QUERIES, 5) == first.search(QUERIES, 5)

    def test_another_content_or_embedder_has_a_table_of_its_own(self, tmp_path):
        uri = str(tmp_path)
        for corpus in (TEXTS, TEXTS[::-1], ["a", "b"], ["ab", ""]):
            indexed(lance("text", uri=uri), chunks(*corpus))
        indexed(lance("text", uri=uri, tokenizer="stems"), chunks(*TEXTS))
        indexed(lance("hybrid", uri=uri, depth=3), chunks(*TEXTS))
        indexed(lance("hybrid", uri=uri, depth=4), chunks(*TEXTS))
        assert len(connected(uri).list_tables().tables) == 6

    def test_a_half_written_table_is_written_again(self, tmp_path, monkeypatch):
        retriever, uri = lance(uri=str(tmp_path)), str(tmp_path)
        monkeypatch.setattr("ohr.retrievers.engines.lance_table._ROWS", 40)
        vectors_of = Drawn.vectors

        def dies(self, corpus):
            vectors, notes = vectors_of(self, corpus)
            vectors[50] = np.nan
            return vectors, notes

        with monkeypatch.context() as patch, pytest.raises(PluginError, match="NaN or infinity for 1 of 40"):
            patch.setattr(Drawn, "vectors", dies)
            indexed(retriever, chunks(*TEXTS))
        (name,) = connected(uri).list_tables().tables
        assert connected(uri).open_table(name).count_rows() == 40
        index = indexed(retriever, chunks(*TEXTS))
        assert same(index.search(QUERIES, 5), indexed(Drawn(), chunks(*TEXTS)).search(QUERIES, 5))
        assert connected(uri).list_tables().tables == [name]

    def test_what_others_change_later_is_not_searched(self, tmp_path):
        index = indexed(lance(uri=str(tmp_path)), chunks(*TEXTS))
        tables = connected(str(tmp_path))
        (name,) = tables.list_tables().tables
        table = tables.open_table(name)
        table.add([{"place": 7777, "vector": vector("rain").tolist()}])
        table.delete("place < 50")
        tables.create_table(name, [{"place": 1}], mode="overwrite")
        assert same(index.search(QUERIES, 5), indexed(Drawn(), chunks(*TEXTS)).search(QUERIES, 5))

    @pytest.mark.parametrize("harm", ["dropped", "written by others", "folder gone"])
    def test_a_table_that_vanished_is_reported_and_made_again(self, harm, tmp_path):
        retriever = lance(uri=str(tmp_path / "tables"))
        index = indexed(retriever, chunks(*TEXTS))
        tables = connected(str(tmp_path / "tables"))
        (name,) = tables.list_tables().tables
        if harm == "folder gone":
            shutil.rmtree(tmp_path / "tables")
        else:
            tables.drop_table(name)
        if harm == "written by others":
            tables.create_table(name, [{"place": place} for place in range(90)])
        with pytest.raises(PluginError, match=f"has no whole table {name} any more; remove .*, and the next run makes"):
            index.search(["rain"], 1)
        assert places(indexed(retriever, chunks(*TEXTS)).search([TEXTS[4]], 1)) == [[4]]

    def test_of_two_runs_that_write_one_table_the_second_uses_that_of_the_first(self, tmp_path, monkeypatch):
        retriever, vectors_of = lance(uri=str(tmp_path)), Drawn.vectors

        def is_slower(self, corpus):
            with monkeypatch.context() as patch:
                patch.setattr(Drawn, "vectors", vectors_of)
                indexed(retriever, corpus)
            return vectors_of(self, corpus)

        monkeypatch.setattr(Drawn, "vectors", is_slower)
        index = indexed(retriever, chunks(*TEXTS))
        (name,) = connected(str(tmp_path)).list_tables().tables
        assert connected(str(tmp_path)).open_table(name).version == 2  # made and filled once
        assert places(index.search([TEXTS[4]], 1)) == [[4]]

    def test_a_place_that_cannot_be_written_is_reported(self, tmp_path):
        (tmp_path / "file").write_text("no folder")
        with pytest.raises(PluginError, match=r"retriever lancedb: cannot (read|write)"):
            indexed(lance(uri=str(tmp_path / "file")), chunks("rain"))
        with pytest.raises(PluginError, match="No object store provider found for scheme: 's4'"):
            indexed(lance(uri="s4://bucket/tables"), chunks("rain"))

    def test_a_table_is_written_and_searched_in_an_object_store(self, s3):
        uri = f"{s3}/deep/tables"
        index = indexed(lance("hybrid", uri=uri), chunks(*TEXTS))
        truth = indexed(lance("hybrid"), chunks(*TEXTS)).search(QUERIES, 5)
        assert same(index.search(QUERIES, 5), truth)
        connected(uri).drop_table(connected(uri).list_tables().tables[0])
        with pytest.raises(PluginError, match="has no whole table"):
            lance("hybrid", uri=uri).search(Index(index.index.contents), ["rain"], 1)


def test_first_hits_asks_for_more_until_all_ties_are_there():
    from ohr.retrievers.engines.hits import first_hits

    asked = []

    def search(queries, most):
        asked.append((list(queries), most))
        scores = {"all": [1.0] * 50, "none": [float(50 - place) for place in range(50)]}
        return [[Hit(49 - place, score) for place, score in enumerate(scores[query])][:most] for query in queries]

    ranked = first_hits(search, ["all", "none"], 3, 50)
    assert places(ranked) == [[0, 1, 2], [49, 48, 47]]
    assert asked == [(["all", "none"], 4), (["all"], 16), (["all"], 50)]


@pytest.mark.parametrize("uri", ["foo://x", "http://a/b"])
def test_a_place_that_lancedb_does_not_know_is_an_error_before_any_work(uri):
    with pytest.raises(PluginError, match=f"cannot use `uri: {uri}`: .*scheme.*; name a folder, or an object store"):
        lance(uri=uri).check()


@pytest.mark.parametrize("below", ["", "/tables"])
def test_a_file_in_place_of_a_folder_is_an_error_before_any_work(tmp_path, below):
    (tmp_path / "file").write_text("")
    message = f"must be a folder or object store, and {tmp_path}/file is a file"
    with pytest.raises(PluginError, match=message):
        lance(uri=f"{tmp_path}/file{below}").check()


def test_a_check_makes_no_folder(tmp_path):
    lance(uri=f"{tmp_path}/new/tables").check()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", ["dense", pytest.param("hybrid", marks=pytest.mark.acceptance), "text"])
def test_equal_chunks_at_several_places_keep_their_order_for_many_questions(mode):
    numbers = np.random.default_rng(5).integers(0, 30, 300)
    some = [f"n{number} rain" for number in numbers]
    questions = [f"n{number} rain" for number in range(64)]
    for ranking in indexed(lance(mode), chunks(*some)).search(questions, 20):
        found = {}
        for hit in ranking:
            found.setdefault(some[hit.place], []).append(hit)
        for text, hits in found.items():
            all_places = [place for place, each in enumerate(some) if each == text]
            assert [hit.place for hit in hits] == all_places[: len(hits)]
            assert mode == "hybrid" or len({hit.score for hit in hits}) == 1
