"""Runs whose prompts are sent in batches: the results are those without, and no kill makes a batch sent twice."""

import os
import signal
from shutil import rmtree
from time import time

import pytest

from ohr.store import open_store, prune

from ..batch_server import desk, error_line, line_of
from .conftest import run_again, wait_until, warnings, without_times

SPEC = """\
benchmark: {{kind: tiny}}
knowledge_bases:
  - {{name: clean}}
  - {{name: read, ocr: {{kind: pixels}}}}
chunker: {{kind: page}}
retrievers: [{{kind: bm25, top_k: 2}}]
generators: [{{kind: openai, base_url: "{url}", model: m, backoff: 0.0, retries: 0{batch}}}]
"""
WORDS = ("--no-report", "--workers", "1")
BATCH = ", batch: {poll_seconds: 0.1}"
JUDGE = 'metrics: [{{kind: judge, generator: {{kind: openai, base_url: "{url}", model: j{batch}}}}}]\n'


@pytest.fixture
def server():
    with desk() as state:
        yield state


def spec(server, batch=BATCH, more=""):
    return (SPEC + more).format(url=server.url, batch=batch)


@pytest.mark.parametrize("more", [pytest.param("", marks=pytest.mark.acceptance), JUDGE], ids=["answers", "judged"])
def test_results_are_those_of_prompts_that_are_sent_one_by_one(home, server, more):
    batched = home.run(spec(server, more=more))
    scores = without_times(batched)
    assert server.completions == 0
    prompts = sum(server.sizes())
    assert len(server.sizes()) == (2 if more else 1)  # the prompts of all cells together, then those about the answers
    assert without_times(run_again(home, spec(server, "", more))) == scores  # the same store: every reply is found
    assert server.completions == 0
    rmtree(home.store)
    asked = run_again(home, spec(server, "", more))
    assert server.completions == prompts
    assert without_times(asked) == scores
    assert (asked.ledger.calls, asked.ledger.tokens) == (batched.ledger.calls, batched.ledger.tokens)


def test_replies_that_were_asked_one_by_one_are_not_batched(home, server):
    home.run(spec(server, ""))
    run_again(home, spec(server))
    assert server.batches == {}


@pytest.mark.acceptance
def test_a_batch_that_waits_is_within_no_time_limit(home, server):
    server.looks = 45
    finished = home.run(spec(server) + "limits: {seconds: 4}\n", workers=1)
    assert finished.ledger.failures == []
    assert server.batches["batch-0"]["looks"] == 46


def test_prompts_that_fail_are_asked_by_the_next_run_and_not_by_this_one(home, server):
    server.output = lambda requests: [line_of(each) for each in requests[:3]]
    server.errors = lambda requests: [
        error_line(each, "batch_expired", "was not done in time") for each in requests[3:]
    ]
    first = home.run(spec(server))
    (size,) = server.sizes()
    reasons = {failure.reason for failure in first.ledger.failures if failure.stage == "generator"}
    assert reasons == {"was not done in time"}
    server.output, server.errors = lambda requests: [line_of(each) for each in requests], lambda requests: []
    assert run_again(home, spec(server)).ledger.failures == []
    assert server.sizes() == [size, size - 3]


def test_two_generators_wait_side_by_side(home, server):
    other = f'  - {{kind: openai, name: other, base_url: "{server.url}", model: n{BATCH}}}\n'
    text = spec(server).replace("generators: [", "generators:\n  - ").replace("0.1}}]", "0.1}}") + other
    begun = server.look

    def look(name):
        batch = begun(name)
        return batch if len(server.batches) == 2 else {**batch, "status": "in_progress"}

    server.look = look
    assert home.run(text).ledger.failures == []
    assert len(server.sizes()) == 2


def test_an_agent_asks_one_by_one_and_the_run_says_so(home, server):
    model = f'{{kind: openai, base_url: "{server.url}", model: m{BATCH}}}'
    agents = f"agents: [{{kind: react, retriever: {{kind: bm25}}, model: {model}}}]\n"
    text = spec(server).partition("retrievers")[0] + agents
    finished = home.run(text)
    assert server.batches == {}
    assert server.completions > 0
    says = "react: `batch` is for prompts; the calls of an agent wait for each other and are sent singly"
    assert says in warnings(finished)


def kill_at_stage(home, server):
    """Start a run, and kill it while it waits for the reply at which the server stalls."""
    with home.start(spec(server), *WORDS) as process:
        wait_until(server.reached.is_set, process)
        os.killpg(process.pid, signal.SIGKILL)
        message = process.communicate()[1]
    assert server.reached.is_set(), message
    server.stalls = ""
    server.go.set()


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param("upload", marks=pytest.mark.acceptance),
        pytest.param("create", marks=pytest.mark.acceptance),
        pytest.param("look", marks=pytest.mark.acceptance),
        "fetch",
    ],
)
def test_a_run_that_was_killed_sends_no_batch_twice(home, server, stage):
    server.stalls = stage
    kill_at_stage(home, server)
    finished = home.run(spec(server))
    assert finished.ledger.failures == []
    assert len(server.batches) == 1
    assert finished.ledger.calls["answers"] == server.sizes()[0]
    assert server.asked.count("create") == 1
    assert server.asked.count("upload") == (2 if stage == "upload" else 1)


def wait_in_vain(home, server, **options):
    """Run until the batch is at the server, which is then away for as long as a run waits."""
    server.refuses = {"look": [(503, "away")] * 20}
    return home.run(spec(server, ", batch: {poll_seconds: 0.01}"), **options)


def test_pruning_keeps_the_notes_of_batches_under_way(home, server):
    wait_in_vain(home, server)
    store = open_store(home.store)
    for run in store.pins():
        if not run.startswith("batch of m, "):
            store.unpin(run)
    assert prune(store, time() + 60).parts > 0
    assert run_again(home, spec(server)).ledger.failures == []
    assert len(server.batches) == 1
    assert not [run for run in store.pins() if run.startswith("batch of ")]
    assert prune(store, time() + 60).pinned.keys() == store.pins().keys()


def test_fresh_answers_do_not_come_from_an_old_batch(home, server, caplog):
    wait_in_vain(home, server)
    finished = home.run_file(home.write(spec(server)), fresh="answers")
    assert finished.ledger.failures == []
    assert len(server.batches) == 2
    assert "1 batch of an earlier run is not waited for, as answers are made again" in caplog.messages


def test_a_run_without_batches_says_that_one_waits_at_the_server(home, server):
    wait_in_vain(home, server)
    says = (
        "1 batch of prompts for m waits at the server, of this or of another study: with `batch` this study takes the "
    )
    assert says + "replies that it needs; without, it sends its prompts one by one" in warnings(
        home.run(spec(server, ""))
    )
    assert not any("waits at the server" in line for line in warnings(home.run(spec(server))))


@pytest.mark.acceptance
def test_a_run_that_was_killed_between_two_files_fetches_both_and_stores_each_reply_once(home, server):
    server.looks, server.stalls = 0, "fetch errors"
    server.output = lambda requests: [line_of(each) for each in requests[:5]]
    server.errors = lambda requests: [line_of(each) for each in requests[5:]]
    kill_at_stage(home, server)
    names = [each["custom_id"] for each in server.requests(server.batches["batch-0"])]
    assert open_store(home.store).has_many(names) == set(names[:5])
    finished = home.run(spec(server))
    assert finished.ledger.failures == []
    assert finished.ledger.calls["answers"] == len(names) - 5
    assert len(server.batches) == 1


def test_only_prompts_without_replies_are_sent(home, server):
    home.run(spec(server))
    names = [each["custom_id"] for each in server.requests(server.batches["batch-0"])]
    open_store(home.store).discard(names[3:5])
    assert run_again(home, spec(server)).ledger.failures == []
    assert server.sizes() == [len(names), 2]


@pytest.mark.parametrize("sent", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.acceptance)])
def test_a_run_that_is_ended_says_that_the_batch_continues(home, server, sent):
    server.looks = 10**6
    with home.start(spec(server), *WORDS) as process:
        wait_until(lambda: "look" in server.asked, process)
        os.killpg(process.pid, sent)
        message = process.communicate()[1]
    assert process.returncode == 128 + sent
    assert "1 batch continues at the server; the same command waits for the replies" in message
    assert "interrupted; run the same command again to resume" in message
    assert "WARNING" not in message
    assert "\n1 batch continues" in f"\n{message}"
    server.looks = 0
    assert home.run(spec(server)).ledger.failures == []
    assert len(server.batches) == 1


def test_progress_says_how_many_batches_and_replies_there_are(home, server):
    finished = home.run(spec(server))
    events = (finished.folder / "events.jsonl").read_text()
    total = server.sizes()[0]
    assert '"phase": "replies in batches"' in events
    assert f'"total": {total}' in events
    assert '"detail": "1 batch"' in events
