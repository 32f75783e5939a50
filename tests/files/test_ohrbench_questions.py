import json

import pytest

from ohr.errors import DataError
from ohr.files.ohrbench_questions import read_questions

RECORD = {
    "ID": "q1",
    "questions": "When?",
    "answers": "1964",
    "doc_name": "law/lease",
    "evidence_page_no": 2,
    "evidence_context": "It began in 1964.",
    "evidence_source": "text",
}


@pytest.fixture
def read(tmp_path):
    def questions(*records):
        (tmp_path / "qas.json").write_text(json.dumps(list(records)))
        return read_questions(tmp_path / "qas.json")

    return questions


def test_single_values_are_lists_of_one(read):
    (question,) = read(RECORD)
    assert (question.answers, question.pages, question.evidence) == (("1964",), (2,), ("It began in 1964.",))
    assert (question.domain, question.answer_form, question.task_type) == ("law", "String", "understanding")


def test_pages_are_ascending_and_passages_follow_or_are_joined(read):
    (question,) = read(RECORD | {"answers": [1, 2.5], "evidence_page_no": [1, "3"], "evidence_context": ["a", "b"]})
    assert (question.answers, question.pages, question.evidence) == (("1", "2.5"), (1, 3), ("a", "b"))
    (question,) = read(RECORD | {"evidence_page_no": [3, 1], "evidence_context": ["a", "b"]})
    assert (question.pages, question.evidence) == ((1, 3), ("a\nb",))


@pytest.mark.parametrize("change", [{"answers": 5}, {"evidence_source": "picture"}, {"evidence_page_no": "2"}])
def test_a_harmless_fault_is_not_refused(read, change):
    assert len(read(RECORD | change)) == 1


def test_the_first_versions_equation_is_a_formula(read):
    assert read(RECORD | {"evidence_source": "equation"})[0].evidence_source == "formula"


NO_PAGE = "1 question without an evidence page, scored 0 in a run: q2"
FORM = "questions are a JSON list as in OHRBench"


@pytest.mark.parametrize(
    ("second", "fault"),
    [
        ({"questions": None}, "1 question without a text, left out: q2"),
        ({"answers": None}, "1 question without an answer: q2"),
        ({"evidence_page_no": None}, NO_PAGE),
        ({"evidence_page_no": "zero"}, NO_PAGE),
        ({"evidence_page_no": [[1]]}, NO_PAGE),
        ({"evidence_context": None}, "1 question without evidence, not scored in retrieval: q2"),
        ({"ID": "q1"}, "1 question whose ID is listed more than once, renamed: q1"),
        ("What?", "1 item other than a question, left out: qas.json entry 1"),
    ],
)
def test_a_question_that_lacks_a_part_or_is_no_object_is_refused(read, tmp_path, second, fault):
    with pytest.raises(DataError) as caught:
        read(RECORD, RECORD | {"ID": "q2"} | second if isinstance(second, dict) else second)
    assert str(caught.value).startswith(f"{tmp_path}/qas.json: {fault}; {FORM}")


def test_a_file_that_is_no_list_or_not_there_is_reported(tmp_path):
    with pytest.raises(DataError, match=r"qas\.json: no such file"):
        read_questions(tmp_path / "qas.json")
    (tmp_path / "qas.json").write_text("{}")
    with pytest.raises(DataError, match=rf"qas\.json: must be a list of questions; {FORM}"):
        read_questions(tmp_path / "qas.json")
