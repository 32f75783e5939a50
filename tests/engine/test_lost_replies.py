"""Answers and judges' replies that fail or get lost: before, within and between runs."""

import pytest

from ohr.engine import tasks
from ohr.engine.scheduler import Scheduler
from ohr.steps.answers.judging import PrepareJudging
from ohr.store import open_store
from tests.engine.conftest import rows, run_again, values, without_times
from tests.engine.test_protocols import Protocols

SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
  - {name: read, ocr: {kind: pixels}}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 2}]
generators: [{kind: parrot}]
metrics:
  - {kind: judge, generator: {kind: grader}}
"""
PAGES = """\
benchmark: {kind: annals}
knowledge_bases: [{name: clean}, {name: read, image_noise: {kind: smudge, severity: 0.2}, ocr: {kind: pixels}}]
metrics: [{kind: page_grade}]
evaluate: [page]
"""
JAM = SPEC.replace("ocr: {kind: pixels}", "ocr: {kind: pixels, bad: raise, page: '[law/0 page 1]'}")


@pytest.fixture
def home(tmp_path):
    return Protocols(tmp_path)


def stored(home):
    """Return what the store of a home has, by key."""
    store = open_store(home.store)
    values = store.get_many([entry.key for entry in store.entries()])
    return {key: value for key, value in values.items() if isinstance(value, dict)}


def saying(home, text):
    """List the keys of completions that hold a text."""
    return [key for key, value in stored(home).items() if text in str(value.get("text", ""))]


def test_one_failed_answer_fails_its_own_judgements_only(home):
    finished = home.run(SPEC.replace("{kind: parrot}", "{kind: parrot, bad: raise, question: chapel}"))
    assert {failure.stage for failure in finished.ledger.failures} == {"generator"}
    failed = [row for row in rows(finished, metric="judge") if row["status"] == "failed"]
    assert {row["question_id"] for row in failed} == {"q21"} or len({row["question_id"] for row in failed}) == 1


@pytest.mark.parametrize(("spec", "text"), [(SPEC, "Score: 5"), (SPEC, "19"), (PAGES, "yes")])
def test_replies_that_are_gone_are_asked_for_run_again(home, spec, text):
    first = home.run(spec)
    tables = without_times(first), without_times(first, "judgements")
    lost = saying(home, text)[:3]
    assert lost
    open_store(home.store).discard(lost)
    second = run_again(home, spec)
    assert not second.ledger.failures
    assert (without_times(second), without_times(second, "judgements")) == tables


@pytest.mark.parametrize("spec", [SPEC, JAM])
def test_an_answer_that_is_lost_just_before_it_is_read_is_made_run_again(home, spec, monkeypatch):
    read, lost = Scheduler.read, []

    def losing(self, names):
        names = list(names)
        grown = [name for name in names if name in self._growth and self.effective(name)]
        if grown and not lost:
            lost.append(grown[0])
            self.store.discard(lost)
        return read(self, names)

    monkeypatch.setattr(Scheduler, "read", losing)
    finished = home.run(spec)
    assert lost and {failure.stage for failure in finished.ledger.failures} <= {"ocr"}


def test_an_answer_that_becomes_another_one_is_judged_and_scored_again(home):
    log = home.folder / "asked"
    spec = SPEC.replace("{kind: parrot}", f"{{kind: fickle, log: {log}}}")
    home.run(spec, "evaluate=[generation]")
    open_store(home.store).discard(saying(home, "never"))
    finished = run_again(home, spec.replace("metrics:", "evaluate: [generation]\nmetrics:"))
    for metric in ("em", "judge"):
        assert set(values(finished, stage="generation", metric=metric).values()) == {1.0}, metric


def test_fresh_answers_of_a_knowledge_base_with_a_gap_are_scored_again(home):
    spec = JAM.replace("{kind: parrot}", f"{{kind: fickle, log: {home.folder / 'asked'}}}")
    spec = spec.replace("metrics:", "evaluate: [generation]\nmetrics:")
    home.run(spec)
    finished = run_again(home, spec, fresh="answers")
    scored = [row for row in rows(finished, kb="read", stage="generation", metric="em") if row["status"] == "ok"]
    assert scored and {row["value"] for row in scored} == {1.0}


def test_no_page_image_that_a_prompt_shows_stays_in_the_store(home):
    home.run(SPEC.replace("{kind: parrot}", "{kind: gazer}"))
    assert not [key for key, value in stored(home).items() if "png" in value]


def test_a_run_keeps_the_answers_that_it_has_asked_for(home):
    home.run(SPEC)
    pinned = {entry.key for entry in open_store(home.store).entries() if entry.runs}
    assert pinned.issuperset(saying(home, "Score: 5"))


def test_a_step_of_prompts_that_asks_without_end_fails_with_the_limit(home, monkeypatch):

    monkeypatch.setattr(tasks, "MOST_GROWN", 5)
    finished = home.run(SPEC, "retries=0")
    assert {failure.reason for failure in finished.ledger.failures if failure.stage == "prompt"} == {
        "it asked for more than 5 steps: it does not end"
    }
    assert PrepareJudging.grows
