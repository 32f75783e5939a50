"""Conversations on a server that refuses malformed ones, and that fails in every way that servers do."""

import json
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ohr.contracts import Conversation, Prompt
from ohr.files.lazy import Made
from ohr.generators.openai import OpenAI, OpenAIVision

from ..conftest import completion
from .conftest import PAGE, picture, talk, transcript


def page(number):
    """Return an image with a width of its own."""
    return np.full((40, 28 + number, 3), number, dtype=np.uint8)


@pytest.fixture
def chat(strict_server):
    def given(*conversations, kind=OpenAI, **how):
        how = {"base_url": strict_server.url, "model": "m", "backoff": 0.0, **how}
        return list(kind(**how).chat(conversations))

    return given


def test_all_turns_are_sent_in_order_with_their_roles(chat, strict_server):
    asked = talk(("system", "Be brief."), ("user", "When?", "Where?"), ("assistant", "1964."), ("user", "Sure?"))
    (reply,) = chat(asked, max_tokens=9, temperature=0.5, stop=("\n\n",))
    assert (reply.error, reply.tokens_in, reply.finish) == (None, 7, "stop")
    assert strict_server.bodies == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "When?\n\nWhere?"},
                {"role": "assistant", "content": "1964."},
                {"role": "user", "content": "Sure?"},
            ],
            "max_tokens": 9,
            "temperature": 0.5,
            "stop": ["\n\n"],
        }
    ]


def test_two_turns_of_one_role_stay_two(chat, strict_server):
    chat(talk(("user", "Texts."), ("user", "Images.")))
    assert transcript(strict_server.bodies[0]) == "user: Texts.\nuser: Images."


def test_one_message_is_asked_as_answer_asks_it(chat, strict_server):
    image = page(3)
    stage = OpenAIVision(base_url=strict_server.url, model="m", detail="low", body={"top_p": 0.9}, stop=("x",))
    list(stage.answer([Prompt("When?", (), "Be brief.", "When?", images=[image])]))
    list(stage.chat([talk(("system", "Be brief."), ("user", PAGE, "When?"), images=[image])]))
    one, other = strict_server.bodies
    assert one == other


def test_pictures_keep_their_place_among_the_texts_of_several_turns(chat, strict_server):
    asked = talk(
        ("user", "one", PAGE, "two", PAGE),
        ("assistant", "Show more."),
        ("user", PAGE, "three"),
        images=[page(number) for number in (5, 2, 9)],
    )
    (reply,) = chat(asked, kind=OpenAIVision)
    assert reply.text == "user: one | 33x40 | two | 30x40\nassistant: Show more.\nuser: 37x40 | three"
    sent = picture(strict_server.bodies[0]["messages"][2]["content"][0])
    assert np.array_equal(np.asarray(sent), page(9))


def test_an_empty_text_beside_a_picture_is_not_sent(chat):
    (reply,) = chat(talk(("user", "", PAGE, ""), images=[page(1)]), kind=OpenAIVision)
    assert reply.text == "user: 29x40"


def test_a_large_picture_is_made_smaller(chat):
    large = np.zeros((400, 100, 3), dtype=np.uint8)
    (reply,) = chat(talk(("user", PAGE, "When?"), images=[large]), kind=OpenAIVision, max_pixels=10_000)
    assert reply.text == "user: 50x200 | When?"


def test_a_model_of_text_says_that_it_reads_no_picture_and_asks_nothing(chat, strict_server):
    plain = talk(("user", "When?"))
    first, second = chat(talk(("user", PAGE, "What?"), images=[page(1)]), plain)
    assert first.error == "generator openai reads text, and got an image"
    assert (first.text, first.finish, second.error) == ("", "error", None)
    assert len(strict_server.bodies) == 1


def test_a_picture_that_cannot_be_made_fails_its_own_conversation(chat, strict_server):
    def broken():
        raise OSError("no such page")

    bad = talk(("user", PAGE, PAGE, "When?"), images=Made([lambda: page(1), broken]))
    few = talk(("user", PAGE, PAGE, "When?"), images=[page(1)])
    good = talk(("user", PAGE, "When?"), images=[page(2)])
    errors = [reply.error for reply in chat(bad, good, few, good, kind=OpenAIVision)]
    assert errors == [
        "no page image: OSError: no such page",
        None,
        "no page image: IndexError: list index out of range",
        None,
    ]
    assert len(strict_server.bodies) == 2


def test_each_picture_is_made_once_and_not_in_the_event_loop(chat, strict_server):
    made, strict_server.replies["When?"] = [], [(503, {}, "busy")] * 2

    def maker(number):
        def make():
            made.append((number, threading.current_thread().name))
            return page(number)

        return make

    (reply,) = chat(talk(("user", PAGE, PAGE, "When?"), images=Made([maker(1), maker(2)])), kind=OpenAIVision)
    assert (reply.error, strict_server.asked["When?"]) == (None, 3)
    assert [number for number, _ in made] == [1, 2]
    assert all("worker" in thread for _, thread in made)


def test_no_conversation_gives_no_reply():
    assert list(OpenAI(base_url="http://127.0.0.1:9", model="m").chat([])) == []


SAID = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
PARTS = st.lists(st.one_of(SAID, st.just(PAGE)), min_size=1, max_size=5)
TALKS = st.tuples(st.booleans(), st.lists(PARTS, min_size=1, max_size=4))


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(TALKS, max_size=8))
def test_any_conversation_arrives_as_it_is(chat, drawn):
    asked, expected, number = [], [], 0
    for has_system, turns in drawn:
        roles = ["assistant" if place % 2 else "user" for place in range(len(turns))][::-1]
        roles[-1] = "user"
        said = [("system", "Be brief.")] * has_system + [(r, *parts) for r, parts in zip(roles, turns, strict=True)]
        images, lines = [], []
        for role, *parts in said:
            shown = []
            for part in parts:
                if part == PAGE:
                    images.append(page(number % 200))
                    shown.append(f"{28 + number % 200}x40")
                    number += 1
                else:
                    shown.append(part)
            lines.append(f"{role}: {(' | ' if PAGE in parts else chr(10) * 2).join(shown)}")
        asked.append(talk(*said, images=images))
        expected.append("\n".join(lines))
    assert [reply.text for reply in chat(*asked, kind=OpenAIVision)] == expected


# --- a server that fails ------------------------------------------------------------------------------------------

BUSY, BROKEN, GARBAGE, NONE = "server answered 429: slow", "server answered 500: broken", "<html>", '{"choices": []}'
FAULTS = {
    "busy once": ([(429, {"retry-after": "0.1"}, "slow")], None, 2),
    "busy": ([(429, {"retry-after": "0"}, "slow")] * 9, BUSY, 3),
    "broken once": ([(500, {}, "broken")], None, 2),
    "broken": ([(500, {}, "broken")] * 9, BROKEN, 3),
    "stalls once": ([(0, {}, "")], None, 2),
    "stalls": ([(0, {}, "")] * 9, "no whole reply within 2 s from URL", 3),
    "garbage once": ([(200, {}, GARBAGE)], None, 2),
    "garbage": ([(200, {}, GARBAGE)] * 9, f"not a chat completion: {GARBAGE}", 3),
    "no choice": ([(200, {}, NONE)] * 9, f"not a chat completion: {NONE}", 1),
    "half": ([(200, {}, completion("a")[:30])], None, 2),
    "too long": ([(400, {}, "too long")], "server answered 400: too long", 1),
    "who": ([(401, {}, "who?")], "server answered 401: who?", 1),
    "mixed": ([(429, {}, "slow"), (200, {}, GARBAGE)], None, 3),
}
"""Replies to a conversation, the error that is left, and how often it is asked with two further tries."""


@pytest.mark.acceptance
def test_every_call_is_accounted_for_in_order_whatever_the_server_does(chat, strict_server):
    asked, expected = [], []
    for number in range(3):
        for name, (replies, error, tries) in FAULTS.items():
            text = f"{name} {number}"
            strict_server.replies[text] = list(replies)
            asked += [talk(("user", PAGE, text), images=[page(number)]), talk(("user", f"fine {text}"))]
            expected += [(text, error and error.replace("URL", strict_server.url), tries), (f"fine {text}", None, 1)]
    replies = chat(*asked, kind=OpenAIVision, retries=2, timeout=2, concurrency=12)
    assert len(replies) == len(asked)
    for reply, (text, error, tries) in zip(replies, expected, strict=True):
        assert strict_server.asked[text] == tries, text
        if error is None:
            assert (reply.error, reply.text.rpartition(" | ")[2].removeprefix("user: ")) == (None, text)
        else:
            assert (reply.text, reply.finish) == ("", "error")
            assert (
                reply.error.removesuffix("; it requires a key: name the variable that holds it with `api_key_env`")
                == error
            )
    assert sum(strict_server.asked.values()) == len(strict_server.bodies)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("content", ["1964", "", None])
def test_a_thinking_models_reply_is_its_content_alone(chat, strict_server, field, content):
    message = {"content": content, field: "The lease says 1963? No."}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})
    strict_server.replies["When?"] = [(200, {}, body)]
    (reply,) = chat(talk(("user", "When?")))
    assert (reply.text, reply.error, reply.finish) == (content or "", None, "stop")


def test_another_try_has_the_next_seed(chat, strict_server):
    asked = talk(("user", "When?"))
    chat(asked, body={"seed": 7})
    chat(Conversation(asked.turns, attempt=2), body={"seed": 7})
    chat(Conversation(asked.turns, attempt=2))
    assert [body.get("seed") for body in strict_server.bodies] == [7, 9, None]
