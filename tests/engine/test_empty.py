"""Pages without text, passages without words, and knowledge bases that are too small are reported, run after run."""

from .conftest import values

BASE = """benchmark: {kind: tiny, size: 1}
knowledge_bases:
  - {name: clean}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 2}]
evaluate: [retrieval]
"""


def warned(finished):
    return [note for note in finished.ledger.warnings if note.startswith("bm25 on clean, law: ")]


def test_a_page_without_text_is_counted_by_every_run(home):
    text = BASE.replace("size: 1", "size: 1, blank: law/0 page 1")
    expected = [
        "bm25 on clean, law: 1 of 2 pages without text, and so without a chunk",
        "bm25 on clean, law: top_k is 2, more than the number of chunks (1)",
    ]
    assert warned(home.run(text)) == expected
    assert warned(home.run(text, "name=again")) == expected
    assert warned(home.run(BASE)) == []


def test_passages_without_a_word_are_counted(home):
    text = BASE.replace("kind: page", "kind: dashes")
    finished = home.run(text)
    assert warned(finished) == ["bm25 on clean, law: 2 of 2 chunks without a word"]
    assert set(values(finished, metric="hit@2").values()) == {0.0}


def test_a_corpus_without_a_passage_finds_nothing_and_says_so(home):
    finished = home.run(BASE.replace("kind: page", "kind: dashes, none: true"))
    assert warned(finished) == [
        "bm25 on clean, law: 2 of 2 pages without text, and so without a chunk",
        "bm25 on clean, law: top_k is 2, more than the number of chunks (0)",
    ]
    assert set(values(finished, metric="hit@2").values()) == {0.0}
    assert finished.ledger.failures == []


def test_more_than_there_is_gives_all_there_is(home):
    finished = home.run(BASE, "retrievers.0.top_k=50")
    assert warned(finished) == ["bm25 on clean, law: top_k is 50, more than the number of chunks (2)"]
    assert set(values(finished, metric="hit@50").values()) == {1.0}
