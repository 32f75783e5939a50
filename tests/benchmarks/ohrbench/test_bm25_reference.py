import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Chunk
from ohr.retrievers.lexical.bm25 import BM25Reference
from ohr.retrievers.lexical.words import STOPWORDS
from ohr.testing import indexed

WORDS = ["rain", "rains", "raining", "harbour", "Lease", "leases", "the", "1,234", "合同", "x_1", "dying", ""]
corpora = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=9)
queries = st.lists(st.sampled_from([*WORDS, "absent"]), max_size=6).map(" ".join)


def chunks(*texts):
    return [Chunk(str(place), "d/a", (0,), 0, len(text), text) for place, text in enumerate(texts)]


def found(texts, query, k=99):
    (hits,) = indexed(BM25Reference(), chunks(*texts)).search([query], k)
    return [hit.place for hit in hits]


@given(corpora.filter(lambda texts: any(set(text.lower().split()) - {"the"} for text in texts)), queries)
def test_scores_and_order_are_those_of_rank_bm25(naive, texts, query):
    theirs = naive.BM25Okapi([naive.tokenise(text, STOPWORDS) for text in texts])
    scores = theirs.get_scores(naive.tokenise(query, STOPWORDS))
    (hits,) = indexed(BM25Reference(), chunks(*texts)).search([query], 99)
    assert [hit.score for hit in hits] == pytest.approx(sorted(scores, reverse=True), abs=1e-12)
    assert {hit.place: hit.score for hit in hits} == pytest.approx(dict(enumerate(scores)), abs=1e-12)


@given(corpora, queries, st.integers(1, 5))
def test_the_best_k_are_the_first_k_of_all(texts, query, k):
    assert found(texts, query, k) == found(texts, query)[:k]


def test_ties_come_in_the_order_of_the_chunks():
    assert found(["oak", "rain", "wall", "rain", "may", "rent"], "rain", 3) == [1, 3, 0]


def test_where_nothing_matches_the_first_chunks_are_found():
    assert found(["oak", "rain", "wall"], "absent", 2) == [0, 1]
    assert found(["oak", "rain", "wall"], "", 2) == [0, 1]


def test_a_corpus_without_a_word_gives_the_first_chunks():
    index = indexed(BM25Reference(), chunks("", "the", "..."))
    assert [hit.place for hit in index.search(["rain"], 2)[0]] == [0, 1]
