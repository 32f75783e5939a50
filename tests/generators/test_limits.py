"""Limits per minute through the client: prompts go out at the server's pace, and to wait costs none of their time."""

import logging
from time import time

import pytest

from ohr.contracts import Prompt, Turn
from ohr.contracts.generation import Conversation
from ohr.errors import SpecError
from ohr.generators.openai import OpenAI
from ohr.models.allowance import size_of
from ohr.spec.read import make_spec

from ..conftest import completion


@pytest.fixture(autouse=True)
def _own_accounts(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def prompts(count):
    return [Prompt("", (), "", f"number {number}") for number in range(count)]


def limited(server, **how):
    return OpenAI(base_url=server.url, model="m", **{"backoff": 0.0, "retries": 0, **how})


def test_prompts_go_out_at_the_pace_of_the_limit(chat_server):
    began = time()
    given = list(limited(chat_server, requests_per_minute=600).answer(prompts(30)))
    assert [reply.text for reply in given] == [f"echo number {number}" for number in range(30)]
    assert time() - began > (30 - 11) * 62 / 600 - 0.1  # those of a second may go at once
    assert len(chat_server.requests) == 30


def test_prompts_and_conversations_share_one_limit(chat_server):
    began = time()
    list(limited(chat_server, requests_per_minute=600).answer(prompts(10)))
    talks = [Conversation((Turn("user", (f"talk {number}",)),), (), "q") for number in range(10)]
    with limited(chat_server, requests_per_minute=600).conversing() as start:
        replies = [future.result().text for future in [start(talk) for talk in talks]]
    assert replies == [f"echo talk {number}" for number in range(10)]
    assert time() - began > (20 - 11) * 62 / 600 - 0.1


def test_tokens_have_a_pace_too_and_replies_correct_it(chat_server):
    began = time()
    # the prompts have 6 tokens here and 7 at the server; their replies may have 100, and have 3
    given = list(limited(chat_server, tokens_per_minute=2400, max_tokens=100, concurrency=1).answer(prompts(12)))
    assert all(reply.error is None for reply in given)
    assert time() - began > 12 * 10 * 62 / 2400 - 1.5
    assert time() - began < 12 * 106 * 62 / 2400


def test_to_wait_for_the_limit_is_not_to_wait_for_a_reply(chat_server):
    given = list(limited(chat_server, requests_per_minute=40, timeout=1.0, concurrency=3).answer(prompts(4)))
    assert [reply.error for reply in given] == [None] * 4


def test_a_busy_server_that_asks_to_wait_is_not_given_up(chat_server):
    chat_server.replies = [(429, {"retry-after": "0.01"}, "slow down")] * 25
    given = list(limited(chat_server, concurrency=1).answer(prompts(26)))
    assert [reply.error for reply in given] == ["server answered 429: slow down"] * 25 + [None]
    chat_server.replies = [(429, {}, "slow down")] * 25
    given = list(limited(chat_server, concurrency=1).answer(prompts(26)))
    assert given[25].error == "not asked: 20 prompts in a row failed: server answered 429"


def test_a_busy_server_holds_all_prompts(chat_server):
    chat_server.replies = [(429, {"retry-after": "2", "content-type": "text/html"}, "<html>slow down</html>")]
    began = time()
    given = list(limited(chat_server, requests_per_minute=6000, retries=1, concurrency=1).answer(prompts(3)))
    assert [reply.error for reply in given] == [None] * 3
    assert time() - began > 1.9


def test_headers_of_a_reply_are_followed(chat_server):
    says = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s500ms"}
    chat_server.replies = [(200, says, completion("a"))]
    began = time()
    given = list(limited(chat_server, requests_per_minute=6000, concurrency=1).answer(prompts(2)))
    assert [reply.error for reply in given] == [None, None]
    assert time() - began > 1.4


def test_a_prompt_larger_than_the_limit_is_sent(chat_server, caplog):
    with caplog.at_level(logging.WARNING, "ohr"):
        (given,) = limited(chat_server, tokens_per_minute=50).answer([Prompt("", (), "", "word " * 200)])
    assert given.error is None
    assert "is more than tokens_per_minute (50): it is sent alone in a minute" in caplog.text


def test_without_limits_nothing_is_written(chat_server, tmp_path):
    list(limited(chat_server).answer(prompts(2)))
    assert not (tmp_path / "cache").exists()


def test_the_size_of_a_request():
    parts = [{"type": "text", "text": "three"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
    messages = [{"role": "system", "content": "one two"}, {"role": "user", "content": parts}]
    assert size_of({"messages": messages, "max_tokens": 9}, counted=True) == (4 + 2 + 4 + 1 + 1000, 9)
    assert size_of({"messages": messages, "max_completion_tokens": 7}, counted=False) == (0, 7)
    assert size_of({"messages": messages}, counted=False) == (0, None)


def test_one_server_has_one_limit_in_a_spec():
    model = {"kind": "openai", "base_url": "http://localhost/v1", "model": "m"}
    keys = {
        "benchmark": {"kind": "mini"},
        "knowledge_bases": [{"name": "clean"}],
        "retrievers": [{"kind": "bm25"}],
        "generators": [{**model, "requests_per_minute": 5}],
        "metrics": [{"kind": "judge", "generator": {**model, "requests_per_minute": 5, "max_tokens": 3}}],
    }
    make_spec(keys, "spec")
    keys["metrics"][0]["generator"]["requests_per_minute"] = 6
    says = (
        r"m at http://localhost/v1 is asked with different limits: give requests_per_minute and tokens_per_minute the"
    )
    with pytest.raises(SpecError, match=says):
        make_spec(keys, "spec")
