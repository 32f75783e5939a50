import shutil
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohr.errors import MissingExtra, PluginError, StoreError
from ohr.files import indexes
from ohr.retrievers.engines.tantivy import Tantivy
from ohr.retrievers.lexical.bm25 import BM25
from ohr.store import open_store
from ohr.testing import indexed

from ..corpus import chunks

WORDS = ("rain", "harbour", "lease", "rent", "may", "wall", "x1")
corpora = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=9)
queries = st.lists(st.sampled_from([*WORDS[:4], "absent"]), max_size=5).map(" ".join)
few = settings(max_examples=15, deadline=None)


def formula(texts, query, length=len):
    """BM25 as Tantivy states it: k1 = 1.2, b = 0.75; `length` is that of a list of words, as it is kept."""
    bags = [text.split() for text in texts]
    mean = sum(map(len, bags)) / len(bags)
    scores = {}
    for place, bag in enumerate(bags):
        for word in query.split():
            if count := bag.count(word):
                holders = sum(word in other for other in bags)
                idf = log(1 + (len(bags) - holders + 0.5) / (holders + 0.5))
                scores.setdefault(place, 0.0)
                scores[place] += idf * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length(bag) / mean))
    return scores


@few
@given(corpora, queries)
def test_scores_are_those_of_the_formula(texts, query):
    (hits,) = indexed(Tantivy(), chunks(*texts)).search([query], 99)
    assert {hit.place: hit.score for hit in hits} == pytest.approx(formula(texts, query), rel=1e-5)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.place))


def test_a_length_above_40_words_counts_as_the_next_lower_step():
    texts = ["rain " * 40, "rain " * 149 + "wall", "wall"]
    (hits,) = indexed(Tantivy(), chunks(*texts)).search(["rain wall"], 9)
    kept = {40: 40, 150: 144, 1: 1}
    assert {hit.place: hit.score for hit in hits} == pytest.approx(
        formula(texts, "rain wall", lambda bag: kept[len(bag)]), rel=1e-5
    )


def test_the_ranking_is_close_to_that_of_bm25_with_the_same_constants():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in rng.zipf(1.3, rng.integers(20, 200)) if word < 5000) for _ in range(500)]
    asked = [" ".join(f"w{word}" for word in rng.integers(1, 300, 6)) for _ in range(50)]
    ours, theirs = (indexed(kind, chunks(*texts)).search(asked, 10) for kind in (Tantivy(), BM25(k1=1.2, b=0.75)))
    shared = [len({hit.place for hit in a} & {hit.place for hit in b}) / 10 for a, b in zip(ours, theirs, strict=True)]
    assert np.mean(shared) > 0.9
    assert sum(a[0].place == b[0].place for a, b in zip(ours, theirs, strict=True)) >= 45


@pytest.mark.parametrize("tokenizer", ["words", "stems", "whitespace", "ohrbench"])
@few
@given(texts=st.lists(st.text(max_size=12), max_size=5), query=st.text(max_size=6))
def test_a_chunk_is_found_where_bm25_finds_it(tokenizer, texts, query):
    ours, theirs = (
        indexed(kind(tokenizer=tokenizer), chunks(*texts)).search([query, *texts], 9) for kind in (Tantivy, BM25)
    )
    assert [{hit.place for hit in hits} for hits in ours] == [{hit.place for hit in hits} for hits in theirs]


@pytest.mark.parametrize("query", ['rain AND "wall', "words:rain^2", "-rain", "(rain", "rain*", "[a TO z] rain~2", "*"])
def test_a_query_is_never_parsed(query):
    index = indexed(Tantivy(tokenizer="whitespace"), chunks("rain wall", "lease", query))
    assert index.search([query], 1)[0][0].place == 2
    assert {hit.place for hit in index.search([query], 9)[0]} <= {0, 2}


def test_words_of_a_query_count_as_often_as_they_are_there():
    index = indexed(Tantivy(), chunks("rain", "wall", "lease"))
    once, twice = (hits[0].score for hits in index.search(["rain", "rain rain"], 1))
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize(
    "odd", ["a\0b", "a\ud800b", "\udfff", "\N{SNOWMAN}", "e\u0301", "x" * 30_000, "a\x1cb", "\u3000x"]
)
def test_odd_words_are_found(odd):
    index = indexed(Tantivy(tokenizer="whitespace"), chunks("rain", odd, ""))
    assert [hit.place for hit in index.search([odd], 3)[0]] == [1]


def test_a_word_longer_than_a_term_can_be_is_left_out():
    index = indexed(Tantivy(tokenizer="whitespace"), chunks("x" * 70_000 + " rain"))
    assert [len(hits) for hits in index.search(["x" * 70_000, "rain"], 3)] == [0, 1]


@pytest.mark.acceptance
def test_ties_are_in_the_order_of_the_chunks_over_segments_too(monkeypatch):
    # the smallest writer there is, so that the corpus fills several segments
    monkeypatch.setattr("ohr.retrievers.engines.tantivy._HEAP", 15_000_000)
    rng = np.random.default_rng(0)
    others = [" ".join(f"v{word}" for word in rng.integers(0, 10**6, 400)) for _ in range(2000)]
    for place in range(0, 2000, 50):
        others[place] = "rain fell on the wall"
    index = indexed(Tantivy(), chunks(*others))
    from tantivy import Index

    assert Index.open(str(index.index["tantivy"])).searcher().num_segments > 1
    for k in (1, 3, 39, 40, 99):
        assert [hit.place for hit in index.search(["rain on a wall"], k)[0]] == list(range(0, 2000, 50))[:k]


def test_searching_leaves_the_files_as_they_are():
    index = indexed(Tantivy(), chunks("rain", "wall"))
    files = {path: path.read_bytes() for path in index.index["tantivy"].iterdir()}
    assert index.search(["rain"], 1)[0]
    assert {path: path.read_bytes() for path in index.index["tantivy"].iterdir()} == files


@pytest.mark.parametrize("harm", ["cut", "empty", "gone", "no folder", "other version"])
def test_a_damaged_folder_is_reported_with_what_helps(harm):
    index = indexed(Tantivy(), chunks("rain", "wall"))
    folder: Path = index.index["tantivy"]
    words = next(folder.glob("*.idx"))
    if harm == "cut":
        words.write_bytes(words.read_bytes()[:-20])
    elif harm == "empty":
        words.write_bytes(b"")
    elif harm == "gone":
        words.unlink()
    elif harm == "no folder":
        shutil.rmtree(folder)
    else:
        about = folder / "meta.json"
        about.write_text(about.read_text().replace('"text"', '"another"'))
    with pytest.raises(PluginError, match=r"cannot open its index .*; remove the folder, and the next run makes it"):
        index.search(["rain"], 1)


def test_a_stored_folder_that_was_cut_is_made_again(tmp_path):
    store = open_store(str(tmp_path))
    made = Tantivy().index(chunks("rain", "wall"))
    key = "ab" * 32
    folder = store.put_folder(key, lambda path: indexes.save(made, path))
    words = next((folder / "tantivy").glob("*.idx"))
    words.write_bytes(words.read_bytes()[:-20])
    assert store.folder(key) is None


def test_a_full_disk_is_the_store_s_error(tmp_path, monkeypatch):
    import tantivy

    def full(*_, **__):
        raise ValueError("An IO error occurred: 'No space left on device (os error 28)'")  # its words, on a full tmpfs

    monkeypatch.setattr(tantivy, "Document", full)
    made = Tantivy().index(chunks("rain"))
    with pytest.raises(StoreError, match="the disk is full"):
        open_store(str(tmp_path)).put_folder("ab" * 32, lambda path: indexes.save(made, path))


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setattr("ohr.extras.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ohr\[tantivy\]'"):
        Tantivy().check()
