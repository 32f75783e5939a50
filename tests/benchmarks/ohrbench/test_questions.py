import json
from unicodedata import normalize

import pytest

from ohr.benchmarks.ohrbench import OhrBench
from ohr.contracts import Question
from ohr.errors import DataError


def notes(folder, **fields):
    return list(OhrBench(root=folder.root, **fields).notes())[1:]


def only_question(folder, **fields) -> Question:
    return OhrBench(root=folder.root, **fields).questions()[-1]


def test_the_newer_questions_are_preferred(folder):
    folder.question("q2", file="qas_v2.json")
    bench = OhrBench(root=folder.root)
    assert len(bench.questions()) == 2
    assert bench.notes() == ["questions of qas_v2.json, protocol clean"]


@pytest.mark.parametrize(
    ("given", "read"),
    [("May", ("May",)), (5, ("5",)), (2.50, ("2.5",)), (True, ("true",)), (None, ("",)), (["a", 2], ("a", "2"))],
)
def test_answers_of_any_type_are_read(folder, given, read):
    folder.question("q2", answers=given)
    assert only_question(folder).answers == read


def test_half_a_character_is_read_as_a_question_mark(folder):
    folder.question("q\ud83d", questions="Which \ud83d?", answers="\ud83d", evidence_context="a \ud83d\ude00 \ude00")
    question = only_question(folder)
    assert (question.id, question.text, question.answers) == ("q?", "Which ??", ("?",))
    assert question.evidence == ("a \U0001f600 ?",)


@pytest.mark.parametrize(
    ("pages", "passages", "read"),
    [
        (0, "one", ((0,), ("one",))),
        ([0, 1], ["one", "two"], ((0, 1), ("one", "two"))),
        ([0], "one", ((0,), ("one",))),
        (0, ["one", "two"], ((0,), ("one\ntwo",))),
        ([1, 0], ["two", "one"], ((0, 1), ("two\none",))),
        ([1, 1], ["one", "two"], ((1,), ("one\ntwo",))),
        ("1", "one", ((1,), ("one",))),
        (None, "one", ((), ("one",))),
        (0, None, ((0,), ("",))),
    ],
)
def test_evidence_is_scalar_or_listed_and_keeps_its_order(folder, pages, passages, read):
    folder.question("q2", evidence_page_no=pages, evidence_context=passages)
    question = only_question(folder)
    assert (question.pages, question.evidence) == read


def test_an_equation_is_a_formula(folder):
    folder.question("q2", evidence_source="equation")
    assert only_question(folder).evidence_source == "formula"
    assert notes(folder) == []


def test_the_folder_decides_the_domain(folder):
    folder.question("q2", doc_type="contracts")
    assert only_question(folder).domain == "law"
    assert notes(folder) == ["1 question whose doc_type is not the folder, which counts: q2 (contracts)"]


def test_an_empty_question_is_left_out_and_reported(folder):
    folder.question("q2", questions=" ")
    assert [question.id for question in OhrBench(root=folder.root).questions()] == ["q1"]
    assert notes(folder) == ["1 question without a text, left out: q2"]


@pytest.mark.parametrize(
    ("other", "note"),
    [
        ({"doc_name": "law/none"}, "1 question about an absent document, scored 0 in a run: q2 (law/none)"),
        ({"evidence_page_no": 7}, "1 question with evidence beyond the document, scored 0 in a run: q2 (page 7 of 2)"),
        ({"evidence_page_no": None}, "1 question without an evidence page, scored 0 in a run: q2"),
        ({"evidence_page_no": "0"}, "1 evidence page in quotes, read without them: q2"),
        ({"evidence_context": ""}, "1 question without evidence, not scored in retrieval: q2"),
        ({"answers": None}, "1 question without an answer: q2"),
        ({"answers": 5}, "1 answer other than text, read as in the file: q2"),
        ({"evidence_source": "picture"}, "1 question with an unknown evidence source: q2 ('picture')"),
    ],
)
def test_a_faulty_question_stays_and_is_reported(folder, other, note):
    folder.question("q2", **other)
    assert len(OhrBench(root=folder.root).questions()) == 2
    assert notes(folder) == [note]


def test_the_reference_protocol_reports_its_score_of_a_question_without_evidence(folder):
    folder.question("q2", evidence_context="")
    message = "scored 0.5 where the page is found, else 0, as in the published code"
    assert notes(folder, protocol="reference") == [f"1 question without evidence, {message}: q2"]


def test_a_repeated_id_keeps_both_questions(folder):
    folder.question("q1")
    assert [question.id for question in OhrBench(root=folder.root).questions()] == ["q1", "q1 (entry 1)"]
    assert notes(folder) == ["1 question whose ID is listed more than once, renamed: q1"]


def test_questions_of_other_domains_are_left_out_and_reported(folder):
    folder.document("gt", "finance/report", "text")
    folder.question("q2", doc_name="finance/report", doc_type="finance")
    assert only_question(folder, domains=("law",)).id == "q1"
    assert notes(folder, domains=("law",)) == ["1 question outside the chosen domains, left out: q2"]


def test_a_name_in_another_unicode_form_is_matched_and_reported(folder):
    composed, parted = (normalize(form, "law/Frédéric") for form in ("NFC", "NFD"))
    folder.document("gt", composed, "text")
    folder.question("q2", doc_name=parted)
    assert only_question(folder).document == composed
    assert only_question(folder, protocol="reference").document == parted
    about = "question whose document is named in another Unicode form"
    assert notes(folder) == [f"1 {about}, matched: q2 ({parted})"]
    assert notes(folder, protocol="reference") == [
        f"1 {about}, scored 0 in a run as in the published code: q2 ({parted})"
    ]


def test_two_documents_whose_names_differ_in_their_form_are_reported_apart(folder):
    forms = [normalize(form, "law/Frédéric") for form in ("NFC", "NFD")]
    for form in forms:
        folder.document("gt", form, "text")
        folder.question(form, doc_name=form)
    assert [question.document for question in OhrBench(root=folder.root).questions()[1:]] == forms


@pytest.mark.parametrize("content", ["[{", json.dumps({"questions": []})])
def test_questions_that_cannot_be_read_are_refused(folder, content):
    (folder.root / "qas.json").write_text(content)
    with pytest.raises(DataError, match=r"qas\.json: (not readable as JSON|must be a list of questions)"):
        OhrBench(root=folder.root).questions()


def test_entries_that_are_not_questions_are_reported(folder):
    folder.asked.append("noise")
    folder.question("q2")
    assert notes(folder) == ["1 item other than a question, left out: qas.json entry 1"]
