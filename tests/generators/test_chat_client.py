"""A chat server that misbehaves: each fault costs its own request, in bounded time and memory, and never the key."""

import gzip
import json
import socket
import threading
from base64 import b64encode
from contextlib import contextmanager, suppress
from time import perf_counter

import pytest

from ohr.contracts import Permanent, Prompt
from ohr.errors import PluginError
from ohr.generators.openai import OpenAI
from ohr.models import reach
from ohr.work.plugin_checks import checked_completion

from ..conftest import completion

KEY = "sk-very-secret-0123456789"


def prompts(count):
    return [Prompt("", (), "", f"number {number}") for number in range(count)]


def ask(url, *asked, **how):
    how = {"base_url": url, "model": "m", "backoff": 0.0, "retries": 0, **how}
    return list(OpenAI(**how).answer(asked or prompts(1)))


@contextmanager
def server_that(speak):
    """A server that reads a request and then does what `speak(connection, done)` does."""
    done = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def converse(connection):
        with connection, suppress(OSError):
            connection.recv(65536)
            speak(connection, done)

    def accept():
        with suppress(OSError):
            while True:
                threading.Thread(target=converse, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    done.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def drip_a_body(connection, done):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while not done.wait(0.05):
        connection.sendall(b" ")


def drip_headers(connection, done):
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not done.wait(0.05):
        connection.sendall(b"X-More: 1\r\n")


def say_nothing(connection, done):
    done.wait()


@pytest.mark.parametrize("speak", [drip_a_body, drip_headers, say_nothing])
def test_the_deadline_is_of_the_whole_reply(speak):
    began = perf_counter()
    with server_that(speak) as url:
        (given,) = ask(url, timeout=0.5, retries=1)
        assert given.error == f"no whole reply within 0.5 s from {url}"
    assert perf_counter() - began < 30


def without_end(connection, done):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not done.is_set():
        connection.sendall(b" " * 65536)


def sends(body, head=""):
    first = f"HTTP/1.1 200 OK\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode()
    return lambda connection, _: connection.sendall(first + body)


@pytest.mark.parametrize(
    ("speak", "error"),
    [
        (without_end, "the reply is larger than 4 MB"),
        (sends(gzip.compress(b" " * (64 << 20)), "Content-Encoding: gzip\r\n"), "the reply is larger than 4 MB"),
        (sends(completion("aa").encode().replace(b"aa", b"\xff\xfe")), "not a chat completion: "),
        (lambda connection, _: connection.sendall(b"SSH-2.0-OpenSSH_9\r\n"), "cannot reach SERVER: "),
    ],
    ids=["without end", "packed", "not UTF-8", "no HTTP"],
)
def test_a_reply_that_cannot_be_one_is_not_read_on(speak, error):
    with server_that(speak) as url:
        assert ask(url)[0].error.startswith(error.replace("SERVER", reach.origin(url)))


@pytest.mark.parametrize("wait", ["86400", "inf"])
def test_the_server_does_not_decide_how_long_a_prompt_takes(chat_server, wait):
    chat_server.replies = [(429, {"retry-after": wait}, "slow down")] * 9
    began = perf_counter()
    (given,) = ask(chat_server.url, timeout=10, retries=3)
    assert perf_counter() - began < 40
    assert given.error == "server answered 429: slow down"
    assert len(chat_server.requests) == 1


ODD = {
    "too deep": (200, {}, "[" * 200_000 + "]" * 200_000),
    "number too long": (200, {}, '{"choices": [{"message": {"content": "a"}}], "x": ' + "9" * 5000 + "}"),
    "choices are text": (200, {}, '{"choices": "abc"}'),
    "message is null": (200, {}, '{"choices": [{"message": null}]}'),
    "content is a list": (200, {}, '{"choices": [{"message": {"content": ["a"]}}]}'),
    "not gzip": (200, {"content-encoding": "gzip"}, "no gzip"),
    "charset hex": (500, {"content-type": "text/plain; charset=hex"}, "zz"),
    "charset undefined": (500, {"content-type": "text/plain; charset=undefined"}, "zz"),
    "charset punycode": (500, {"content-type": "text/plain; charset=punycode"}, "zz"),
    "redirect": (307, {"location": "http://127.0.0.1:9/elsewhere"}, ""),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_reply_fails_its_own_prompt_only(chat_server, odd):
    chat_server.replies = [ODD[odd]]
    given = ask(chat_server.url, *prompts(6), concurrency=1)
    assert [one.finish for one in given] == ["error", *["stop"] * 5]
    assert given[0].error


@pytest.mark.parametrize(
    "usage", ["many", 5, {"prompt_tokens": 2**63, "completion_tokens": 10**30}, {"prompt_tokens": -5}]
)
def test_token_counts_that_are_none_are_0(chat_server, usage):
    body = {"choices": [{"message": {"content": "a"}, "finish_reason": {"a": 1}}], "usage": usage}
    chat_server.replies = [(200, {}, json.dumps(body))]
    given = checked_completion(ask(chat_server.url)[0])
    assert (given.text, given.tokens_in, given.tokens_out, given.finish) == ("a", 0, 0, "stop")


# --- the key -----------------------------------------------------------------------------------------------------


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OHR_TEST_KEY", KEY)
    return {"api_key_env": "OHR_TEST_KEY"}


def reply(**message):
    return json.dumps({"choices": [{"message": {"content": "", **message}, "finish_reason": "stop"}]})


ECHOES = {
    "behind the cut": (401, {}, "x" * 180 + " " + KEY),
    "escaped": (401, {}, json.dumps({"error": KEY.replace("-", "\u002d").replace("-", "\\u002d")})),
    "escaped once": (400, {}, '{"error": "' + KEY.replace("-", "\\u002D") + '"}'),
    "as in a url": (400, {}, KEY.replace("-", "%2d")),
    "in a reply": (200, {}, reply(content=f"you sent {KEY}")),
    "escaped in a reply": (200, {}, reply(content=f"you sent {KEY}").replace("-", "\\u002d")),
    "in a refusal": (200, {}, reply(refusal="x" * 180 + KEY)),
    "reversed": (400, {}, KEY[::-1]),
    "in base64": (400, {}, b64encode(KEY.encode()).decode()),
    "in base64 behind other words": (400, {}, b64encode(b"Bearer " + KEY.encode()).decode()),
    "in hexadecimal": (400, {}, KEY.encode().hex()),
    "in parts": (400, {}, f"begins with {KEY[:9]} and ends with {KEY[-8:]}"),
    "in no completion": (200, {}, f"<html>{KEY}</html>"),
}


@pytest.mark.parametrize("echo", ECHOES)
def test_a_key_that_comes_back_is_removed(chat_server, key, echo):
    chat_server.replies = [ECHOES[echo]]
    (given,) = ask(chat_server.url, **key)
    shown = f"{given.text}{given.error}"
    assert "***" in shown or "x" * 20 in shown
    coded = b64encode(KEY.encode()).decode()
    secrets = (KEY[:6], KEY[-6:], KEY[::-1][:8], coded[:12], coded[8:20], KEY.encode().hex()[:12], "secret")
    assert all(part not in shown for part in secrets)


def test_a_short_key_is_a_word_like_any_other(chat_server, monkeypatch):
    monkeypatch.setenv("OHR_TEST_KEY", "EMPTY")
    chat_server.replies = [(200, {}, completion("The box is EMPTY."))]
    assert ask(chat_server.url, api_key_env="OHR_TEST_KEY")[0].text == "The box is EMPTY."


@pytest.mark.parametrize("odd", [KEY + "\n", KEY + "\r", KEY[:9] + "\t" + KEY[9:], KEY + " ", KEY + "é", "\x7f" + KEY])
def test_a_key_that_cannot_be_one_is_refused_by_its_variable(monkeypatch, odd):
    monkeypatch.setenv("OHR_TEST_KEY", odd)
    with pytest.raises(PluginError) as caught:
        OpenAI(base_url="http://x", model="m", api_key_env="OHR_TEST_KEY").check()
    assert str(caught.value) == (
        "generator openai: environment variable OHR_TEST_KEY has a space, a line end, or another character that cannot "
        "be part of a key"
    )


def test_what_a_library_says_about_a_key_does_not_hold_it(chat_server, monkeypatch):
    monkeypatch.setenv("OHR_TEST_KEY", KEY + "\r")  # as after a check that was left out
    (given,) = ask(chat_server.url, api_key_env="OHR_TEST_KEY")
    assert "Illegal header value" in given.error
    assert "secret" not in given.error


@pytest.mark.parametrize(
    ("url", "message"),
    [
        *(
            (f"http://x/v1{end}", "must end with its path")
            for end in (f"?api_key={KEY}", f"?x=1&token={KEY}", f"#{KEY}")
        ),
        *(
            (f"http://{user}@x/v1", "openai: base_url holds a user name or a key; use `api_key_env` instead$")
            for user in (f"user:{KEY}", KEY)
        ),
    ],
)
def test_an_address_with_a_key_or_more_than_a_path_is_refused_without_it(url, message):
    with pytest.raises(PluginError, match=message) as caught:
        OpenAI(base_url=url, model="m").check()
    assert KEY not in str(caught.value)


def test_a_key_that_leaves_this_machine_is_announced_once(key, caplog):
    for _ in range(2):
        ask("http://key.invalid/v1", **key)
    ask("http://127.0.0.1:9", **key)
    assert caplog.messages == ["generator openai: sends the key in OHR_TEST_KEY to http://key.invalid/v1"]


# --- servers that stay away --------------------------------------------------------------------------------------


def test_a_server_that_only_fails_is_not_asked_for_every_prompt(chat_server):
    chat_server.replies = [(503, {}, f"busy {number}") for number in range(60)]
    given = ask(chat_server.url, *prompts(60), concurrency=4, retries=1)
    assert 40 <= len(chat_server.requests) <= 48  # 20 prompts, twice each, and those under way
    assert given[0].error.startswith("server answered 503: busy ")
    assert given[-1].error == "not asked: 20 prompts in a row failed: server answered 503"
    chat_server.replies = []
    assert [one.error for one in ask(chat_server.url, *prompts(3))] == [None] * 3


def test_a_server_that_was_never_there_costs_no_further_try():
    began = perf_counter()
    given = ask("http://127.0.0.1:9/v1", *prompts(300), retries=9, backoff=60.0)
    assert perf_counter() - began < 30
    reasons = {each.error for each in given}
    refused = "cannot reach http://127.0.0.1:9: Connection refused"
    assert reasons == {f"{refused}; start it, for example with `vllm serve m --port 9`"}


def test_a_server_that_goes_away_is_tried_again_and_then_left_alone():
    reach.met("http://127.0.0.1:9/v1")
    began = perf_counter()
    given = ask("http://127.0.0.1:9/v1", *prompts(300), retries=1, backoff=0.5)
    assert 0.5 <= perf_counter() - began < 30
    assert {each.error.partition(": ")[0] for each in given} == {"cannot reach http://127.0.0.1:9"}


def test_a_port_without_a_program_behind_it_costs_few_tries():
    with server_that(lambda connection, _: None) as url:
        began = perf_counter()
        given = ask(url, *prompts(300), retries=9, backoff=0.2)
        assert perf_counter() - began < 10
    assert all(each.error.startswith(f"cannot reach {reach.origin(url)}: ") for each in given)


PERMANENT = {
    "choices are null": (200, '{"id": "a", "choices": null}'),
    "choices are empty": (200, '{"choices": []}'),
    "legacy": (
        200,
        '{"object": "text_completion", "choices": [{"text": "Rome", "index": 0, "finish_reason": "stop"}]}',
    ),
    "stream": (200, 'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n'),
    "stream of nothing": (200, ": ping\n\ndata: null\n\n"),
    "vllm": (400, '{"message": "This model\'s maximum context length is 4096 tokens. However, you requested 5000"}'),
    "llama.cpp": (500, '{"error": {"message": "the request exceeds the available context size (4096 tokens)"}}'),
    "router": (200, '{"error": {"message": "prompt is too long: 205000 tokens > 200000 maximum", "code": 400}}'),
    "tgi": (422, '{"error": "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000"}'),
    "part of a stream": (200, '{"choices": [{"index": 0, "delta": {"content": "a"}}]}'),
    "gemini": (400, '{"error": "input token count (9) exceeds the maximum number of tokens allowed (8)"}'),
    "no such model": (404, '{"error": "model not found"}'),
}
"""Replies that a server sends however often it is asked."""


@pytest.mark.parametrize("name", PERMANENT)
def test_a_reply_that_no_further_try_changes_is_asked_for_once(chat_server, name):
    status, text = PERMANENT[name]
    chat_server.replies = [(status, {}, text)] * 9
    (given,) = ask(chat_server.url, retries=4)
    assert len(chat_server.requests) == 1
    assert isinstance(checked_completion(given).error, Permanent)


PASSING = {
    "error beside null": (200, '{"choices": null, "error": {"message": "upstream is overloaded"}}'),
    "half a reply": (200, '{"choices": [{"message": {"con'),
    "too many tokens a minute": (429, '{"error": "too many tokens in this minute"}'),
    "throttled": (503, '{"message": "Too many input tokens, please wait before trying again."}'),
    "throttled in the body": (200, '{"error": {"code": 429, "message": "prompt is too long for this minute"}}'),
    "loading": (200, '{"choices": [], "detail": "model is loading"}'),
    "rate limit of its own": (200, '{"choices": null, "base_resp": {"status_code": 1002}}'),
    "full": (500, '{"error": "KV cache is full: not enough context size slots"}'),
    "broken": (500, "out of memory"),
}
"""Replies that may be another one the next time."""


@pytest.mark.parametrize("name", PASSING)
def test_a_reply_that_may_change_is_asked_for_again(chat_server, name):
    status, text = PASSING[name]
    chat_server.replies = [(status, {}, text)] * 2
    (given,) = ask(chat_server.url, retries=1)
    assert len(chat_server.requests) == 2 and not isinstance(given.error, Permanent)


@pytest.mark.parametrize(
    "replies",
    [
        [(400, {}, "too long")] * 30,
        [(200, {}, reply(refusal="no"))] * 30,
        [(503, {}, "busy")] * 19 + [(200, {}, completion("a"))] + [(503, {}, "busy")] * 10,
        [(503, {}, "busy"), (401, {}, "who?")] * 15,
    ],
    ids=["the prompts' fault", "refusals", "an answer between", "two reasons"],
)
def test_other_failures_in_a_row_stop_nothing(chat_server, replies):
    chat_server.replies = replies
    ask(chat_server.url, *prompts(30), concurrency=1)
    assert len(chat_server.requests) == 30


def test_closing_in_the_middle_leaves_nothing_under_way(chat_server):
    def client_threads():
        return {thread for thread in threading.enumerate() if "process_request" not in thread.name}

    chat_server.only, before = "number 0", client_threads()
    answers = OpenAI(base_url=chat_server.url, model="m", concurrency=4).answer(prompts(40))
    assert next(answers).error is None
    began = perf_counter()
    assert client_threads() > before
    answers.close()
    assert perf_counter() - began < 30
    assert client_threads() == before
