from typing import Literal

import numpy as np
import pytest
from pydantic import ValidationError

from ohr.contracts import Chunk, Hit, Index, PageRetriever, Resources
from ohr.retrievers.gmm import Gmm, filled_up, high
from ohr.testing import check_retriever, indexed
from ohr.work.plugin_checks import checked_hits

from .corpus import chunks


def ranked(*scores):
    return [Hit(place, score) for place, score in enumerate(scores)]


def falling(first, count, step):
    return [first - step * place for place in range(count)]


class Pixels(PageRetriever):
    """Finds a page by the first of its pixels, as the query names it."""

    kind: Literal["pixels"] = "pixels"

    def index_images(self, images):
        return Index({"pixels": [int(image[0, 0, 0]) for image in images]}, ["a page is dark"])

    def search(self, index, queries, k):
        scored = (
            [Hit(place, -abs(pixel - len(query))) for place, pixel in enumerate(index["pixels"])] for query in queries
        )
        return [sorted(hits, key=lambda hit: (-hit.score, hit.place))[:k] for hits in scored]


class Fixed(Pixels):
    """Finds the given hits."""

    hits: tuple[tuple[int, float], ...]

    def search(self, index, queries, k):
        return [[Hit(*hit) for hit in self.hits[:k]] for _ in queries]


def found(*rankings, k=10, places=None):
    places = places or [("d/a", page) for page in range(200)]
    parts = [Fixed(hits=[(hit.place, hit.score) for hit in ranking]) for ranking in rankings]
    pages = [Chunk(str(place), document, (page,), 0, 0, "") for place, (document, page) in enumerate(places)]
    (hits,) = indexed(Gmm(retrievers=parts), pages).search(["x"], k)
    return checked_hits(hits, len(places), k)


LOW = falling(0.3, 17, 0.01)


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        (falling(0.9, 7, 0.005) + LOW[:13], 7),
        (falling(0.9, 3, 0.005) + LOW, 5),
        (falling(0.9, 14, 0.005) + LOW[:6], 10),
        ([0.5] * 20, 10),
        ([0.5], 1),
        ([], 0),
        ([0.9, 0.1], 2),
    ],
)
def test_the_high_scores_are_kept_at_least_half_of_k_and_at_most_k(scores, kept):
    hits = ranked(*scores)
    assert found(hits) == high(hits, 10) == hits[:kept]


def test_only_twice_k_scores_are_fitted():
    hits = ranked(*falling(0.9, 3, 0.005), *falling(0.3, 197, 0.001))
    assert found(hits, k=4) == hits[:3]


@pytest.mark.parametrize("scores", [[1.0, 1.0 - 1e-16, 0.5], [1e-9, 0.5e-9, 0.4e-9], [1e12, 1.0, 0.0], [-1.0, -9.0]])
def test_odd_scores_give_a_ranking_without_a_warning(scores):
    assert 0 < len(found(ranked(*scores), k=2)) <= 2


def test_a_wide_low_gaussian_does_not_hide_the_best_score():
    # the scores in the middle are likelier in the narrow Gaussian
    hits = ranked(*np.sort(np.r_[9.0, 1.0, np.linspace(5.0, 5.1, 18)])[::-1].tolist())
    kept = found(hits)
    assert kept[0] == hits[0]
    assert [hit.score for hit in kept] == sorted((hit.score for hit in kept), reverse=True)


def test_a_union_is_filled_up_with_common_places_first():
    assert filled_up([3, 5, 1], [[3, 5, 2, 4], [1, 4]]) == [3, 5, 1, 4]
    assert filled_up([3, 5, 1, 2, 4], [[3, 5, 2, 4, 7], [1, 9]]) == [3, 5, 1, 2, 4, 7]
    assert filled_up([3, 5], [[3, 5, 2, 4], [1, 4]]) == [3, 5]
    assert filled_up([], [[], [], []]) == []
    assert filled_up([8, 9, 7], [[8], [9], [7]]) == [8, 9, 7]
    assert filled_up(list(range(25)), [list(range(30))]) == list(range(25))


def test_a_union_is_ordered_by_documents_as_found_and_by_page():
    places = [("d/a", 4), ("d/b", 2), ("d/a", 1), ("d/b", 0), ("d/c", 0), ("d/a", 1)]
    first, second = [Hit(1, 1.0), Hit(0, 1.0)], [Hit(5, 2.0), Hit(3, 2.0), Hit(2, 2.0), Hit(4, 2.0)]
    hits = found(first, second, places=places)
    assert [hit.place for hit in hits] == [3, 1, 2, 5, 0, 4]
    assert [hit.score for hit in hits] == [0.0, -1.0, -2.0, -3.0, -4.0, -5.0]


def test_a_union_of_more_than_k_loses_its_last_pages_as_published():
    first = ranked(*falling(0.9, 7, 0.005), *LOW[:13])
    second = [Hit(59 - hit.place, hit.score) for hit in first]
    # 14 pages are filled up to 16 with pages 7 and 8; the second part's best, 59, is beyond the tenth
    assert [hit.place for hit in found(first, second)] == [*range(9), 53]


def test_parts_agree_on_few_pages():
    hits = ranked(*falling(0.9, 7, 0.005), *LOW[:13])
    assert [hit.place for hit in found(hits, hits)] == list(range(9))


def test_one_retriever_alone_conforms():
    check_retriever(Gmm(retrievers=[{"kind": "bm25"}]))


def test_without_parts_and_without_hits_there_is_nothing():
    assert found(ranked(1.0), k=0) == []
    with pytest.raises(ValidationError, match="at least 1 item"):
        Gmm(retrievers=[])


def test_pages_are_found_by_image_and_by_text():
    images = [np.full((1, 1, 3), 200 * (place > 0), np.uint8) for place in range(8)]
    gmm = Gmm(retrievers=[Pixels(), {"kind": "bm25"}])
    index = indexed(gmm, chunks(*"abcdefgh"), images)
    (hits,) = index.search(["h"], 2)
    assert [hit.place for hit in hits] == [0, 7]  # the first page by its pixel, the last one by its letter
    assert (index.notes, gmm.resources()) == (("pixels: a page is dark",), Resources())
