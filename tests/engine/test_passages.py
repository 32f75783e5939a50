"""The passages of an index, held in memory or read from the store again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohr.contracts import Chunk
from ohr.steps.retrieval import indexing
from ohr.steps.retrieval.indexing import read_passages
from ohr.store import open_store

from .conftest import rows

TEXTS = st.lists(st.lists(st.sampled_from(["rain on the wall", "—", "lease"]), max_size=5), max_size=70)


def documents(texts):
    return [
        [Chunk(f"d{n}:{at}", f"d{n}", (at // 2,), 0, len(text), text) for at, text in enumerate(each)]
        for n, each in enumerate(texts)
    ]


@settings(max_examples=30, deadline=None)
@given(texts=TEXTS)
def test_passages_that_stay_in_the_store_are_those_that_are_held(texts, tmp_path_factory):
    store = open_store(tmp_path_factory.mktemp("store"))
    made = documents(texts)
    keys = [f"{n:064x}" for n in range(len(made))]
    store.put_many(dict(zip(keys, made, strict=True)))
    every = [chunk for document in made for chunk in document]
    held = read_passages(store, [*keys, None])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "_HELD", -1)
        stored = read_passages(store, [*keys, None])
    assert held.chunks == every
    assert list(stored.chunks) == [stored.chunks[place] for place in range(len(every))] == every
    assert stored.chunks[::2] == every[::2]
    assert stored.chunks[-1:] == every[-1:]
    assert stored.at({0, len(every) - 1} if every else ()) == held.at({0, len(every) - 1} if every else ())
    assert (stored.filled, stored.blank) == (held.filled, held.blank)
    assert held.filled == len({(chunk.document, chunk.pages) for chunk in every})
    assert held.blank == sum(chunk.text == "—" for chunk in every)
    for place in (len(every), -len(every) - 1):
        with pytest.raises(IndexError):
            stored.chunks[place]


SPEC = """\
benchmark: {kind: mini}
sample: 12
knowledge_bases: [{name: clean}, {name: misread, text_noise: {kind: channel, rate: 0.3}}]
chunker: {kind: tokens, size: 128}
retrievers: [{kind: hybrid, retrievers: [{kind: bm25}, {kind: bm25_reference}], top_k: 5}]
evaluate: [retrieval]
"""


@pytest.mark.acceptance
def test_a_run_whose_passages_stay_in_the_store_has_the_same_scores(home, monkeypatch):
    whole = home.run(SPEC)
    scores = repr(rows(whole))
    monkeypatch.setattr(indexing, "_HELD", -1)
    stored = home.run_file(home.write(SPEC), fresh="retrieval")
    assert stored.ledger.calls["indexes"] == 6  # of the hybrid and its two parts, on two knowledge bases
    assert repr(rows(stored)) == scores


def of_the_hybrid(scores):
    return repr(
        sorted((row["question_id"], row["metric"], row["value"]) for row in scores if row["retriever"] == "hybrid")
    )


def test_retrievers_inside_others_share_the_index_of_an_equal_one(home):
    clean = SPEC.replace(", {name: misread, text_noise: {kind: channel, rate: 0.3}}", "")
    alone = of_the_hybrid(rows(home.run(clean)))
    both = clean.replace("retrievers: [", "retrievers: [{kind: bm25}, {kind: bm25_reference, top_k: 1}, ", 1)
    again = home.run(both)
    assert (again.ledger.calls["indexes"], again.ledger.calls["searches"]) == (0, 24)
    fresh = home.run_file(home.write(both), fresh="retrieval")
    assert (fresh.ledger.calls["indexes"], fresh.ledger.calls["searches"]) == (3, 36)
    assert of_the_hybrid(rows(fresh)) == alone


def test_an_index_that_lost_one_of_its_parts_is_made_whole_again(home):
    clean = SPEC.replace(", {name: misread, text_noise: {kind: channel, rate: 0.3}}", "")
    whole = repr(rows(home.run(clean)))
    store = open_store(str(home.store))
    _, *parts = sorted((home.store / "folders").iterdir(), key=lambda folder: len(list(folder.iterdir())))
    store.discard([parts[0].name])
    again = home.run(clean, "retrievers.0.top_k=6")
    assert (again.ledger.calls["indexes"], again.ledger.calls["searches"]) == (1, 12)
    assert repr(rows(home.run(clean))) == whole
