"""MDocAgent: five prompts in a fixed order over the text and the images of the pages found."""

import json
from collections.abc import Generator as Coroutine
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from ohr.contracts import Ask, Completion, Desk, Found, Outcome, PageId, Picture, Search, Turn
from ohr.contracts.agent import Reads, Steps
from ohr.files.prompts import filled
from ohr.parts import GeneratorPart, ImageRetrieverPart, TalkingVisionPart, TextRetrieverPart
from ohr.text.thoughts import without_thoughts

from .prompted import Asking, PromptedAgent, Templates
from .reply_parsing import json_object

MOST_CHARACTERS = 100_000
"""Characters of a page that are passed on, as in the published code (`mydatasets/base_dataset.py`)."""
CLUE = "\nYou may use the given clue:\n"
"""The words before a clue, as published."""


class Prompts(Templates):
    """The prompts; `{question}` is replaced by the question, for the text and the image agent with its clue."""

    general: Asking
    critical: str
    text: Asking
    image: Asking
    summariser: str
    summariser_question: Asking


class Pages(NamedTuple):
    """The pages found: those with text, their texts, and those that are shown."""

    read: tuple[PageId, ...]
    texts: tuple[str, ...]
    shown: tuple[Picture, ...]


class Clues(NamedTuple):
    """Key points of the general agent for the two others; empty where its reply has none."""

    text: str = ""
    image: str = ""


class MDocAgent(PromptedAgent, kind="mdocagent"):
    """Searches text and page images once; five agents answer in turn (Han et al., arXiv:2503.13964).

    A general agent reads the texts and images of the pages found, and names a key point of each. A text agent and an
    image agent answer from one of both each, with its key point as a clue. A summariser merges the three answers.

    It follows the published code, whose prompts are put in other words, except that
    a page of which several passages are found is read once; no other page takes its place;
    a clue that is not text counts as none, where the code ends the run;
    words or a code fence around the last reply's object are no part of the answer;
    an agent without pages to read is left out, and where nothing is found, no model is asked.
    """

    version: ClassVar[int] = 2
    reads: ClassVar[frozenset[Reads]] = frozenset({"text", "image"})
    templates: ClassVar[type[Templates]] = Prompts

    text: Annotated[TextRetrieverPart, Field(description="Finds passages; their whole pages are read.")]
    image: Annotated[ImageRetrieverPart, Field(description="Finds page images.")]
    vision: Annotated[TalkingVisionPart, Field(description="Is the general agent, image agent and summariser.")]
    language: Annotated[GeneratorPart, Field(description="The model of the text agent.")]
    prompt: Annotated[Path | str, Field(description="Name or file of its prompts; by default its own.")] = "mdocagent"
    top_k: Annotated[
        int, Field(gt=0, description="Hits of each search: 1 in the code, 1 and 4 in the paper, 10 in FinMMDocR.")
    ] = 1
    summariser_sees_question: Annotated[
        bool, Field(description="Whether the last prompt has the question: true in the paper, false in the code.")
    ] = False
    without: Annotated[
        Literal["text_agent", "image_agent", "general"] | None,
        Field(description="Ablation: the agent to leave out; without `general`, there are no clues either."),
    ] = None

    @property
    def max_calls(self) -> int:
        """Five, less those of the agent that is left out."""
        return {None: 5, "general": 3}.get(self.without, 4)

    def run(self, question: str, desk: Desk) -> Steps:
        """Search, ask the agents, and return the summariser's answer; `no_evidence` where no page is found."""
        hits = yield Search("text", question, self.top_k), Search("image", question, self.top_k)
        pages = self._pages(desk, *hits)
        if not pages.texts and not pages.shown:
            return Outcome("", "no_evidence")
        replies: dict[str, str] = {}
        clues = None
        if self.without != "general":
            replies["General"], clues = yield from self._general(question, pages)
        asks = self._experts(question, pages, clues)
        if asks:
            done = yield tuple(asks.values())
            replies |= {name: without_thoughts(completion.text) for name, completion in zip(asks, done, strict=True)}
        final: Completion = yield Ask("vision", (self._summary(question, desk.instruction, replies),))
        return parsed(final.text)

    @staticmethod
    def _pages(desk: Desk, text_hits: Sequence[Found], image_hits: Sequence[Found]) -> Pages:
        """Return the pages found, each once in the order of the hits; one without any text is not read."""
        lines = {page: _one_line(desk.text(page)) for page in _distinct(text_hits)}
        texts = {page: text for page, text in lines.items() if text}
        pictures = tuple(Picture((page,)) for page in _distinct(image_hits))
        return Pages(tuple(texts), tuple(texts.values()), pictures)

    def _general(self, question: str, pages: Pages) -> Coroutine[Ask, Any, tuple[str, Clues]]:
        """Ask the general agent, and in the same conversation for the clues: one message of texts, one of images."""
        prompt = filled(self.texts()["general"], question=question)
        sources: tuple[tuple[str | Picture, ...], ...] = (pages.texts, pages.shown)
        said = tuple(Turn("user", (*parts, prompt)) for parts in sources if parts)
        general: Completion = yield Ask("vision", said, read=pages.read)
        said = (*said, Turn("assistant", (general.text,)), Turn("user", (self.texts()["critical"],)))
        critical: Completion = yield Ask("vision", said, read=pages.read)
        return without_thoughts(general.text), clues_of(critical.text)

    def _experts(self, question: str, pages: Pages, clues: Clues | None) -> dict[str, Ask]:
        """Return the calls of the text agent and the image agent, where there is something to read."""
        asks: dict[str, Ask] = {}
        if pages.texts and self.without != "text_agent":
            asked = question if clues is None else question + CLUE + clues.text
            text = "\n".join((*pages.texts, filled(self.texts()["text"], question=asked)))
            asks["Text"] = Ask("language", (Turn("user", (text,)),), read=pages.read)
        if pages.shown and self.without != "image_agent":
            asked = question if clues is None else question + CLUE + clues.image
            prompt = filled(self.texts()["image"], question=asked)
            asks["Image"] = Ask("vision", (Turn("user", (*pages.shown, prompt)),))
        return asks

    def _summary(self, question: str, instruction: str, replies: Mapping[str, str]) -> Turn:
        """Return the summariser's prompt, the only one that makes the answer."""
        asked = filled(self.texts()["summariser_question"], question=question) if self.summariser_sees_question else ""
        lines = [line for line in (self.texts()["summariser"], instruction, asked) if line]
        lines += [f"{name} Agent:\n{reply}" for name, reply in replies.items()]
        return Turn("user", ("\n".join(lines) + "\n",))


def clues_of(reply: str) -> Clues:
    """Return the clues in a critical reply; single quotes, which are no JSON, give none, as in the published code."""
    found = json_object(reply) or {}
    return Clues(*(clue if isinstance(clue := found.get(name), str) else "" for name in Clues._fields))


def parsed(reply: str) -> Outcome:
    """Return the outcome of the last reply: its object's `Answer`, or its words where it has no object.

    An empty reply, and an object whose `Answer` is absent, empty, null, a list or an object, end as `unparsed`.
    """
    found = json_object(reply, python=True)
    answer = without_thoughts(reply) if found is None else found.get("Answer")
    if isinstance(answer, int | float):
        answer = json.dumps(answer)  # `true` as it is in the reply, not Python's word
    if isinstance(answer, str) and answer.strip():
        return Outcome(answer.strip(), reply=reply)
    return Outcome("", "unparsed", reply)


def _distinct(hits: Sequence[Found]) -> tuple[PageId, ...]:
    return tuple(dict.fromkeys(page for hit in hits for page in hit.pages))


def _one_line(text: str) -> str:
    return " ".join(text.strip().splitlines())[:MOST_CHARACTERS]
