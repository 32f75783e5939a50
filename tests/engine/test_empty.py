"""Pages without text, passages without words, and knowledge bases that are too small are reported, run after run."""

import pytest

from .conftest import values

BASE = """benchmark: {kind: tiny, size: 1}
knowledge_bases:
  - {name: clean}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 2}]
evaluate: [retrieval]
"""


ABOUT = "bm25 on clean, law: "
WITHOUT, FEW = "pages without text, and so without a chunk", "more than the number of chunks"


@pytest.mark.parametrize(
    ("old", "new", "top_k", "notes", "hits"),
    [
        ("", "", 2, [], {1.0}),
        ("size: 1", "size: 1, blank: law/0 page 1", 2, [f"1 of 2 {WITHOUT}", f"top_k is 2, {FEW} (1)"], {0.0, 1.0}),
        ("kind: page", "kind: dashes", 2, ["2 of 2 chunks without a word"], {0.0}),
        ("kind: page", "kind: dashes, none: true", 2, [f"2 of 2 {WITHOUT}", f"top_k is 2, {FEW} (0)"], {0.0}),
        ("", "", 50, [f"top_k is 50, {FEW} (2)"], {1.0}),
    ],
    ids=["all is there", "a page without text", "passages without a word", "no passage", "few passages"],
)
def test_what_lacks_is_counted_by_every_run_and_is_no_failure(home, old, new, top_k, notes, hits):
    for name in ("first", "again"):
        finished = home.run(BASE.replace(old, new), f"name={name}", f"retrievers.0.top_k={top_k}")
        warned = [note for note in finished.ledger.warnings if note.startswith(ABOUT)]
        assert warned == [f"{ABOUT}{note}" for note in notes]
        assert set(values(finished, metric=f"hit@{top_k}").values()) == hits
        assert finished.ledger.failures == []
