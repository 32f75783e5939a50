import pytest
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from ohr.contracts import Chunk
from ohr.retrievers.lexical import bm25_okapi
from ohr.retrievers.lexical.bm25_reference import BM25Reference

TEXTS = ["rain fell on harbour wall", "lease of harbour", "rent due in may", "harbour harbour rain", "harbour lease"]
CHUNKS = [Chunk(str(place), "d/a", (0,), 0, len(text), text) for place, text in enumerate(TEXTS)]


@pytest.mark.parametrize(("variant", "library"), [("okapi", BM25Okapi), ("l", BM25L), ("plus", BM25Plus)])
def test_scores_are_the_library_s(variant, library):
    expected = library([text.split() for text in TEXTS]).get_scores(["harbour", "rent"])
    (hits,) = bm25_okapi.BM25Okapi(variant=variant).index(CHUNKS).search(["harbour rent"], 9)
    assert {hit.place: hit.score for hit in hits} == dict(enumerate(expected))


def test_with_ohrbench_s_words_the_library_scores_as_bm25_reference():
    asked = ["rains on harbours", "the lease", "absent"]
    theirs, ours = (
        plugin.index(CHUNKS).search(asked, 9)
        for plugin in (bm25_okapi.BM25Okapi(tokenizer="ohrbench"), BM25Reference())
    )
    assert [[hit.place for hit in hits] for hits in ours] == [[hit.place for hit in hits] for hits in theirs]
    assert [[hit.score for hit in hits] for hits in ours] == [
        pytest.approx([hit.score for hit in hits], abs=1e-12) for hits in theirs
    ]
