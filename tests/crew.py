"""Real tiny agents, good and bad, and models for them; pages are those of the benchmark `tiny`."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import sleep
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from ohr.contracts import (
    Agent,
    Ask,
    Completion,
    Conversation,
    Desk,
    Generator,
    Metric,
    Outcome,
    Picture,
    Prompt,
    Retriever,
    Search,
    Steps,
    Turn,
    execution,
)
from ohr.parts import GeneratorPart, ImageRetrieverPart, RetrieverPart, VisionPart
from ohr.registry import Nested


def note(log: Path | None, line: str) -> None:
    """Append a line to a log, whole also when several processes write."""
    if log:
        with log.open("ab", buffering=0) as opened:
            opened.write(f"{line}\n".encode())


class Clerk(Generator):
    """Replies with the year in the last message, or that of a page in pixels; `more` where there is none."""

    kind: Literal["clerk"] = "clerk"
    log: Annotated[Path | None, execution("Where each last message is noted.")] = None
    refuses: Annotated[str, execution("A word in the conversation on which it fails.")] = ""
    sees: Annotated[bool, Field(description="It reads images.")] = False

    @property
    def reads_images(self) -> bool:  # type: ignore[override] # depends on a field
        return self.sees

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        raise NotImplementedError("a clerk converses")

    def chat(self, conversations: Sequence[Conversation]) -> Iterator[Completion]:
        for conversation in conversations:
            sizes = [f"{image.shape[1]}x{image.shape[0]}" for image in conversation.images]
            note(self.log, " ".join([conversation.turns[-1].text.replace("\n", " "), *sizes]))
            pixels = (image[0, :, 0].tobytes().decode("utf-8", "replace") for image in conversation.images)
            text = " ".join([*(turn.text for turn in conversation.turns), *pixels])
            if self.refuses and self.refuses in text:
                yield Completion("", finish="error", error="refused")
            else:
                yield Completion(text.rpartition("built in ")[2][:4] if "built in " in text else "more", 10, 2, 0.5)


BAD = Literal[
    "", "raise", "raise late", "loop", "forever", "asks forever", "number", "empty", "role", "turns", "assistant",
    "outcome", "end", "answer", "far page", "reversed box", "k", "read", "letters", "no fit", "swallow", "last word",
]  # fmt: skip


class Scout(Agent):
    """Searches with the question, asks, and searches once more with the reply `more`; or does something bad."""

    kind: Literal["scout"] = "scout"
    reads: ClassVar[frozenset[str]] = frozenset({"text"})  # type: ignore[assignment] # a set of words
    model: Annotated[GeneratorPart, Field(description="Who is asked.")]
    retriever: Annotated[RetrieverPart, Field(description="Who searches.")]
    bad: Annotated[BAD, execution("How it fails.")] = ""
    question: Annotated[str, execution("Part of the question on which it fails.")] = "harbour"
    calls: Annotated[int, Field(description="The most calls.")] = 2

    @property
    def max_calls(self) -> int:
        return self.calls

    def models(self) -> Mapping[str, Generator]:
        return {"model": self.model}

    def retrievers(self) -> Mapping[str, Retriever]:
        return {"retriever": self.retriever}

    def run(self, question: str, desk: Desk) -> Steps:
        if self.bad and self.question in question:
            return (yield from _badly(self.bad, desk))
        summary: Completion = yield Ask("model", (Turn("user", ("Greet.",)),), shared=True)
        reply, query = Completion(""), question
        for attempt in range(2):
            found = yield Search("retriever", query, 1)
            read = tuple(each.page for each in found)
            text = "\n".join(each.passage for each in found)
            turns = (Turn("system", (summary.text,)), Turn("user", (text, question, desk.instruction)))
            reply = yield Ask("model", turns, read, attempt)
            if reply.text != "more":
                return Outcome(reply.text, reply=reply.text)
            query = f"{question} {reply.text}"
        return Outcome("", "not_answerable", reply.text)


def _badly(how: str, desk: Desk) -> Any:  # noqa: C901 # a list of misdeeds
    turn = (Turn("user", ("x",)),)
    if how == "raise":
        raise RuntimeError("no hands")
    if how == "loop":
        while True:
            sleep(0.01)
    if how == "forever":
        while True:
            yield Search("retriever", "x", 1)
    while how == "swallow":
        try:
            while True:
                sleep(0.01)
        except Exception:
            pass
    if how == "last word":
        try:
            yield Ask("model", (Turn("user", ("refuse",)),))
        finally:
            raise RuntimeError("one more thing")
    number = 0
    while how == "asks forever":
        number += 1
        yield Ask("model", turn, attempt=number)
    wrong: dict[str, Any] = {
        "number": 7,
        "empty": (),
        "role": Ask("boss", turn),
        "turns": Ask("model", ()),
        "assistant": Ask("model", (*turn, Turn("assistant", ("y",)))),
        "far page": Ask("model", (Turn("user", (Picture((("law/0", 9),)),)),)),
        "reversed box": Ask("model", (Turn("user", (Picture((desk.pages()[0],)).crop((9, 0, 3, 1)),)),)),
        "k": Search("retriever", "x", 0),
        "read": Ask("model", turn, read=("law/0",)),  # type: ignore[arg-type]
        "letters": Ask("model", (Turn("user", "text"),)),  # type: ignore[arg-type]
        "no fit": Ask("model", (Turn("user", (Picture((desk.pages()[0],)).fit(1000, 10),)),)),
    }
    yield wrong.get(how, Search("retriever", "x", 1))
    if how == "raise late":
        raise RuntimeError("no hands")
    outcomes: dict[str, Any] = {"outcome": "1900", "end": Outcome("", "gone"), "answer": Outcome("x", "budget")}  # type: ignore[arg-type]
    return outcomes[how]


class Watcher(Scout):
    """Looks at the best page, and at its left half where the reply is `more`."""

    kind: Literal["watcher"] = "watcher"  # type: ignore[assignment] # a plugin of its own
    reads: ClassVar[frozenset[str]] = frozenset({"image"})  # type: ignore[assignment] # a set of words
    model: Annotated[VisionPart, Field(description="Who is asked.")]
    retriever: Annotated[ImageRetrieverPart, Field(description="Who searches.")]

    def run(self, question: str, desk: Desk) -> Steps:
        if self.bad and self.question in question:
            return (yield from _badly(self.bad, desk))
        found = yield Search("retriever", question, 2)
        page = Picture((found[0].page,))
        width, height = desk.size(page)
        first, second = yield (
            Ask("model", (Turn("user", (page, question)),)),
            Ask("model", (Turn("user", (question, page.crop((0, 0, width / 2, height)))),)),
        )
        return Outcome(first.text, reply=second.text)


class Counter(Scout):
    """Uses numbers of numpy, as plugins do that compute with it."""

    kind: Literal["counter"] = "counter"  # type: ignore[assignment] # a plugin of its own

    def run(self, question: str, desk: Desk) -> Steps:
        found = yield Search("retriever", question, np.int64(1))  # type: ignore[arg-type]
        turns = (Turn("user", (found[0].passage, question)),)
        reply = yield Ask("model", turns, (found[0].page,), np.int64(0))  # type: ignore[arg-type]
        return Outcome(reply.text)


class Voter(Scout):
    """Holds a metric, which decides what it answers."""

    kind: Literal["voter"] = "voter"  # type: ignore[assignment] # a plugin of its own
    metric: Annotated[Metric, BeforeValidator(Nested("metric")), Field(description="Names the answer.")]

    def run(self, question: str, desk: Desk) -> Steps:
        yield Search("retriever", question, 1)
        return Outcome(self.metric.kind)


class Bomb(Clerk):
    """Ends its process on one question, or does not come back."""

    kind: Literal["bomb"] = "bomb"  # type: ignore[assignment] # a plugin of its own
    on: Annotated[str, execution("A word of the question.")] = "harbour of law"

    def chat(self, conversations: Sequence[Conversation]) -> Iterator[Completion]:
        for conversation in conversations:
            if self.on in conversation.turns[-1].text:
                os._exit(9)
            yield from super().chat([conversation])


class Mortal(Clerk):
    """Kills its process once, on a question."""

    kind: Literal["mortal"] = "mortal"  # type: ignore[assignment] # a plugin of its own
    mark: Annotated[Path, execution("A file that is there once it has done so.")]

    def chat(self, conversations: Sequence[Conversation]) -> Iterator[Completion]:
        for conversation in conversations:
            if "harbour of law" in conversation.turns[-1].text and not self.mark.exists():
                self.mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield from super().chat([conversation])


class Seer(Scout):
    """Declares to look at images only, and searches text."""

    kind: Literal["seer"] = "seer"  # type: ignore[assignment] # a plugin of its own
    reads: ClassVar[frozenset[str]] = frozenset({"image"})  # type: ignore[assignment] # a set of words


class Idler(Scout):
    """Declares to look at nothing."""

    kind: Literal["idler"] = "idler"  # type: ignore[assignment] # a plugin of its own
    reads: ClassVar[frozenset[str]] = frozenset()  # type: ignore[assignment] # a set of words


class Plain(Scout):
    """Returns where it must yield."""

    kind: Literal["plain"] = "plain"  # type: ignore[assignment] # a plugin of its own

    def run(self, question: str, desk: Desk) -> Steps:
        return Outcome("1900")  # type: ignore[return-value] # what is tested
