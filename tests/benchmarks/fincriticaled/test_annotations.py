import json
from math import isnan
from os import mkfifo

import pytest

from ohr.benchmarks.fincriticaled.annotations import agreement, agreement_note, read_export
from ohr.errors import DataError


def span(start, end, text, label="Number", place="/p[1]/text()[1]"):
    value = {"start": place, "end": place, "startOffset": start, "endOffset": end, "text": text, "labels": [label]}
    return {"type": "labels", "value": value}


def task(**results):
    """A task with the spans of annotators named a1, a2, ..."""
    made = [{"completed_by": int(name[1:]), "result": list(spans)} for name, spans in results.items()]
    return {"data": {"matched_html": "<p>1 of 2</p>"}, "annotations": made}


@pytest.fixture
def export(tmp_path):
    def write(*tasks):
        path = tmp_path / "export.json"
        path.write_text(json.dumps(list(tasks)), encoding="utf-8")
        return read_export(path)

    return write


ONE, TWO = span(0, 1, "1"), span(5, 6, "2")


def test_spans_are_read_by_annotator_whose_last_annotation_counts_and_other_results_are_skipped(export):
    other = {"type": "choices", "value": {"choices": ["ok"]}}
    without_place = {"type": "labels", "value": {"start": None, "labels": ["Number"]}}
    without_label = {"type": "labels", "value": {"start": "/p", "labels": []}}
    given = task(a7=[TWO], a2=[TWO])
    given["annotations"].append({"completed_by": 7, "result": [ONE, other, without_place, without_label]})
    given["annotations"].append({"completed_by": {"id": 12, "email": "c@example.org"}, "result": []})
    (read,) = export(given)
    assert list(read) == [2, 7, 12]
    assert {who: [marked.offsets for marked in spans] for who, spans in read.items()} == {
        7: [(0, 1)], 2: [(5, 6)], 12: [],
    }  # fmt: skip


def test_spans_of_one_text_collide_without_their_offsets(export):
    """Annotators who agree on one of two spans seem to agree fully: the last span of a text replaces the others."""
    wrong = span(0, 1, "1", "Temporal")
    tasks = export(task(a1=[ONE, TWO], a2=[wrong, TWO]))
    assert agreement(tasks, 2, "reference").cohen == {(1, 2): 1.0}
    assert agreement(tasks, 2, "reference").items == 1
    assert agreement(tasks, 2).items == 2
    assert agreement(tasks, 2).cohen[1, 2] < 0.5


def test_a_span_that_one_annotator_has_not_marked_is_outside(export):
    place = "/p[2]/text()[1]"
    found = agreement(export(task(a1=[ONE, span(0, 1, "3", place=place)], a2=[ONE], a3=[ONE])), 3, "reference")
    # rows: (Number, Number, Number) and (Number, O, O)
    chance = (4 / 6) ** 2 + (2 / 6) ** 2
    assert found.fleiss == pytest.approx(((1 + 1 / 3) / 2 - chance) / (1 - chance))
    assert found.cohen[2, 3] == pytest.approx(1.0)
    assert (found.items, found.tasks) == (2, 1)


def test_tasks_with_another_number_of_annotators_are_left_out(export):
    tasks = export(task(a1=[ONE], a2=[ONE]), task(a1=[ONE], a2=[ONE], a3=[ONE]), task(a1=[ONE]))
    found = agreement(tasks, 3, "reference")
    assert found.tasks == 1
    assert found.fleiss == 1.0


def test_pairs_are_compared_in_all_tasks_of_both_in_clean_mode(export):
    wrong = span(0, 1, "1", "Temporal")
    tasks = export(task(a1=[ONE], a2=[wrong]), task(a1=[ONE], a2=[ONE], a3=[ONE]))
    assert agreement(tasks, 3, "reference").cohen[1, 2] == 1.0
    assert agreement(tasks, 3).cohen[1, 2] < 1.0


def test_the_published_code_reads_the_first_20_tasks(export):
    tasks = export(*[task(a1=[ONE], a2=[ONE])] * 25)
    assert agreement(tasks, 2, "reference").tasks == 20
    assert agreement(tasks, 2).tasks == 25


def test_nobody_agrees_where_nothing_is_marked(export):
    found = agreement(export(task(a1=[], a2=[])), 2)
    assert isnan(found.fleiss)
    assert found.cohen == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ("{}", "must be a list of tasks"),
        ('[{"annotations": []}, 5]', "task 2: must be an object with `annotations` (got 5)"),
        (
            '[{"annotations": [{"completed_by": "C"}]}]',
            "task 1: `completed_by` must be an annotator's number (got 'C')",
        ),
        ('[{"annotations": [{"completed_by": 1, "result": 5}]}]', "task 1: `result` must be a list (got 5)"),
    ],
)
def test_what_is_no_export_is_refused_with_the_task(tmp_path, content, message):
    path = tmp_path / "export.json"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read_export(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling link", "looping link"])
def test_what_is_no_file_is_a_note_of_one_form(tmp_path, kind):
    path = tmp_path / "annotations.json"
    makers = {"folder": path.mkdir, "pipe": lambda: mkfifo(path), "dangling link": lambda: path.symlink_to("nothing")}
    makers.get(kind, lambda: path.symlink_to(path))()
    (note,) = agreement_note(path)
    assert note.startswith(f"{path}: cannot be read: ")
    assert note.endswith("; so the annotators are not compared")
