import pytest
from pydantic import ValidationError

from ohr.contracts import Hit
from ohr.keys import identity
from ohr.retrievers.gmm import Gmm
from ohr.retrievers.hybrid import Hybrid
from ohr.retrievers.lexical.bm25 import BM25
from ohr.testing import indexed

from .corpus import chunks


class Fixed(BM25):
    """Finds the given passages."""

    hits: tuple[tuple[int, float], ...]

    def search(self, index, queries, k):
        return [[Hit(*hit) for hit in self.hits[:k]] for _ in queries]


def joined(*rankings, **options):
    hybrid = Hybrid(retrievers=[Fixed(hits=ranking) for ranking in rankings], **options)
    (hits,) = indexed(hybrid).search(["x"], 9)
    return {hit.place: hit.score for hit in hits}


FIRST, SECOND = [(4, 9.0), (2, 3.0)], [(2, 0.5), (7, 0.1)]


@pytest.mark.parametrize(
    ("rankings", "how", "scores"),
    [
        ([FIRST, SECOND], {}, {2: 1 / 62 + 1 / 61, 4: 1 / 61, 7: 1 / 62}),
        ([[*FIRST, (1, 6.0)], SECOND], {"fusion": "scores", "weights": [1, 2]}, {2: 2.0, 4: 1.0, 1: 0.5, 7: 0.0}),
        ([[(4, 1.0), (5, 1.0), (6, 0.5)]], {"rrf_k": 1}, {4: 1 / 2, 5: 1 / 2, 6: 1 / 4}),  # equal scores share a rank
    ],
)
def test_rankings_are_joined_by_ranks_or_by_scores_on_one_scale(rankings, how, scores):
    assert joined(*rankings, **how) == pytest.approx(scores)


def test_a_weight_of_zero_leaves_the_other_ranking():
    assert list(joined([(4, 9.0), (2, 3.0)], [(2, 0.5)], weights=[1, 0]))[:2] == [4, 2]


def test_without_retrievers_it_joins_bm25_and_dense():
    assert [part.kind for part in Hybrid().retrievers] == ["bm25", "dense"]
    assert Hybrid() == Hybrid(retrievers=[{"kind": "bm25"}, {"kind": "dense"}])


def test_parts_are_read_from_their_mappings_and_keyed_by_content():
    one = Hybrid.model_validate({"kind": "hybrid", "retrievers": [{"kind": "bm25", "k1": 2.0}]})
    assert one.retrievers == (BM25(k1=2.0),)
    assert identity(one) != identity(Hybrid(retrievers=[{"kind": "bm25"}]))
    assert identity(Hybrid(retrievers=[{"kind": "bm25", "top_k": 7}])) == identity(Hybrid(retrievers=[BM25()]))
    batch = [{"kind": "dense", "batch_size": size} for size in (1, 2)]
    assert identity(Hybrid(retrievers=batch[:1])) == identity(Hybrid(retrievers=batch[1:]))


@pytest.mark.parametrize(
    ("parts", "how", "message"),
    [
        ([{"kind": "bm52"}], {}, "Did you mean 'bm25'"),
        ([{"kind": "bm25", "k1": -1}], {}, "bm25: k1: Input should be greater than 0"),
        ([{"kind": "bm25", "k2": 1}], {}, "bm25: k2: Extra inputs are not permitted"),
        ([{}], {}, "no retriever 'None'"),
        ([3], {}, "instance of AnyRetriever"),
        ([{"kind": "bm25"}, {"kind": "oracle"}], {}, "oracle looks at the truth about a question, not at its words"),
        ([{"kind": "bm25"}, {"kind": "dense"}], {"weights": [1]}, "2 numbers of at least 0"),
    ],
)
def test_a_wrong_part_or_weight_is_reported(parts, how, message):
    with pytest.raises(ValidationError, match=message):
        Hybrid(retrievers=parts, **how)


def test_hybrids_hold_hybrids():
    inner = {"kind": "hybrid", "retrievers": [{"kind": "bm25"}]}
    hybrid = Hybrid(retrievers=[inner, {"kind": "bm25", "variant": "atire"}])
    index = indexed(hybrid, chunks("rain on the wall", "lease", "rent is due"))
    assert [hits[0].place for hits in index.search(["rent", "rain"], 1)] == [2, 0]


def test_it_reads_images_where_a_part_does():
    assert Hybrid(retrievers=[{"kind": "bm25"}, {"kind": "colqwen", "model": "x"}]).reads_images
    assert not Hybrid(retrievers=[{"kind": "bm25"}]).reads_images


@pytest.mark.parametrize("kind", ["hybrid", "gmm"])
def test_a_retriever_that_wraps_one_of_several_parts_gets_its_whole_index(kind):
    inner = {"hybrid": Hybrid, "gmm": Gmm}[kind](retrievers=[{"kind": "bm25"}, {"kind": "bm25", "variant": "atire"}])
    texts = chunks("rain on the wall", "lease", "rent is due")
    index = inner.index_passages(texts, ())
    assert inner.search(index, ["rent", "rain"], 1) == indexed(inner, texts).search(["rent", "rain"], 1)
