from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
from pydantic import ValidationError

from ohr.contracts import Chunker, Completion, Conversation, Generator, Picture, Prompt, Turn


class Counted(Sequence):
    """Images that note when they are made."""

    def __init__(self, size):
        self.size, self.made = size, []

    def __len__(self):
        return self.size

    def __getitem__(self, place):
        self.made.append(place)
        return np.full((1, 1, 3), place, np.uint8)


PAGE = Picture((("law/a", 0),))


def test_images_of_a_conversation_are_made_one_by_one_in_the_order_of_its_pictures():
    images = Counted(3)
    talk = Conversation(
        (Turn("user", ("a", PAGE, "b", PAGE)), Turn("assistant", ("c",)), Turn("user", (PAGE,))), images
    )
    shown = talk.shown()
    role, parts = next(shown)
    assert (role, next(parts), images.made) == ("user", "a", [])
    assert int(next(parts)[0, 0, 0]) == 0 and images.made == [0]
    assert [part if isinstance(part, str) else int(part[0, 0, 0]) for part in parts] == ["b", 1]
    assert [(role, next(parts) if role == "assistant" else int(next(parts)[0, 0, 0])) for role, parts in shown] == [
        ("assistant", "c"),
        ("user", 2),
    ]


class Echo(Generator):
    kind: str = "echo"

    def answer(self, prompts: Sequence[Prompt]):
        for prompt in prompts:
            yield Completion(f"{prompt.system}|{'+'.join(prompt.passages)}|{prompt.question}")


def test_a_generator_without_conversations_answers_one_message_and_refuses_more():
    one = Conversation((Turn("system", ("s",)), Turn("user", ("passage", "question"))))
    two = Conversation((*one.turns, Turn("assistant", ("x",)), Turn("user", ("y",))))
    seen = Conversation((Turn("user", ("look", PAGE)),), Counted(1))
    done = list(Echo().chat([two, one, seen, one]))
    assert [completion.text for completion in done] == ["", "s|passage|question", "", "s|passage|question"]
    assert done[0].error == "generator echo answers one message, and got a conversation of 4"
    assert done[2].error == "generator echo reads text, and got an image"
    with Echo().conversing() as start:
        assert start is None  # it is asked in batches


def test_a_message_that_was_cut_is_no_reply():
    class Short(Echo):
        def answer(self, prompts):
            yield from (Completion("x", truncated=True) for _ in prompts)

    (done,) = Short().chat([Conversation((Turn("user", ("a",)),))])
    assert done.error == "generator echo cut the message, which is longer than its window"


def test_a_kind_is_stated_once_or_as_a_field_and_is_the_same():
    class Once(Chunker, kind="once"):
        """States it in the class's head."""

        def split(self, pages):
            return []

    class Field(Once):
        """Has a field."""

        kind: Literal["field"] = "field"

    class Derived(Once, kind="derived"):
        """Has another kind than its base."""

    assert [plugin().kind for plugin in (Once, Field, Derived)] == ["once", "field", "derived"]
    assert Derived.model_json_schema()["properties"]["kind"] == {
        "const": "derived", "default": "derived", "title": "Kind", "type": "string"
    }  # fmt: skip
    with pytest.raises(ValidationError, match="Input should be 'once'"):
        Once(kind="derived")
    assert list(Derived.model_fields) == ["kind"]
