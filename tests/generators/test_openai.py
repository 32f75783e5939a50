from time import perf_counter

import pytest

from ohr.contracts import Prompt
from ohr.errors import PluginError
from ohr.generators.openai import OpenAI
from ohr.keys import identity

from ..conftest import completion

ASKED = Prompt("When?", (), "Be brief.", "Question: When?")


@pytest.fixture
def ask(chat_server):
    def given(*prompts, **how):
        how = {"base_url": chat_server.url, "model": "m", "backoff": 0.0, **how}
        return list(OpenAI(**how).answer(prompts or [ASKED]))

    return given


def test_a_reply_is_a_completion(ask, chat_server):
    chat_server.replies = [(200, {}, completion("in 1964"))]
    (given,) = ask(max_tokens=9, temperature=0.5)
    assert (given.text, given.tokens_in, given.tokens_out, given.finish, given.error) == ("in 1964", 7, 2, "stop", None)
    assert chat_server.requests == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Question: When?"}],
            "max_tokens": 9,
            "temperature": 0.5,
        }
    ]


def test_a_reply_that_was_cut_says_so(ask, chat_server):
    chat_server.replies = [(200, {}, completion("in", finish="length"))]
    assert ask()[0].finish == "length"


def test_an_empty_reply_is_no_error(ask, chat_server):
    chat_server.replies = [(200, {}, '{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}')]
    assert (ask()[0].text, ask()[0].error) == ("", None)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_that_recovers_is_asked_again(ask, chat_server, status):
    chat_server.replies = [(status, {}, "busy")] * 2
    assert ask()[0].text == "echo Question: When?"
    assert len(chat_server.requests) == 3


def test_a_server_that_does_not_recover_is_a_completion_with_an_error(ask, chat_server):
    chat_server.replies = [(500, {}, "out\nof  memory")] * 3
    (given,) = ask(retries=2)
    assert (given.text, given.finish, given.error) == ("", "error", "server answered 500: out of memory")
    assert len(chat_server.requests) == 3


def test_retry_after_is_waited_for(ask, chat_server):
    chat_server.replies = [(429, {"retry-after": "0.5"}, "slow down")]
    began = perf_counter()
    assert ask()[0].error is None
    assert perf_counter() - began >= 0.5


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2026 07:28:00 GMT", "soon", "-3", ""])
def test_a_retry_after_that_is_no_number_is_passed_over(ask, chat_server, value):
    chat_server.replies = [(429, {"retry-after": value}, "slow down")]
    assert ask()[0].error is None


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_not_tried_again(ask, chat_server, status):
    chat_server.replies = [(status, {}, '{"error": "no"}')] * 2
    assert ask()[0].error == f"server answered {status}: " + '{"error": "no"}'
    assert len(chat_server.requests) == 1


@pytest.mark.parametrize("body", ["<html>Sign in</html>", "{}", '{"choices": []}', "[]", "null", '{"choices": [{}]}'])
def test_a_reply_that_is_no_completion_is_told(ask, chat_server, body):
    chat_server.replies = [(200, {"content-type": "text/html"}, body)] * 2
    assert ask(retries=1)[0].error == f"not a chat completion: {body}"


def test_a_server_that_stalls_is_told(ask, chat_server):
    chat_server.replies = [(0, {}, "")]
    (given,) = ask(timeout=0.3, retries=0)
    assert given.error == f"no reply within 0.3 s from {chat_server.url}"


def test_a_server_that_is_not_there_is_told():
    (given,) = OpenAI(base_url="http://127.0.0.1:9", model="m", retries=1, backoff=0).answer([ASKED])
    assert given.error.startswith("cannot reach http://127.0.0.1:9: ")


def test_a_reply_that_cannot_be_unpacked_fails_alone(ask, chat_server):
    chat_server.replies = [(200, {"content-encoding": "gzip"}, "no gzip")]
    given = ask(ASKED, ASKED, retries=0, concurrency=1)
    assert [one.finish for one in given] == ["error", "stop"]


def test_one_failing_prompt_leaves_the_others_alone(ask, chat_server):
    prompts = [Prompt("", (), "", f"number {number}") for number in range(20)]
    chat_server.replies = [(400, {}, "no")]
    given = ask(*prompts, concurrency=1)
    assert [one.text for one in given] == ["", *(f"echo number {number}" for number in range(1, 20))]


def test_replies_come_in_order_from_several_requests_at_once(ask):
    prompts = [Prompt("", (), "", f"number {number}") for number in range(40)]
    assert [given.text for given in ask(*prompts, concurrency=8)] == [f"echo number {number}" for number in range(40)]


def test_the_key_is_sent_and_kept_nowhere(ask, chat_server, monkeypatch):
    monkeypatch.setenv("OHR_TEST_KEY", "sk-very-secret")
    ask(api_key_env="OHR_TEST_KEY")
    assert chat_server.headers[0]["Authorization"] == "Bearer sk-very-secret"
    stage = OpenAI(base_url=chat_server.url, model="m", api_key_env="OHR_TEST_KEY")
    assert "secret" not in f"{stage!r}{stage.model_dump_json()}{identity(stage)}"


def test_a_server_that_repeats_the_key_does_not_bring_it_into_the_results(ask, chat_server, monkeypatch):
    monkeypatch.setenv("OHR_TEST_KEY", "sk-very-secret")
    chat_server.replies = [(401, {}, "Incorrect API key provided: sk-very-secret")]
    assert "sk-very-secret" not in ask(api_key_env="OHR_TEST_KEY")[0].error


def test_a_missing_key_is_told_before_any_work(monkeypatch):
    monkeypatch.delenv("OHR_TEST_KEY", raising=False)
    with pytest.raises(PluginError) as caught:
        OpenAI(base_url="http://x", model="m", api_key_env="OHR_TEST_KEY").check()
    assert str(caught.value) == "generator openai: environment variable OHR_TEST_KEY is not set"
