"""OHRBench's layout: pages and questions, also faulty ones."""

import json
import os
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.files.ohrbench_json import document_files, read_file, read_pages, set_names, unwritable_files, with_texts
from ohr.files.ohrbench_questions import read_questions


@pytest.fixture
def file(tmp_path):
    def write(content):
        (tmp_path / "a.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return tmp_path / "a.json"

    return write


def test_pages_come_in_ascending_order_and_null_text_is_an_error(file):
    path = file([{"page_idx": 1, "text": "b"}, {"page_no": "0", "text": "a"}, {"page_idx": 2, "text": None}])
    assert read_file(path, "a") == [
        Page("a", 0, "a"),
        Page("a", 1, "b"),
        Page("a", 2, "", "text is null, not a string"),
    ]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("[{", "not readable as JSON: Expecting property name"),
        ({"page_idx": 0}, "not a list of pages: it must list {page_idx, text}"),
        ([{"text": "a"}], "1 page without a page number: "),
        ([{"page_idx": -1, "text": "a"}, "b"], "2 pages without a page number: "),
        ([{"page_idx": 0, "text": "a"}] * 2, "1 page listed again: "),
    ],
)
def test_a_file_that_would_lose_a_page_is_refused(file, content, fault):
    path = file(content)
    with pytest.raises(DataError) as caught:
        read_file(path, "a")
    assert str(caught.value).startswith(f"{path}: {fault}")


def test_a_file_of_the_working_folder_is_named_in_its_faults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text('[{"text": "a"}]')
    with pytest.raises(DataError, match=rf"a\.json: 1 page without a page number: {tmp_path.name}/a entry 0"):
        read_file(Path("a.json"), "a")


def test_an_absent_document_has_no_pages(tmp_path):
    assert read_pages(tmp_path, "law/none") == []


def test_other_texts_replace_those_of_their_pages_only(file):
    path = file([{"page_idx": 0, "text": "a", "more": 1}, {"page_idx": 1, "text": "b"}, {"page_idx": 2, "text": None}])
    assert json.loads(with_texts(path, {0: "x", 2: "y"})) == [
        {"page_idx": 0, "text": "x", "more": 1},
        {"page_idx": 1, "text": "b"},
        {"page_idx": 2, "text": None},
    ]


def test_files_whose_names_cannot_be_written_are_listed_apart(tmp_path):
    (tmp_path / "law").mkdir()
    for name in (b"lease", b"caf\xe9", b"a\x1b[31m", "café".encode()):
        (tmp_path / "law" / os.fsdecode(name + b".json")).write_text("[]")
    assert list(document_files(tmp_path)) == ["law/café", "law/lease"]
    assert unwritable_files(tmp_path) == [
        f"{tmp_path.name}/law/a\N{REPLACEMENT CHARACTER}[31m.json",
        f"{tmp_path.name}/law/caf\N{REPLACEMENT CHARACTER}.json",
    ]


def test_a_ring_of_links_ends(tmp_path):
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / "lease.json").write_text("[]")
    (tmp_path / "law" / "ring").symlink_to(tmp_path)
    assert list(document_files(tmp_path)) == ["law/lease"]


@given(st.lists(st.text("aAé/\u0301_.2 中", min_size=1, max_size=8), max_size=12, unique=True))
def test_names_of_a_set_have_two_levels_and_are_distinct_on_every_file_system(names):
    deep = [f"law/{name}" for name in names]
    chosen = set_names(deep)
    assert list(chosen) == deep
    assert all(name.count("/") == 1 and name.startswith("law/") for name in chosen.values())
    assert len({normalize("NFC", name).casefold() for name in chosen.values()}) == len(deep)


def test_names_of_a_set_are_joined_numbered_and_cut():
    long = "law/" + "合" * 100
    chosen = set_names(["law/a", "law/x/y/z", "law/A", "law/cafe\u0301", long, f"{long}b"])
    assert list(chosen.values())[:4] == ["law/a", "law/x__y__z", "law/A-2", "law/café"]
    assert chosen[long] == "law/" + "合" * 66
    assert chosen[f"{long}b"] == "law/" + "合" * 66 + "-2"


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
