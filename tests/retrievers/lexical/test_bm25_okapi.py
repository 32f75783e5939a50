import pytest
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from ohr.contracts import Chunk
from ohr.retrievers.lexical.bm25 import BM25Okapi as Okapi
from ohr.retrievers.lexical.bm25 import BM25Reference
from ohr.testing import indexed

TEXTS = ["rain fell on harbour wall", "lease of harbour", "rent due in may", "harbour harbour rain", "harbour lease"]
CHUNKS = [Chunk(str(place), "d/a", (0,), 0, len(text), text) for place, text in enumerate(TEXTS)]


@pytest.mark.parametrize(("variant", "library"), [("okapi", BM25Okapi), ("l", BM25L), ("plus", BM25Plus)])
def test_scores_are_the_library_s(variant, library):
    expected = library([text.split() for text in TEXTS]).get_scores(["harbour", "rent"])
    (hits,) = indexed(Okapi(variant=variant), CHUNKS).search(["harbour rent"], 9)
    assert {hit.place: hit.score for hit in hits} == {place: expected[place] for place in (0, 1, 2, 3, 4)}


@pytest.mark.parametrize("variant", ["okapi", "l", "plus"])
def test_a_chunk_without_a_word_of_the_query_is_not_found(variant):
    index = indexed(Okapi(variant=variant), CHUNKS)
    assert index.search(["unseen words", "?!", ""], 9) == [[], [], []]
    assert [hit.place for hit in index.search(["rent"], 9)[0]] == [2]


def test_a_match_is_found_though_its_score_is_0_or_less():
    (halves,) = indexed(Okapi(), CHUNKS[1:3]).search(["rent"], 9)
    assert [(hit.place, hit.score) for hit in halves] == [(1, 0)]
    common = [Chunk(str(place), "d/a", (0,), 0, 4, "rent") for place in range(3)]
    (all_of_them,) = indexed(Okapi(), common).search(["rent"], 9)
    assert [hit.place for hit in all_of_them] == [0, 1, 2]
    assert all(hit.score < 0 for hit in all_of_them)


def test_with_ohrbench_s_words_the_library_scores_as_bm25_reference():
    asked = ["rains on harbours", "the lease", "absent"]
    theirs, ours = (
        indexed(plugin, CHUNKS).search(asked, 9) for plugin in (Okapi(tokenizer="ohrbench"), BM25Reference())
    )
    assert [len(hits) for hits in theirs] == [4, 2, 0]
    for same, hits in zip(ours, theirs, strict=True):  # the reference finds chunks without a word of the query too
        assert [hit.place for hit in same[: len(hits)]] == [hit.place for hit in hits]
        assert [hit.score for hit in same[: len(hits)]] == pytest.approx([hit.score for hit in hits], abs=1e-12)
