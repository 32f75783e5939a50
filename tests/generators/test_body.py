"""Further fields of a request, and how closely images are looked at."""

import jsonschema
import numpy as np
import pytest
from pydantic import ValidationError

from ohr.contracts import Prompt
from ohr.generators.openai import OpenAI, OpenAIVision
from ohr.keys import identity
from ohr.testing import check_stage

BODY = {
    "top_p": 0.95,
    "seed": 1,
    "top_k": 20,
    "min_p": 0,
    "repetition_penalty": 1.05,
    "logit_bias": {"50256": -100},
    "chat_template_kwargs": {"enable_thinking": False, "words": ["a", None]},
}
ASKED = Prompt("When?", (), "", "When?")


def openai(**how):
    return OpenAI(**{"base_url": "http://x", "model": "m", **how})


def test_its_fields_are_in_the_request(strict_server):
    list(openai(base_url=strict_server.url, body=BODY).answer([ASKED]))
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
    one, other = openai(body={"seed": 1, "x": [True]}), openai(body={"seed": 1.0, "x": [1]})
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, openai(body={"seed": 2}), openai()}) == 3


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
