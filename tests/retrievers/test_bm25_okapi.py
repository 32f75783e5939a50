import pytest
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from ohr.contracts import Chunk
from ohr.retrievers import bm25_okapi

TEXTS = ["rain fell on harbour wall", "lease of harbour", "rent due in may", "harbour harbour rain", "harbour lease"]


@pytest.mark.parametrize(("variant", "library"), [("okapi", BM25Okapi), ("l", BM25L), ("plus", BM25Plus)])
def test_scores_are_the_library_s(variant, library):
    chunks = [Chunk(str(place), "d/a", (0,), 0, len(text), text) for place, text in enumerate(TEXTS)]
    expected = library([text.split() for text in TEXTS]).get_scores(["harbour", "rent"])
    (hits,) = bm25_okapi.BM25Okapi(variant=variant).index(chunks).search(["harbour rent"], 9)
    assert {hit.place: hit.score for hit in hits} == dict(enumerate(expected))
