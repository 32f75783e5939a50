"""Stored values that are not what they must be are made again: no traceback, no other summary."""

import shutil

import pytest

from ohr.store import open_store

from .conftest import Home, rows

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
    """Change what a run has stored, run again, and expect the same results; at least one value must change."""
    home = Home(tmp_path_factory.mktemp("calm"))
    wanted = results(home.run(SPEC))

    def check(change):
        shutil.rmtree(home.folder / "runs")
        store = open_store(home.store)
        values = store.get_many([entry.key for entry in store.entries() if entry.kind == "value"])
        changed = {key: change(value) for key, value in values.items()}
        changed = {key: value for key, value in changed.items() if value is not values[key]}
        store.put_many(changed)
        assert changed and results(home.run(SPEC)) == wanted

    return check


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
    calm(lambda value: value if other == "a further field" and not isinstance(value, dict) else OTHERS[other](value))


def test_scores_with_a_null_are_counted_again(calm):
    def without(value):
        if not (isinstance(value, dict) and value.get("values")):
            return value
        return {**value, "values": {name: [None for _ in them] for name, them in value["values"].items()}}

    calm(without)


@pytest.mark.parametrize("chunks", [lambda found: found[:-1], lambda found: [{**c, "pages": []} for c in found]])
def test_hits_without_their_chunk_or_its_page_are_searched_again(calm, chunks):
    def broken(value):
        return {**value, "chunks": chunks(value["chunks"])} if isinstance(value, dict) and "hits" in value else value

    calm(broken)
