"""Stored values that are not what they must be are made again: no traceback, no other summary."""

import shutil

import pytest

from ohr.store import open_store

from .conftest import rows

SPEC = """\
benchmark: {kind: tiny, size: 2}
evaluate: [page, retrieval, generation, overall]
knowledge_bases:
  - {name: clean}
  - {name: pepper, image_noise: {kind: salt_and_pepper, severity: [0.5]}, ocr: {kind: pixels}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
generators: [{kind: parrot}]
"""


def results(finished):
    tables = ("scores", "hits", "texts", "readings", "failures")
    return {
        table: repr([{k: v for k, v in row.items() if k != "seconds"} for row in rows(finished, table)])
        for table in tables
    }


def with_null(value):
    """Yield copies of a value in which one part, at the first place of each list or mapping, is null."""
    yield None
    if isinstance(value, dict):
        for name, part in value.items():
            yield from ({**value, name: other} for other in with_null(part))
    elif isinstance(value, list) and value:
        yield from ([other, *value[1:]] for other in with_null(value[0]))


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    from .conftest import Home

    home = Home(tmp_path_factory.mktemp("calm"))
    return home, results(home.run(SPEC))


OTHERS = {
    "nothing": lambda value: None,
    "a number": lambda value: 7,
    "a text": lambda value: "seven",
    "another collection": lambda value: {} if isinstance(value, list) else [],
    "null in the first place": lambda value: list(with_null(value))[-1],
    "null in the middle": lambda value: list(with_null(value))[len(list(with_null(value))) // 2],
    "a further field": lambda value: {**value, "later": 1} if "text" in value else {**value, "values": None},
}


OFTEN = ("nothing", "another collection", "null in the middle", "a further field")


@pytest.mark.parametrize(
    "other", [pytest.param(name, marks=[] if name in OFTEN else pytest.mark.acceptance) for name in OTHERS]
)
def test_values_of_another_shape_are_made_again(calm, other):
    home, wanted = calm
    shutil.rmtree(home.folder / "runs")
    store = open_store(home.store)
    keys = [entry.key for entry in store.entries() if entry.kind == "value"]
    for key, value in store.get_many(keys).items():
        if not (other == "a further field" and not isinstance(value, dict)):
            store.put(key, OTHERS[other](value))
    assert results(home.run(SPEC)) == wanted


def test_scores_with_a_null_are_counted_again(calm):
    home, wanted = calm
    shutil.rmtree(home.folder / "runs")
    store = open_store(home.store)
    keys = [entry.key for entry in store.entries() if entry.kind == "value"]
    scores = {
        key: value for key, value in store.get_many(keys).items() if isinstance(value, dict) and value.get("values")
    }
    assert scores
    for key, value in scores.items():
        store.put(key, {**value, "values": {name: [None for _ in them] for name, them in value["values"].items()}})
    assert results(home.run(SPEC)) == wanted


@pytest.mark.parametrize("chunks", [lambda found: found[:-1], lambda found: [{**c, "pages": []} for c in found]])
def test_hits_without_their_chunk_or_its_page_are_searched_again(calm, chunks):
    home, wanted = calm
    shutil.rmtree(home.folder / "runs")
    store = open_store(home.store)
    keys = [entry.key for entry in store.entries() if entry.kind == "value"]
    hits = {key: value for key, value in store.get_many(keys).items() if isinstance(value, dict) and "hits" in value}
    store.put_many({key: {**value, "chunks": chunks(value["chunks"])} for key, value in hits.items()})
    assert hits and results(home.run(SPEC)) == wanted
