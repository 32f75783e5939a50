import pytest

from ohr.metrics.dose import by_page, question_dose
from ohr.steps.documents.damage import MeasureDamage
from ohr.text.words import words

from .conftest import doses, rows, values

SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: pepper, image_noise: {kind: salt_and_pepper, severity: 0.5}, ocr: {kind: pixels}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


@pytest.fixture
def measured(monkeypatch):
    """Count the documents that are measured."""
    done = []
    measure = MeasureDamage.run

    def noted(work, ready, context):
        done.append(work.document.name)
        return measure(work, ready, context)

    monkeypatch.setattr(MeasureDamage, "run", noted)
    return done


def test_doses_are_kept_and_only_documents_with_another_question_are_measured_again(home, measured):
    first = home.run(SPEC)
    assert len(measured) == 8
    again = home.run(SPEC, "name=other")
    assert len(measured) == 8
    assert doses(again) == doses(first)
    assert rows(again, "pages") == rows(first, "pages")
    home.run(SPEC, "benchmark.size=5")
    assert sorted(measured[8:]) == ["law/4"] * 2


def test_what_is_kept_is_what_the_metrics_say(home):
    finished = home.run(SPEC)
    inputs = home.keys(SPEC).inputs
    truth = by_page(page for name in inputs.truth for page in inputs.truth[name])
    kept = values(finished, kb="clean", stage="page", metric="lcs_kb")
    assert kept == {q.id: question_dose(q, truth, truth).lcs_kb for q in inputs.questions}
    pages = [row for row in rows(finished, "pages") if row["kb"] == "clean"]
    assert [(row["document"], row["page"]) for row in pages] == list(truth)
    assert not any(row["empty"] for row in pages)


def test_words_are_counted_where_text_noise_edits_them(home):
    spec = SPEC.replace("image_noise: {kind: salt_and_pepper, severity: 0.5}, ocr: {kind: pixels}", "text_noise: swap")
    pages = rows(home.run(spec.replace("swap", "{kind: formatting, rate: 0.5}")), "pages")
    truth = by_page(page for pages in home.keys(SPEC).inputs.truth.values() for page in pages)
    counted = [row["words"] for row in pages if row["kb"] == "pepper"]
    assert counted == [len(words(page.text)) for page in truth.values()]
    assert {row["words"] for row in pages if row["kb"] == "clean"} == {None}
