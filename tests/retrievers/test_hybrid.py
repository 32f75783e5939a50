import pytest
from pydantic import ValidationError

from ohr.contracts import Chunk, Hit
from ohr.keys import identity
from ohr.retrievers.hybrid import Hybrid
from ohr.retrievers.lexical.bm25 import BM25
from ohr.testing import indexed


def chunks(*texts):
    return [Chunk(str(place), "d/a", (0,), 0, len(text), text) for place, text in enumerate(texts)]


class Fixed(BM25):
    """Finds the given passages."""

    hits: tuple[tuple[int, float], ...]

    def search(self, index, queries, k):
        return [[Hit(*hit) for hit in self.hits[:k]] for _ in queries]


def joined(*rankings, **options):
    hybrid = Hybrid(retrievers=[Fixed(hits=ranking) for ranking in rankings], **options)
    (hits,) = indexed(hybrid).search(["x"], 9)
    return {hit.place: hit.score for hit in hits}


def test_ranks_are_joined_by_their_reciprocals():
    assert joined([(4, 9.0), (2, 3.0)], [(2, 0.5), (7, 0.1)]) == pytest.approx(
        {2: 1 / 62 + 1 / 61, 4: 1 / 61, 7: 1 / 62}
    )


def test_scores_are_brought_to_one_scale():
    given = joined([(4, 9.0), (2, 3.0), (1, 6.0)], [(2, 0.5), (7, 0.1)], fusion="scores", weights=[1, 2])
    assert given == pytest.approx({2: 2.0, 4: 1.0, 1: 0.5, 7: 0.0})


def test_equal_scores_share_a_rank():
    assert joined([(4, 1.0), (5, 1.0), (6, 0.5)], rrf_k=1) == pytest.approx({4: 1 / 2, 5: 1 / 2, 6: 1 / 4})


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
    ("part", "message"),
    [
        ({"kind": "bm52"}, "Did you mean 'bm25'"),
        ({"kind": "bm25", "k1": -1}, "bm25: k1: Input should be greater than 0"),
        ({"kind": "bm25", "k2": 1}, "bm25: k2: Extra inputs are not permitted"),
        ({}, "no retriever 'None'"),
        (3, "instance of AnyRetriever"),
    ],
)
def test_a_wrong_part_is_reported(part, message):
    with pytest.raises(ValidationError, match=message):
        Hybrid(retrievers=[part])


def test_weights_must_be_as_many_as_the_parts():
    with pytest.raises(ValidationError, match="2 numbers of at least 0"):
        Hybrid(retrievers=[{"kind": "bm25"}, {"kind": "dense"}], weights=[1])


def test_hybrids_hold_hybrids():
    inner = {"kind": "hybrid", "retrievers": [{"kind": "bm25"}]}
    hybrid = Hybrid(retrievers=[inner, {"kind": "bm25", "variant": "atire"}])
    index = indexed(hybrid, chunks("rain on the wall", "lease", "rent is due"))
    assert [hits[0].place for hits in index.search(["rent", "rain"], 1)] == [2, 0]


def test_only_text_makes_no_vision_retriever():
    assert not Hybrid(retrievers=[{"kind": "bm25"}]).reads_images


def test_an_arm_that_looks_at_the_truth_cannot_be_joined():
    with pytest.raises(ValidationError, match="oracle looks at the truth about a question, not at its words"):
        Hybrid(retrievers=[{"kind": "bm25"}, {"kind": "oracle"}])
