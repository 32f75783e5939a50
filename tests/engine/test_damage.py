import pytest

from ohr.engine import damage
from ohr.metrics.dose import by_page, question_dose
from ohr.metrics.realism import see

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
    monkeypatch.setattr(damage, "measure", lambda task, work=damage.measure: done.append(task.item) or work(task))
    return done


def test_doses_are_kept_and_not_measured_again(home, measured):
    first = home.run(SPEC)
    assert len(measured) == 8
    again = home.run(SPEC, "name=other")
    assert len(measured) == 8
    assert doses(again) == doses(first)
    assert rows(again, "pages") == rows(first, "pages")


def test_another_question_is_measured_anew_and_other_documents_are_not(home, measured):
    home.run(SPEC)
    home.run(SPEC, "benchmark.size=5")
    assert sorted(measured[8:]) == ["damage to law/4"] * 2


def test_what_is_kept_is_what_the_metrics_say(home):
    finished = home.run(SPEC)
    inputs = finished.results.recipe.inputs
    truth = by_page(page for pages in inputs.truth.values() for page in pages)
    kept = values(finished, kb="clean", stage="page", metric="lcs_kb")
    assert kept == {q.id: question_dose(q, truth, truth).lcs_kb for q in inputs.questions}
    distances = [row["edit_distance"] for row in rows(finished, "pages") if row["kb"] == "clean"]
    assert distances == [see(page, page, (), {}).dose.edit_distance for page in truth.values()]


def test_processes_measure_the_same(home, tmp_path, monkeypatch):
    here = home.run(SPEC)
    monkeypatch.setattr(damage, "_LITTLE", 0)
    home.folder = tmp_path / "other"
    home.folder.mkdir()
    assert repr(doses(home.run(SPEC, workers=2))) == repr(doses(here))
