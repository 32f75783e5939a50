"""Agents and a chat server: the shape of messages, faults of the server, and runs that are killed."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event, Lock
from time import sleep
from typing import Any

import pytest

from ohr.results.run import Run

from .conftest import answering, rows, values, wait_until

SPEC = """\
benchmark: {{kind: tiny, size: {size}}}
knowledge_bases: [{{name: clean}}]
chunker: {{kind: page}}
agents:
  - kind: react
    retriever: {{kind: bm25}}
    model: {{kind: openai, base_url: "{url}", model: m, concurrency: 4, backoff: 0.0, retries: 2, timeout: {timeout}}}
retries: {retries}
"""


@dataclass
class Chat:
    """A server that searches, reads and answers as `react` wants it; `faults` are what it does to some requests.

    Args:
        seconds: how long a reply takes.
        finished: whole replies by the conversation that they are to.
    """

    url: str = ""
    seconds: float = 0.0
    faults: dict[int, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    finished: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)
    over: Event = field(default_factory=Event)

    def reply(self, messages: list[dict[str, str]]) -> str:
        question = messages[1]["content"].partition("Question: ")[2].splitlines()[0]
        last = messages[-1]["content"]
        if len(messages) == 2:
            return f"I look for it. <search>{question}</search>"
        if "The search found" in last:
            return "<read>1</read>"
        return f"<answer>{last.partition('built in ')[2][:4]}</answer>"

    def check(self, body: dict[str, Any]) -> None:
        """Note what no server would take."""
        messages = body["messages"]
        roles = [message["role"] for message in messages]
        if roles[0] == "system":
            roles = roles[1:]
        right = ["user", "assistant"] * len(roles)
        if roles != right[: len(roles)] or len(roles) % 2 == 0:
            self.wrong.append(f"roles {roles}")
        self.wrong += [f"message {m}" for m in messages if set(m) != {"role", "content"} or not m["content"]]


@pytest.fixture
def chat() -> Iterator[Chat]:
    state = Chat()

    def reply(body: dict[str, Any]) -> tuple[int, str] | None:
        with state.lock:
            state.asked.append(json.dumps(body["messages"]))
            fault = state.faults.get(len(state.asked))
            state.check(body)
        state.over.wait(state.seconds)
        if fault == "silence":
            state.over.wait(20)
            return None
        return fault or (200, whole(body))

    def whole(body: dict[str, Any]) -> str:
        message = {"content": state.reply(body["messages"])}
        return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})

    def sent(body: dict[str, Any], text: str) -> None:
        if text == whole(body):
            with state.lock:
                state.finished[json.dumps(body["messages"])] += 1

    with answering(reply, sent) as state.url:
        yield state
        state.over.set()


def spec(chat, size=4, retries=0, timeout=20):
    return SPEC.format(url=chat.url, size=size, retries=retries, timeout=timeout)


def test_an_agent_answers_through_a_server_that_checks_every_message(home, chat):
    done = home.run(spec(chat))
    assert not done.ledger.failures and not chat.wrong
    assert set(values(done, stage="overall", metric="em").values()) == {1.0}
    assert len(chat.asked) == done.ledger.calls["agent calls"] == 24
    assert Run(done.folder).manifest["agents"]["react"] == {"reads": ["text"], "ends": {"answered": 8}}


FAULTS = {
    "busy": (429, "slow down"),
    "broken": (500, "out of memory"),
    "garbage": (200, "<html>"),
    "no message": (200, '{"choices": [{}]}'),
    "nothing": (200, ""),
    "silence": "silence",
}


@pytest.mark.acceptance
def test_a_fault_that_passes_costs_a_try_and_no_question(home, chat):
    chat.faults = dict(zip((3, 7, 11, 15, 19, 23), FAULTS.values(), strict=True))
    done = home.run(spec(chat, timeout=5).replace("retries: 2", f"retries: {len(FAULTS)}"))
    assert not done.ledger.failures and not chat.wrong
    assert set(values(done, stage="overall", metric="em").values()) == {1.0}
    assert len(chat.asked) == 24 + len(FAULTS)


@pytest.mark.parametrize("fault", ["broken", pytest.param("garbage", marks=pytest.mark.acceptance)])
def test_a_fault_that_stays_fails_its_question_and_keeps_the_calls_before(home, chat, fault):
    words = {"broken": "server answered 500", "garbage": "not a chat completion"}[fault]
    chat.faults = dict.fromkeys(range(13, 100), FAULTS[fault])
    done = home.run(spec(chat))
    failed = done.ledger.failures
    assert failed and all(words in each.reason and each.reason.startswith("step ") for each in failed)
    answered = rows(done, "answers", end="answered")
    assert len(answered) + len(failed) == 8  # no question is lost
    kept = len(chat.finished)
    chat.faults = {}
    again = home.run(spec(chat))
    assert not again.ledger.failures and again.ledger.calls["agent calls"] == 24 - kept
    assert set(chat.finished.values()) == {1}  # what was answered before was not asked again


def test_a_refusal_is_a_failed_question_not_an_answer(home, chat):
    refusal = {"choices": [{"message": {"content": None, "refusal": "I must not"}, "finish_reason": "stop"}]}
    chat.faults = {1: (200, json.dumps(refusal))}
    done = home.run(spec(chat))
    (failure,) = done.ledger.failures
    assert failure.reason == "step 1, model: the model refused to answer: I must not"


def test_a_failed_question_is_tried_again_without_its_finished_calls(home, chat):
    chat.faults = {10: (200, "<html>"), 11: (200, "<html>")}
    done = home.run(spec(chat, retries=1))
    assert not done.ledger.failures
    assert set(chat.finished.values()) == {1} and len(chat.asked) == 26


@pytest.mark.acceptance
def test_a_killed_run_asks_no_finished_call_again(home, chat):
    chat.seconds, chat.faults = 0.05, {1: "silence"}  # the other questions do not wait for the first
    with home.start(spec(chat, size=20)) as process:
        wait_until(lambda: len(chat.finished) >= 80, process, 60)
        os.killpg(process.pid, signal.SIGKILL)
    sleep(0.3)  # what was in flight ends at the server
    before = Counter(chat.asked)
    assert 80 <= len(chat.finished) < 117
    chat.seconds, chat.faults = 0.0, {}
    done = home.run(spec(chat, size=20))
    assert not done.ledger.failures and set(values(done, stage="overall", metric="em").values()) == {1.0}
    again = Counter(chat.asked) - before
    repeated = sum((again & before).values())
    assert repeated <= 8, "only calls in flight, and replies of that moment not yet written, may be asked again"
    assert len(before | again) == 120 == len(chat.finished)


HERE = """\
from pathlib import Path
from ohr.engine.executors.inline import Inline
from ohr.spec.read import read_spec
from ohr.runner.run import run
run(read_spec(Path("spec.yaml"), trust_plugins=True), store=Path("store"), runs=Path("other"), executor=Inline())
"""


@pytest.mark.acceptance
def test_two_runs_at_once_on_one_store_ask_nothing_twice(home, chat):
    chat.seconds = 0.2
    text = spec(chat, size=3).replace(
        "[{name: clean}]", "[{name: clean}, {name: dosed, text_noise: {kind: formatting, rate: 0.01}}]"
    )
    home.write(text)
    with subprocess.Popen([sys.executable, "-c", HERE], cwd=home.folder) as other:
        while not chat.asked and other.poll() is None:
            sleep(0.01)
        home.run(text)  # begins while the other one waits for its first replies
        assert other.wait(timeout=120) == 0
    repeated = {name: count for name, count in chat.finished.items() if count > 1}
    assert chat.finished and not repeated
