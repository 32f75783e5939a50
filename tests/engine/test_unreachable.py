"""A run with a server that is not there, or that sends what no further try changes: the rest is done all the same."""

import logging
from time import monotonic

import pytest

from tests.engine.conftest import rows

SPEC = """\
benchmark: {{kind: tiny, size: 6}}
knowledge_bases: [{{name: clean}}, {{name: read, ocr: {{kind: pixels}}}}]
chunker: {{kind: page}}
retrievers: [{{kind: bm25}}]
evaluate: [overall]
retries: 2
generators:
  - {{kind: parrot}}
  - {{kind: openai, base_url: "{url}", model: m, concurrency: 1, retries: 9, backoff: 30}}
"""
CALLS = """\
benchmark: {{kind: tiny, size: 6}}
knowledge_bases: [{{name: clean}}]
chunker: {{kind: page}}
agents:
  - kind: react
    retriever: {{kind: bm25}}
    model: {{kind: openai, base_url: "{url}", model: m, backoff: 0.0}}
retries: 2
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_what_needs_a_server_that_is_not_there_fails_at_once_and_all_else_is_done(home, caplog, workers):
    began = monotonic()
    with caplog.at_level(logging.WARNING):
        done = home.run(SPEC.format(url="http://127.0.0.1:9/v1"), workers=workers)
    assert monotonic() - began < 25  # nothing waits for `backoff`
    said = "cannot reach http://127.0.0.1:9: Connection refused; start it, for example with `vllm serve m --port 9`"
    assert any(message.startswith(said) for message in caplog.messages)
    failed = done.ledger.failures
    assert {each.item.partition(" on ")[0] for each in failed} == {"openai"} and len(failed) == 48
    assert all(each.reason.startswith("cannot reach http://127.0.0.1:9: ") for each in failed)
    answered = {
        (row["generator"], row["condition"]) for row in rows(done, "answers", stage="overall") if not row["error"]
    }
    assert answered == {("parrot", "clean"), ("parrot", "read")}


def test_a_server_that_is_started_later_is_asked_by_the_next_run(home, chat_server):
    port = chat_server.url.rpartition(":")[2]
    away = home.run(SPEC.format(url="http://127.0.0.1:9/v1"))
    assert away.ledger.failures
    done = home.run(SPEC.format(url=f"http://127.0.0.1:{port}"))
    assert not done.ledger.failures


@pytest.mark.parametrize("text", [SPEC, CALLS], ids=["prompts", "calls of an agent"])
def test_what_no_further_try_changes_is_asked_for_once(home, chat_server, text):
    chat_server.replies = [(200, {}, '{"choices": null}')] * 50
    done = home.run(text.format(url=chat_server.url))
    failed = done.ledger.failures
    assert len(failed) == len(chat_server.requests) > 0
    assert all('not a chat completion: {"choices": null}' in each.reason for each in failed)
