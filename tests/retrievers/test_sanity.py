from collections import Counter

import pytest

from ohr.contracts import Chunk, Question, Relevant
from ohr.retrievers.sanity import Oracle, Random, Shuffle, WholeDocument
from ohr.testing import indexed

CHUNKS = [
    Chunk(
        f"{document}:{page}:{half}",
        document,
        (page,),
        40 * half,
        40 * half + 40,
        f"{document} {page} half {half} {word}",
    )
    for document in ("law/a", "law/b", "finance/c")
    for page in range(3)
    for half, word in enumerate(("rain", "harbour"))
]


def question(document="law/a", pages=(1,), evidence=("The harbour.",), **more):
    return Question("q", "Where is it?", ("x",), document, pages, evidence, "text", document.split("/")[0], **more)


def found(retriever, asked):
    (hits,) = retriever.search_questions(indexed(retriever, CHUNKS).index, [asked], retriever.top_k)
    return [CHUNKS[hit.place].id for hit in hits]


def test_the_oracle_finds_the_own_page_and_the_evidence_first():
    assert found(Oracle(), question()) == ["law/a:1:1", "law/a:1:0"]
    assert found(Oracle(top_k=1), question(evidence=("rain",))) == ["law/a:1:0"]
    assert set(found(Oracle(top_k=9), question(pages=(2, 0)))) == {f"law/a:{p}:{h}" for p in (0, 2) for h in (0, 1)}


def test_the_oracle_finds_nothing_of_an_absent_page():
    assert found(Oracle(), question(pages=(7,))) == []


def test_an_oracle_finds_the_highest_grade_first_in_all_documents():
    graded = question(relevant=(Relevant("law/a", 2, 1), Relevant("law/b", 0, 3), Relevant("law/a", 0, 0)))
    assert found(Oracle(top_k=9), graded)[:2] == ["law/b:0:1", "law/b:0:0"]
    assert {place.rpartition(":")[0] for place in found(Oracle(top_k=9), graded)} == {"law/b:0", "law/a:2"}


@pytest.mark.parametrize("seed", range(9))
def test_shuffle_draws_from_other_documents_of_the_domain(seed):
    drawn = found(Shuffle(seed=seed, top_k=3), question())
    assert len(set(drawn)) == 3
    assert {name.split(":")[0] for name in drawn} == {"law/b"}
    assert drawn == found(Shuffle(seed=seed, top_k=3), question())


def test_shuffle_takes_any_domain_where_its_own_has_one_document():
    assert {name.split("/")[0] for name in found(Shuffle(top_k=9), question("finance/c"))} == {"law"}


def test_random_draws_from_the_whole_index_with_equal_chances():
    drawn = [found(Random(seed=seed, top_k=2), question()) for seed in range(400)]
    assert all(len(set(pair)) == 2 for pair in drawn)
    counts = Counter(name for pair in drawn for name in pair)
    expected = 800 / len(CHUNKS)
    assert set(counts) == {chunk.id for chunk in CHUNKS}
    assert all(abs(count - expected) < 4.5 * expected**0.5 for count in counts.values())


def test_random_draws_all_chunks_where_there_are_fewer_than_asked_for():
    assert len(set(found(Random(top_k=99), question()))) == len(CHUNKS)


def test_seeds_differ():
    assert len({tuple(found(Shuffle(seed=seed), question())) for seed in range(20)}) > 5


def test_the_whole_document_is_found_in_reading_order():
    assert found(WholeDocument(), question("law/b")) == [f"law/b:{page}:{half}" for page in range(3) for half in (0, 1)]
    assert found(WholeDocument(top_k=1), question("law/b")) == ["law/b:0:0"]
    assert found(WholeDocument(), question("law/absent")) == []
