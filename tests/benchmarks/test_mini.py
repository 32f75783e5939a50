"""The promises of the mini benchmark: amounts, true evidence, PDFs that say what the ground truth says."""

from collections import Counter
from pathlib import Path

import pytest

from ohr.benchmarks.mini import Mini
from ohr.contracts import Document
from ohr.metrics.dose import by_page, evidence_text, own_text
from ohr.metrics.lcs import lcs
from samples import mini as build

MINI = Mini()
DOCUMENTS = MINI.documents()
QUESTIONS = MINI.questions()
DOMAINS = {"textbook", "law", "finance", "newspaper", "manual", "academic", "administration"}
LATIN = [document.name for document in DOCUMENTS if document.language == "en"]
QUICK = ("academic/enclosure_survey_note", "finance/timber_annual_report")


def test_amounts():
    assert len(DOCUMENTS) >= 24
    assert sum(document.pages for document in DOCUMENTS) >= 70
    assert len(QUESTIONS) >= 240
    assert {document.domain for document in DOCUMENTS} == DOMAINS
    assert sum(document.language == "zh" for document in DOCUMENTS) >= 3


def test_every_evidence_source_has_at_least_35_questions():
    counts = Counter(question.evidence_source for question in QUESTIONS)
    assert {source: count for source, count in counts.items() if count >= 35}.keys() == {
        "text",
        "table",
        "formula",
        "chart",
        "reading_order",
    }


def test_all_answer_forms_and_tasks_are_there():
    assert {question.answer_form for question in QUESTIONS} == {"String", "Numeric", "Yes/No", "List"}
    assert {question.task_type for question in QUESTIONS} == {"understanding", "reasoning"}


def test_a_tenth_of_the_questions_needs_two_pages():
    assert sum(len(question.pages) > 1 for question in QUESTIONS) >= 0.1 * len(QUESTIONS)


def test_ids_are_unique():
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)


def test_evidence_is_verbatim_on_its_pages():
    pages = by_page(page for document in DOCUMENTS for page in MINI.pages(document))
    for question in QUESTIONS:
        assert lcs(own_text(question, pages), evidence_text(question)) == 1.0, question
        for index, passage in zip(question.pages, question.evidence, strict=True):
            assert " ".join(passage.split()) in " ".join(pages[question.document, index].text.split()), question


def test_questions_need_no_context():
    phrases = ("according to the document", "in the document", "this table", "the above", "on this page")
    assert [question for question in QUESTIONS if any(phrase in question.text.lower() for phrase in phrases)] == []
    assert [question for question in QUESTIONS if not question.answers[0].strip()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_the_pdf_says_what_the_ground_truth_says(document: Document):
    source = build.read(build.SOURCE / document.name)
    pdf = (Path(build.DATA) / "pdfs" / f"{document.name}.pdf").read_bytes()
    assert list(build.faults(source, pdf)) == []
    assert source.pages == tuple(page.text for page in MINI.pages(document))


def test_pdfs_are_small_enough_to_ship():
    assert sum(path.stat().st_size for path in (build.DATA / "pdfs").rglob("*.pdf")) <= 15_000_000


def built(name):
    return pytest.param(name, marks=[] if name in QUICK else [pytest.mark.acceptance])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*map(built, LATIN)])
def test_the_build_gives_the_shipped_bytes(name: str):
    shipped = (build.DATA / "pdfs" / f"{name}.pdf").read_bytes()
    assert build.compile_pdf(build.read(build.SOURCE / name)) == shipped


def test_left_out_parts_are_reported():
    message = " ".join(Mini(languages=("en",), max_pages=1).notes())
    assert "_zh" in message
    assert "questions whose evidence is on later pages (max_pages: 1)" in message


def test_a_page_is_an_rgb_image():
    image = MINI.page_image(DOCUMENTS[0], 0)
    assert image.ndim == 3
    assert image.shape[2] == 3
    assert image.dtype == "uint8"
    assert image.min() < 50 < 200 < image.max()
