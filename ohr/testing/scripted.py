"""A generator whose replies are written in a file: agents and their engine are tested on it, without a model."""

import fcntl
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ohr.contracts import Completion, Conversation, Generator, Picture, Prompt, Turn, execution
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.json_input import lines
from ohr.keys import file_digest

ANY = "*"
"""The id of the replies to every question without replies of its own."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    text: str = ""
    finish: Literal["stop", "length"] = "stop"
    error: str | None = None


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str
    replies: tuple[str | _Reply, ...]


_ENTRY = TypeAdapter(_Entry)


class Scripted(Generator, kind="scripted"):
    """Replies to the calls of each question as a file says, in order, and notes in a log what it was asked.

    A line of the script is `{"id": "q1", "replies": ["first", "second"]}`; the id `*` serves every question that has
    no line of its own. A reply is a text, `{"text": "a reply that was cut", "finish": "length"}`, or
    `{"error": "why the call fails"}`. A call without a reply fails.

    A question's n-th call gets its n-th reply. Calls are counted in the log, of all processes and of all generators
    that share it; without a log by the assistant's turns of the conversation.

    It is no plugin of ohr. A spec reaches it by a plugin file that has a class of its own, since such a file provides
    only the classes that it defines:

        from ohr.testing import Scripted

        class Script(Scripted):
            "Replies from a file."
    """

    script: Annotated[Path, Field(description="JSON Lines: `id` of a question, and `replies` to its calls.")]
    log: Annotated[Path | None, execution("JSON Lines: a line for each call; lines are added at the end.")] = None
    vision: Annotated[bool, Field(description="Whether it reads images.")] = True

    @property
    def reads_images(self) -> bool:  # type: ignore[override] # a field decides
        """Whether it reads images."""
        return self.vision

    def check(self) -> None:
        """Read the script."""
        read_script(self.script)

    def identity(self) -> Mapping[str, object]:
        """Identify the script by its content."""
        return {**super().identity(), "script": file_digest(self.script)}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Reply to each prompt as to a conversation."""
        for prompt in prompts:
            system = (Turn("system", (prompt.system,)),) if prompt.system else ()
            turns = (*system, Turn("user", (prompt.user,)))
            yield self._reply(Conversation(turns, prompt.images if self.vision else (), prompt.id))

    def chat(self, conversations: Sequence[Conversation]) -> Iterator[Completion]:
        """Reply to each conversation."""
        for conversation in conversations:
            if conversation.has_pictures and not self.vision:
                yield _failed(f"generator {self.kind} reads text, and got an image")
            else:
                yield self._reply(conversation)

    def _reply(self, conversation: Conversation) -> Completion:
        script = read_script(self.script)
        name = conversation.id
        sizes = [(image.shape[1], image.shape[0]) for image in conversation.images]
        if self.log:
            place = _noted(self.log, name, {"id": name, "turns": _recipe(conversation), "sizes": sizes})
        else:
            place = sum(turn.role == "assistant" for turn in conversation.turns)
        replies = script.get(name, script.get(ANY, ()))
        if place >= len(replies):
            return _failed(f"{self.script.name} has no reply {place + 1} to question {name!r}")
        reply = replies[place]
        if reply.error is not None:
            return _failed(reply.error)
        asked = sum(len(turn.text.split()) for turn in conversation.turns)
        return Completion(reply.text, asked, len(reply.text.split()), finish=reply.finish)


@kept_until_changed(32)
def read_script(path: Path) -> Mapping[str, tuple[_Reply, ...]]:
    """Read the replies by question.

    Raises:
        DataError: the file cannot be read, or a line is no entry.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    found: dict[str, tuple[_Reply, ...]] = {}
    for number, line in lines(text):
        try:
            entry = _ENTRY.validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise DataError(f"{path}:{number}: {where}: {first['msg']}") from None
        if entry.id in found:
            raise DataError(f"{path}:{number}: question {entry.id!r} has replies already")
        found[entry.id] = tuple(_Reply(text=one) if isinstance(one, str) else one for one in entry.replies)
    return found


def _failed(reason: str) -> Completion:
    return Completion("", finish="error", error=reason)


def _noted(log: Path, name: str, line: Mapping[str, Any]) -> int:
    """Add a line to the log, and return how many of the question there were; a lock keeps other processes out."""
    with log.open("a+b", buffering=0) as opened:  # so that a line is one write, which no kill cuts in two
        fcntl.flock(opened, fcntl.LOCK_EX)  # until the file is closed
        opened.seek(0)
        earlier = [json.loads(each)["id"] for each in opened.read().splitlines()]
        opened.write(json.dumps(line).encode() + b"\n")
    return earlier.count(name)


def _recipe(conversation: Conversation) -> list[dict[str, Any]]:
    """Return turns as JSON values; a picture is its pages and steps."""
    return [
        {"role": turn.role, "parts": [_picture(part) if isinstance(part, Picture) else part for part in turn.parts]}
        for turn in conversation.turns
    ]


def _picture(picture: Picture) -> dict[str, Any]:
    return {"pages": picture.pages, "steps": picture.steps}
