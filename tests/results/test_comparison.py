"""Which cells of two runs are compared."""

from dataclasses import replace

import pytest

from ohr.errors import DataError
from ohr.results.derived.comparison import Side, compare_sides
from ohr.results.run import Run
from tests.report.exports.conftest import MADE, scores


@pytest.fixture
def sides(tmp_path):
    """Make two runs with the conditions of `MADE`, of which the second one scores a tenth less."""

    def make(*retrievers):
        shifts = {"A": 0.0, "B": 0.1}
        return [
            Side(
                Run(
                    replace(
                        MADE,
                        name=name,
                        conditions=MADE.conditions[:2],
                        retrievers=names,
                        generators=(),
                        score=lambda place, count, shift=shift: scores(place, count) - shift,
                    ).write(tmp_path / name)
                )
            )
            for (name, shift), names in zip(shifts.items(), retrievers, strict=True)
        ]

    return make


def test_two_pipelines_of_different_names_are_compared_where_each_run_has_one(sides):
    compared = compare_sides(*sides(("mine",), ("theirs",)))
    assert {(pair.first.retriever, pair.second.retriever) for pair in compared.pairs} == {("mine", "theirs")}
    assert [pair.found.difference.mean for pair in compared.pairs] == pytest.approx([0.1] * len(compared.pairs))
    assert compared.pairs[0].label.startswith("retrieval lcs")
    assert "mine and " in compared.pairs[0].label
    assert not any("in no comparison" in note for note in compared.notes)


def test_of_several_pipelines_those_of_one_name_are_compared_and_the_others_are_named(sides):
    compared = compare_sides(*sides(("bm25", "mine"), ("bm25", "theirs")))
    assert {pair.first.retriever for pair in compared.pairs} == {"bm25"}
    notes = [note for note in compared.notes if "in no comparison" in note]
    assert [("only A" in note, "mine" in note) for note in notes] == [(True, True), (False, False)]
    assert "theirs" in notes[1]


def test_several_pipelines_without_a_common_name_are_refused(sides):
    with pytest.raises(DataError, match="have no score in common"):
        compare_sides(*sides(("a", "b"), ("c", "d")))
