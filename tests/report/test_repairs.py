"""Faults of a question set, as tables and as a file."""

import csv

from ohr.questions.imports import Repair
from ohr.report.question_sets import repair_counts, repairs, write_repairs

FOUND = [
    Repair("q1", "set.csv:2", "no answer", "the question has none"),
    Repair("q1", "set.csv:2", "evidence not found", "'=1+1\nnext'; no page resembles it"),
    Repair("q2", "set.csv:3", "evidence not found", "'a'; no page resembles it"),
    Repair("q2", "set.csv:3", "evidence not found", "'b'; no page resembles it"),
]


def test_faults_are_listed_and_counted():
    assert repairs(FOUND).short[3] == ("q2", "set.csv:3", "evidence not found", "'b'; no page resembles it")
    assert repair_counts(FOUND).rows == (("no answer", 1, 1), ("evidence not found", 3, 2))


def test_the_file_has_a_row_for_each_fault(tmp_path):
    path = tmp_path / "repairs.csv"
    write_repairs(FOUND, path)
    with path.open(newline="", encoding="utf-8") as opened:
        assert [tuple(row.values()) for row in csv.DictReader(opened)] == FOUND
    write_repairs([], path)
    assert path.read_text() == "question,where,fault,detail\n"
