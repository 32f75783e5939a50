"""Finished work is not repeated: after a kill, with another level, by another run."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess

import pytest

from ohr.dataset.inputs import read_inputs
from ohr.errors import StoreError
from ohr.results.tables.read_table import read_rows
from ohr.spec.read import read_spec
from ohr.steps.answers.scoring import ScoreAnswers
from ohr.steps.documents.make_document import MakeDocument
from ohr.store import open_store
from ohr.store.database import Database
from ohr.store.reasons import ReadOnly
from ohr.work.step import Context, Ready

from .conftest import OHR, continued, rows, values, wait_until

RUN = ("run", "spec.yaml", "--no-figures", "--trust-plugins", "--workers", "1")
SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: read, ocr: {kind: pixels, log: reads}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
generators: [{kind: parrot, log: answers}]
"""
SLOW = SPEC.replace("log: reads}", "log: reads, seconds: 0.4}")


@pytest.fixture(scope="module")
def first(once):
    return once(SPEC)


@pytest.fixture
def after(home, first):
    return continued(home, first)


def without_results(home):
    shutil.rmtree(home.folder / "runs")
    return home


def damage_values(store, key="%"):
    """Change the last bytes of stored values behind the store's back."""
    with sqlite3.connect(min((store / "values").glob("*.sqlite*"))) as db:
        changed = db.execute(
            "UPDATE objects SET value = substr(value, 1, length(value) - 2) || x'2020' WHERE key LIKE ?", (key,)
        )
        assert changed.rowcount > 0


def started(home, text):
    """Start a run, and wait until it has read two pages."""
    process = home.start(text)
    wait_until(lambda: home.log("reads").total() >= 3, process, 60)
    assert home.log("reads").total() >= 3
    return process


@pytest.mark.parametrize(
    "sent", [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.acceptance)]
)
def test_a_run_that_was_ended_resumes_where_it_was(home, sent):
    with started(home, SLOW) as process:
        os.killpg(process.pid, sent)
        message = process.communicate()[1]
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[sent]
    assert message == ("" if sent is signal.SIGKILL else "interrupted; run the same command again to resume\n")
    done = home.log("reads")
    assert done.total() < 8
    finished = home.run(SPEC)
    assert set(home.log("reads")) == {f"[{place} page {index}]" for place in PLACES for index in (0, 1)}
    assert (home.log("reads") - done).total() == finished.ledger.calls["pages"]
    assert home.log("reads").total() <= 9  # only the page that was under way may be read twice
    assert finished.ledger.failures == []


@pytest.mark.parametrize("sent", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.acceptance)])
def test_a_run_that_is_ended_while_its_workers_start_leaves_nothing(home, sent):
    scratch = home.folder / "scratch"
    scratch.mkdir()
    with home.start(SPEC, "--workers", "4", TMPDIR=str(scratch)) as process:
        wait_until(lambda: list(scratch.glob("pymp-*/tmp*")), process, 60)
        process.send_signal(sent)
        message = process.communicate()[1]
    assert (process.returncode, message) == (128 + sent, "interrupted; run the same command again to resume\n")
    assert list(scratch.iterdir()) == []


PLACES = ("law/0", "finance/1", "manual/2", "textbook/3")


def test_a_second_run_does_nothing_and_gives_the_same_folder(first, after):
    second = after.run(SPEC)
    assert second.ledger.calls.total() == 0
    assert second.folder.name == first.folder.name
    assert after.log("reads").total() == 8


def test_a_second_run_whose_results_were_deleted_only_scores(first, after):
    second = without_results(after).run(SPEC)
    assert second.ledger.calls.total() == 0
    assert rows(second) == rows(first)
    assert (second.folder / "summary.csv").read_bytes() == (first.folder / "summary.csv").read_bytes()


def test_every_damaged_object_is_made_again(first, after):
    damage_values(after.store)
    for path in (after.store / "folders").rglob("*.json"):
        path.write_text("{")
    again = without_results(after).run(SPEC)
    assert after.log("reads").total() == 16
    assert rows(again) == rows(first)


def test_only_the_damaged_page_is_read_again(after):
    home = without_results(after)
    keys = home.keys(SPEC)
    base, document = keys.spec.knowledge_bases[0], keys.inputs.documents[0]
    pages = [keys.page(base, document, index) for index in range(2)]
    store = open_store(home.store)
    store.discard([keys.document(base, document, pages)])
    damage_values(home.store, pages[1])
    home.run(SPEC)
    assert home.log("reads")["[law/0 page 1]"] == 2
    assert home.log("reads").total() == 9


def test_two_bases_that_share_an_ocr_condition_read_once(home):
    second = (
        "  - {name: noisy, ocr: {kind: pixels, log: reads}, text_noise: {kind: formatting, rate: [0.1, 0.6]}}\nchunker"
    )
    home.run(SPEC.replace("chunker", second, 1), "evaluate=[retrieval]")
    assert home.log("reads").total() == 8


def test_a_new_level_costs_only_itself(home):
    noisy = SPEC.replace("ocr:", "image_noise: {kind: salt_and_pepper, severity: SEVERITY}, ocr:")
    home.run(noisy.replace("SEVERITY", "0.1"), "evaluate=[retrieval]")
    home.run(noisy.replace("SEVERITY", "[0.1, 0.2]"), "evaluate=[retrieval]")
    assert home.log("reads").total() == 16


def test_names_cost_nothing(after):
    changes = ("name=other", "retrievers.0.name=mine", "knowledge_bases.0.name=mine")
    assert after.run(SPEC, *changes).ledger.calls.total() == 0


def test_more_hits_cost_a_search_but_no_index(after):
    again = after.run(SPEC, "retrievers.0.top_k=4", "evaluate=[retrieval]")
    assert (again.ledger.calls["indexes"], again.ledger.calls["searches"]) == (0, 8)


def test_an_index_of_the_version_before_is_made_again(after):
    stored = open_store(str(after.store))
    names = [folder.name for folder in (after.store / "folders").iterdir()]
    stored.discard(names)
    for name in names:
        stored.put_folder(name, lambda folder: (folder / "words.json").write_text("{}") and None)
    again = after.run(SPEC, "retrievers.0.top_k=3", "evaluate=[retrieval]")
    assert again.ledger.calls["indexes"] == len(names) > 0
    assert again.ledger.calls["reads"] == 0


def test_equal_prompts_are_asked_once(home):
    home.run(SPEC.replace("chunker", "  - {name: same}\nchunker", 1), "evaluate=[generation]")
    asked = home.log("answers")
    # closed book, another page, evidence, own clean page (which is what both knowledge bases hold)
    assert set(asked.values()) == {4}


@pytest.mark.acceptance  # tests/store tests the claims of two processes with less around them
def test_two_runs_at_once_share_the_work(home):
    home.write(SLOW)
    command = [OHR, *RUN, "--store", "store", "--runs"]
    both = [subprocess.Popen([*command, f"runs{n}"], cwd=home.folder, stdout=subprocess.DEVNULL) for n in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    tables = [read_rows(next(home.folder.glob(f"runs{n}/run/*")) / "scores.parquet") for n in range(2)]
    assert tables[0] == tables[1]
    assert home.log("reads").total() == 8  # whoever claims a page first reads it, and the other one waits for it


RECORDED = """\
benchmark: {kind: tiny, size: 1}
knowledge_bases: [{name: recorded, ocr: {kind: precomputed, root: recorded}}]
chunker: {kind: page}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


def record(home, text):
    (home.folder / "recorded" / "law").mkdir(parents=True, exist_ok=True)
    pages = [{"page_idx": index, "text": text} for index in range(2)]
    (home.folder / "recorded" / "law" / "0.json").write_text(json.dumps(pages))


def test_changed_results_of_an_engine_are_evaluated_again_and_a_change_that_is_taken_back_gives_the_first(home):
    finished = []
    for text in ("nothing", "The harbour of law/0 was built in 1900 by Ada Venn.", "nothing"):
        record(home, text)
        finished.append(home.run(RECORDED))
    assert rows(finished[1]) != rows(finished[0])
    assert finished[2].folder == finished[0].folder


def test_a_page_that_is_lost_on_the_way_is_not_taken_for_an_empty_one(home):
    spec = read_spec(home.write(SPEC), trust_plugins=True)
    inputs, store = read_inputs(spec), open_store(home.store)
    work = MakeDocument(spec.benchmark, spec.knowledge_bases[0], inputs.documents[0], 0)
    ready = Ready(("lost0", "lost1"), ("ab" * 32,))
    with pytest.raises(StoreError, match="2 stored results that it needs are gone"):
        work.run(ready, Context(store, inputs))
    assert store.get("ab" * 32) is None


def test_an_answer_that_is_lost_on_the_way_is_not_scored_as_a_failed_one(home):
    keys = home.keys(SPEC)
    store = open_store(home.store)
    work = ScoreAnswers("overall", (0,), (0,), None, (), "overall", "", keys.rules, cases=False)
    with pytest.raises(StoreError, match="1 stored results that it needs are gone"):
        work.run(Ready(("lost0",), ("ab" * 32,)), Context(store, keys.inputs))
    assert store.get("ab" * 32) is None


def test_an_answer_that_is_damaged_before_its_scores_are_made_is_asked_again(home, first, monkeypatch):
    run, lost = ScoreAnswers.run, []

    def damaged(work, ready, context):
        if ready.needs and not lost:
            lost.append(ready.needs[0])
            context.store.discard(lost)
        return run(work, ready, context)

    monkeypatch.setattr(ScoreAnswers, "run", damaged)
    finished = home.run(SPEC)
    assert lost and not finished.ledger.failures
    assert values(finished, stage="overall") == values(first, stage="overall")


def test_a_finished_store_that_is_read_only_gives_the_results_again(first, after, monkeypatch):
    def refuse(*_):
        raise ReadOnly("the store is read-only")

    monkeypatch.setattr(Database, "write", refuse)
    assert rows(without_results(after).run(SPEC)) == rows(first)


def test_answers_that_are_made_again_are_scored_again(home):
    text = "benchmark: {kind: tiny}\nknowledge_bases: [{name: clean}]\ngenerators: [{kind: fickle, log: LOG}]\n"
    path = home.write(text.replace("LOG", str(home.folder / "asked")) + "evaluate: [generation]\n")
    for fresh, value in ((None, 0.0), ("answers", 1.0)):
        finished = home.run_file(path, fresh=fresh)
        assert set(values(finished, stage="generation", metric="em").values()) == {value}
