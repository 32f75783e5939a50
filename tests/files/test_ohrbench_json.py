import json

import pytest

from ohr.errors import DataError
from ohr.files.ohrbench_json import read_questions

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


def test_lists_are_kept_in_their_order(read):
    (question,) = read(RECORD | {"answers": [1, 2.5], "evidence_page_no": [3, "1"], "evidence_context": ["a", "b"]})
    assert (question.answers, question.pages, question.evidence) == (("1", "2.5"), (3, 1), ("a", "b"))


def test_the_first_versions_equation_is_a_formula(read):
    assert read(RECORD | {"evidence_source": "equation"})[0].evidence_source == "formula"


@pytest.mark.parametrize("key", RECORD)
def test_a_missing_key_is_told(read, tmp_path, key):
    with pytest.raises(DataError) as caught:
        read(RECORD, {name: value for name, value in RECORD.items() if name != key} | {"ID2": 1})
    assert str(caught.value).startswith(f"{tmp_path}/qas.json: question 1: has no '{key}'; a question has ID, ")


@pytest.mark.parametrize("page", ["zero", None, {"a": 1}, [[1]]])
def test_a_page_that_is_no_number_is_told(read, tmp_path, page):
    with pytest.raises(DataError) as caught:
        read(RECORD | {"evidence_page_no": page})
    told = f"{tmp_path}/qas.json: question 0: evidence_page_no must be a whole number from 0 on, not "
    assert str(caught.value).startswith(told)


def test_a_question_that_is_no_object_is_told(read, tmp_path):
    with pytest.raises(DataError) as caught:
        read(RECORD, "What?")
    assert str(caught.value).startswith(f"{tmp_path}/qas.json: question 1: must be an object with ID, ")


def test_an_id_that_stands_twice_is_told(read, tmp_path):
    with pytest.raises(DataError) as caught:
        read(RECORD, RECORD)
    assert str(caught.value) == f"{tmp_path}/qas.json: id 'q1' stands more than once"


def test_a_file_that_is_no_list_is_told(tmp_path):
    (tmp_path / "qas.json").write_text("{}")
    with pytest.raises(DataError) as caught:
        read_questions(tmp_path / "qas.json")
    assert str(caught.value).startswith(f"{tmp_path}/qas.json: must be a list of questions; questions are a JSON list")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(DataError, match=r"qas\.json: no such file"):
        read_questions(tmp_path / "qas.json")
