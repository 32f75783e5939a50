import json
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from io import BytesIO
from time import perf_counter

import jsonschema
import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from ohr.contracts import Conversation, Prompt, Turn
from ohr.errors import PluginError
from ohr.generators.local_model import MODELS
from ohr.generators.openai import OpenAI, OpenAIVision
from ohr.keys import identity
from ohr.models.tries import retry_after
from ohr.testing import check_stage

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


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 520, 522, 524, 529, 599])
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


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2026 07:28:00 GMT", "soon", "-3", "", "nan"])
def test_a_retry_after_that_is_no_number_is_passed_over(ask, chat_server, value):
    chat_server.replies = [(429, {"retry-after": value}, "slow down")]
    assert ask()[0].error is None


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_not_tried_again(ask, chat_server, status):
    chat_server.replies = [(status, {}, '{"error": "no"}')] * 2
    message = f"server answered {status}: " + '{"error": "no"}'
    key = "; it requires a key: name the variable that holds it with `api_key_env`" if status in (401, 403) else ""
    assert ask()[0].error == message + key
    assert len(chat_server.requests) == 1


@pytest.mark.parametrize("body", ["<html>Sign in</html>", "{}", '{"choices": []}', "[]", "null", '{"choices": [{}]}'])
def test_a_reply_that_is_no_completion_is_reported(ask, chat_server, body):
    chat_server.replies = [(200, {"content-type": "text/html"}, body)] * 2
    assert ask(retries=1)[0].error == f"not a chat completion: {body}"


def test_replies_come_in_order_from_several_requests_at_once(ask):
    prompts = [Prompt("", (), "", f"number {number}") for number in range(40)]
    assert [given.text for given in ask(*prompts, concurrency=8)] == [f"echo number {number}" for number in range(40)]


def test_the_key_is_sent_and_kept_nowhere_also_where_the_server_repeats_it(ask, chat_server, monkeypatch):
    monkeypatch.setenv("OHR_TEST_KEY", "sk-very-secret")
    chat_server.replies = [(401, {}, "Incorrect API key provided: sk-very-secret")]
    (given,) = ask(api_key_env="OHR_TEST_KEY")
    assert given.error == "server answered 401: Incorrect API key provided: ***; the key in OHR_TEST_KEY was refused"
    assert chat_server.headers[0]["Authorization"] == "Bearer sk-very-secret"
    stage = OpenAI(base_url=chat_server.url, model="m", api_key_env="OHR_TEST_KEY")
    assert "secret" not in f"{stage!r}{stage.model_dump_json()}{identity(stage)}"


def test_a_missing_key_is_reported_before_any_work(monkeypatch):
    monkeypatch.delenv("OHR_TEST_KEY", raising=False)
    with pytest.raises(PluginError) as caught:
        OpenAI(base_url="http://x", model="m", api_key_env="OHR_TEST_KEY").check()
    assert str(caught.value) == "generator openai: environment variable OHR_TEST_KEY is not set"


@pytest.mark.parametrize(
    ("message", "finish", "reason"),
    [
        ({"content": None, "refusal": "I can't help with that."}, "stop", "I can't help with that."),
        ({"content": ""}, "content_filter", "content filter"),
    ],
)
def test_a_models_refusal_is_an_error_not_a_blank(ask, chat_server, message, finish, reason):
    body = json.dumps({"choices": [{"message": message, "finish_reason": finish}]})
    chat_server.replies = [(200, {}, body)] * 2
    (given,) = ask()
    assert (given.text, given.finish, given.error) == ("", "error", f"the model refused to answer: {reason}")
    assert len(chat_server.requests) == 1


def test_a_reply_that_was_cut_on_its_way_is_asked_for_again(ask, chat_server):
    whole = completion("in 1964")
    chat_server.replies = [(200, {}, whole[: len(whole) // 2])]
    assert ask()[0].text == "echo Question: When?"
    assert len(chat_server.requests) == 2


def test_the_opening_of_a_reply_is_sent_as_the_assistants_words(ask, chat_server):
    chat_server.replies = [(200, {}, completion("It began in 1964")), (200, {}, completion(" 1964"))]
    asked = replace(ASKED, opening="It began in")
    assert [given.text for given in (*ask(asked), *ask(asked, opening="vllm"))] == [" 1964", " 1964"]
    first, second = chat_server.requests
    assert first["messages"][-1] == second["messages"][-1] == {"role": "assistant", "content": "It began in"}
    assert (second["continue_final_message"], second["add_generation_prompt"]) == (True, False)
    ask(asked, opening="none")
    assert chat_server.requests[2]["messages"][-1]["role"] == "user"


def test_page_images_are_sent_as_png(chat_server):
    page = np.full((40, 30, 3), 7, dtype=np.uint8)
    asked = replace(ASKED, images=[page, page])
    (given,) = OpenAIVision(base_url=chat_server.url, model="m").answer([asked])
    assert given.text == "echo Question: When?"
    first, _, text = chat_server.requests[0]["messages"][1]["content"]
    assert text == {"type": "text", "text": "Question: When?"}
    kind, _, data = first["image_url"]["url"].partition(",")
    assert kind == "data:image/png;base64"
    assert np.array_equal(np.asarray(Image.open(BytesIO(b64decode(data)))), page)


@pytest.fixture(scope="module")
def llama_server():
    """The packaged model behind llama.cpp's own server, on a free port."""
    xllamacpp = pytest.importorskip("xllamacpp")
    settings = xllamacpp.CommonParams()
    settings.model.path = MODELS.location("smollm2-135m-instruct")
    settings.n_ctx, settings.n_parallel, settings.verbosity = 512, 1, -1
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(settings)
    yield f"{server.listening_address}/v1"


LEASE = "The lease of the ferry berth began in 1964. It ends after ninety years."


def lease(**how):
    return Prompt("When?", (LEASE,), "Answer briefly.", f"{LEASE}\n\nWhen did the lease begin?", **how)


@pytest.mark.slow
def test_a_real_server_answers(llama_server):
    stage = OpenAI(base_url=llama_server, model="any", max_tokens=24, concurrency=2)
    first, second = stage.answer([lease(), lease(opening="The answer is:")])
    assert "1964" in first.text
    assert (second.text.strip(), second.error) == ("1964", None)
    assert first.tokens_in > 30
    assert first.tokens_out > 5
    assert first.finish == "stop"


@pytest.mark.slow
def test_a_real_servers_refusal_of_a_long_prompt_is_reported(llama_server):
    long = Prompt("When?", (), "", LEASE * 60)
    (given,) = OpenAI(base_url=llama_server, model="any", max_tokens=4).answer([long])
    assert given.error.startswith("server answered 400: ")
    assert "context size" in given.error


@pytest.mark.slow
def test_a_real_server_continues_a_conversation(llama_server):
    said = [("system", "Answer briefly."), ("user", f"{LEASE}\n\nWhen did the lease begin?")]
    more = [("assistant", "In 1964."), ("user", "Repeat the year alone.")]
    asked = [Conversation(tuple(Turn(role, (text,)) for role, text in turns)) for turns in (said, said + more)]
    body = {"seed": 1, "top_k": 1, "chat_template_kwargs": {"enable_thinking": False}}
    stage = OpenAI(base_url=llama_server, model="any", max_tokens=24, temperature=0.7, body=body)
    first, second = stage.chat(asked)
    assert (first.error, second.error) == (None, None)
    assert second.tokens_in > first.tokens_in + 10
    assert "1964" in second.text
    assert [reply.text for reply in stage.chat(asked)] == [first.text, second.text]  # top_k 1 leaves no choice


# --- replies that servers give in other forms --------------------------------------------------------------------


def reply_of(finish="stop", **message):
    return (200, {}, json.dumps({"choices": [{"message": message, "finish_reason": finish}]}))


@pytest.mark.parametrize("finish", ["error", "abort", "cancelled", "something_new"])
def test_an_ending_that_is_not_known_to_be_good_is_an_error_and_tried_again(ask, chat_server, finish):
    chat_server.replies = [reply_of(finish, content="Par"), reply_of(content="Paris")]
    assert [one.text for one in ask(retries=1)] == ["Paris"]
    chat_server.replies = [reply_of(finish, content="Par")]
    (given,) = ask(retries=0)
    assert given.error == f'the server ended the reply early ({finish}): "Par"'


PARTS = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Par"}, {"type": "text", "text": "is"}]


@pytest.mark.parametrize(
    ("finish", "message", "text", "ours"),
    [
        *((end, {"content": "in"}, "in", "length") for end in ("length", "max_tokens", "model_length", "MAX_TOKENS")),
        *((end, {"content": "in"}, "in", "stop") for end in ("end_turn", "stop_sequence", "tool_calls", None)),
        ("stop", {"content": None}, "", "stop"),
        ("length", {"role": "assistant"}, "", "length"),  # all was thought
        ("stop", {"content": PARTS}, "Paris", "stop"),
    ],
)
def test_a_reply_that_ended_well_is_read_and_asked_for_once(ask, chat_server, finish, message, text, ours):
    chat_server.replies = [reply_of(finish, **message)]
    assert [(one.text, one.finish, one.error) for one in ask(retries=1)] == [(text, ours, None)]
    assert len(chat_server.requests) == 1


def test_a_time_to_wait_may_be_a_date():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < retry_after({"retry-after": later}) <= 30
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after({"retry-after-ms": "300"}) == 0.3


def test_fields_that_a_model_refuses_are_left_out(ask, chat_server):
    ask(temperature=None, body={"max_completion_tokens": 500})
    (request,) = chat_server.requests
    assert request.keys() == {"model", "messages", "max_completion_tokens"}
    ask(max_tokens=None)
    assert "max_tokens" not in chat_server.requests[-1]


def test_a_refused_key_is_given_up_in_every_batch_with_one_reason(ask, chat_server):
    chat_server.replies = [(401, {}, f"no such key, request {number}") for number in range(90)]
    prompts = [replace(ASKED, user=f"number {number}") for number in range(20)]
    given = [one for _ in range(4) for one in ask(*prompts, concurrency=2, model="guarded")]
    assert len(chat_server.requests) <= 5
    assert {one.error.split(":")[0] for one in given} == {"server answered 401"}
    assert len({one.error for one in given}) == 1


# --- further fields of a request, and how closely images are looked at ------------------------------------

BODY = {
    "top_p": 0.95,
    "seed": 1,
    "top_k": 20,
    "min_p": 0,
    "repetition_penalty": 1.05,
    "logit_bias": {"50256": -100},
    "chat_template_kwargs": {"enable_thinking": False, "words": ["a", None]},
}


def openai(**how):
    return OpenAI(**{"base_url": "http://x", "model": "m", **how})


def test_its_fields_are_in_the_request(strict_server):
    list(openai(base_url=strict_server.url, body=BODY).answer([Prompt("When?", (), "", "When?")]))
    (sent,) = strict_server.bodies
    messages = [{"role": "user", "content": "When?"}]
    assert sent == {"model": "m", "messages": messages, "max_tokens": 1280, "temperature": 0.0, **BODY}
    assert sent["chat_template_kwargs"]["enable_thinking"] is False


def test_a_stage_with_one_is_a_stage():
    check_stage(openai(body=BODY))
    check_stage(OpenAIVision(base_url="http://x", model="m", body=BODY, detail="high"))


def test_it_is_part_of_the_identity_and_its_order_is_not():
    turned = dict(reversed(BODY.items()))
    assert identity(openai(body=BODY)) != identity(openai(body={**BODY, "seed": 2})) != identity(openai())
    assert identity(openai(body=turned)) == identity(openai(body=BODY))
    assert (openai(body=turned), hash(openai(body=turned))) == (openai(body=BODY), hash(openai(body=BODY)))


def test_equal_stages_have_equal_hashes_whatever_the_numbers_type():
    first, other = openai(body={"seed": 1, "x": [True]}), openai(body={"seed": 1.0, "x": [1]})
    assert first == other
    assert hash(first) == hash(other)
    assert len({first, openai(body={"seed": 2}), openai()}) == 3


def test_without_one_replies_from_before_are_found_again():
    assert "body" not in openai().identity()
    assert not {"body", "detail"} & OpenAIVision(base_url="http://x", model="m").identity().keys()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("model", "use the field `model`"),
        ("max_tokens", "use the field `max_tokens`"),
        ("temperature", "use the field `temperature`"),
        ("stop", "use the field `stop`"),
        ("messages", "they are the prompt"),
        ("stream", "replies are read whole"),
    ],
)
def test_what_is_set_elsewhere_is_refused(name, reason):
    with pytest.raises(ValidationError) as caught:
        openai(body={"seed": 1, name: None})
    (error,) = caught.value.errors()
    assert (error["loc"], error["msg"]) == (("body",), f"Value error, must not set `{name}`: {reason}")


@pytest.mark.parametrize(
    "body", [{"top_p": float("nan")}, {"a": {"b": float("inf")}}, {1: 2}, {"a": object()}, [1], "a"]
)
def test_what_is_no_json_is_refused(body):
    with pytest.raises(ValidationError):
        openai(body=body)


def test_the_schema_has_it_as_an_object():
    schema = OpenAI.model_json_schema()
    valid = jsonschema.Draft202012Validator(schema).is_valid
    assert schema["properties"]["body"]["type"] == "object"
    assert valid({"base_url": "http://x", "model": "m", "body": BODY})
    assert not valid({"base_url": "http://x", "model": "m", "body": 1})


@pytest.mark.parametrize("detail", ["auto", "low", "high", None])
def test_the_detail_is_a_property_of_each_image(strict_server, detail):
    stage = OpenAIVision(base_url=strict_server.url, model="m", detail=detail)
    list(stage.answer([Prompt("When?", (), "", "When?", images=[np.zeros((30, 30, 3), np.uint8)] * 2)]))
    *images, text = strict_server.bodies[0]["messages"][0]["content"]
    assert [part["image_url"].get("detail") for part in images] == [detail] * 2
    assert all(("detail" in part["image_url"]) == (detail is not None) for part in images)
    assert text == {"type": "text", "text": "When?"}


def test_another_detail_is_refused_and_part_of_the_identity():
    known = {detail: identity(OpenAIVision(base_url="http://x", model="m", detail=detail)) for detail in ("low", None)}
    assert known["low"] != known[None]
    with pytest.raises(ValidationError):
        OpenAIVision(base_url="http://x", model="m", detail="medium")
