"""VRAG-RL: a vision model searches, enlarges parts of pages, and answers, one action in each reply."""

import json
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from ohr.contracts import Ask, Desk, Found, Outcome, PageId, Picture, Search, Steps, Turn
from ohr.contracts.agent import Reads
from ohr.contracts.generation import Box
from ohr.files.prompts import filled
from ohr.parts import ImageRetrieverPart, TalkingVisionPart
from ohr.text.thoughts import without_thoughts

from .prompted import Asking, PromptedAgent, Templates

ACTIONS = ("search", "answer", "bbox")
_FARTHEST = 1_000_000
"""The largest coordinate of a box; no picture has as many pixels on a side."""


class Prompts(Templates):
    """The prompts; the rules need the question, and may have the words about coordinates."""

    first: Asking
    pixels: str
    thousandths: str
    last: str
    no_action: str
    no_query: str
    no_page: str
    no_image: str
    no_box: str
    outside: str


class VRAG(PromptedAgent, kind="vrag"):
    """Searches for one page image at a time, enlarges parts of it, and answers (VRAG-RL, arXiv:2505.22019).

    Each reply has one action in tags, the first after the thoughts that is complete: `<search>` shows the best page
    that was not shown before, `<bbox>` enlarges a part of the last image, `<answer>` ends. Every image is scaled to
    between the two numbers of `pixels`; a part is cut from the image before it was scaled, which may be a part itself.

    It follows the published agent (`demo/vrag_agent.py`), whose prompts are put in other words. Where that one raises
    an exception or shows the last image again, here one message says what is wrong, and the action counts: a reply
    without an action, a search without words or hits, a box before any image, and a box that is not four numbers in
    their order or has no part in the image. A reply without thoughts is no fault. It ends as `budget`, in place of a
    sentence of regret, where the call after the last action has no answer, and as `unparsed` where an answer is empty.
    """

    version: ClassVar[int] = 2
    reads: ClassVar[frozenset[Reads]] = frozenset({"image"})
    templates: ClassVar[type[Templates]] = Prompts

    image: Annotated[ImageRetrieverPart, Field(description="Finds pages by their images.")]
    vision: Annotated[TalkingVisionPart, Field(description="Chooses actions and answers; sees up to `actions` images.")]
    prompt: Annotated[Path | str, Field(description="Name or file of its prompts; by default its own.")] = "vrag"
    actions: Annotated[int, Field(gt=0, description="Searches and boxes, after which it must answer.")] = 10
    top_k: Annotated[int, Field(gt=0, description="Hits of a search, of which the first new page is shown.")] = 10
    pixels: Annotated[
        tuple[int, int], Field(description="The least and most pixels of an image as it is sent, width x height.")
    ] = (200_704, 401_408)
    pad: Annotated[int, Field(ge=0, description="Pixels of the page that are added on each side of a box.")] = 56
    coordinates: Annotated[
        Literal["pixels", "thousandths"],
        Field(description="Unit of a box: pixels of the image as it is sent, or 0 to 1000 of its width and height."),
    ] = "pixels"

    @field_validator("pixels")
    @classmethod
    def _ascending(cls, pixels: tuple[int, int]) -> tuple[int, int]:
        if not 0 < pixels[0] <= pixels[1]:
            raise ValueError("must be two numbers greater than 0, the first not greater than the second")
        return pixels

    @property
    def max_calls(self) -> int:
        """One for each action, and one to answer."""
        return self.actions + 1

    def run(self, question: str, desk: Desk) -> Steps:
        """Follow the model's actions until it answers."""
        texts, turns = self.texts(), [Turn("user", (self._rules(question, desk),))]
        pages: set[PageId] = set()
        view: Picture | None = None
        reply = ""
        for left in reversed(range(self.max_calls)):
            reply = (yield Ask("vision", tuple(turns))).text
            action, given = action_of(reply)
            if action == "answer":
                return Outcome(given, "answered" if given else "unparsed", reply)
            if not left:
                break
            result: Picture | str
            if action == "search":
                hits = (yield Search("image", given, self.top_k)) if given else ()
                result = Picture((_new_page(hits, pages),)) if hits else texts["no_page" if given else "no_query"]
            else:
                result = self._enlarged(given, view, desk) if action else texts["no_action"]
            if isinstance(result, Picture):
                view, result = result, result.fit(*self.pixels)
                pages |= set(view.pages)
            turns.append(Turn("assistant", (reply,)))
            turns.append(Turn("user", (result,) if left > 1 else (result, texts["last"])))
        return Outcome("", "budget", reply)

    def _rules(self, question: str, desk: Desk) -> str:
        texts = self.texts()
        rules = filled(texts["first"], question=question, coordinates=texts[self.coordinates])
        return "\n\n".join(filter(None, (rules, desk.instruction)))

    def _enlarged(self, given: str, view: Picture | None, desk: Desk) -> Picture | str:
        """Cut a box out of the last picture as it was before it was scaled, or name the reason why that cannot be.

        Numbers beyond the edges are clipped, as in the published code: boxes often reach a little too far.
        """
        texts, box = self.texts(), box_of(given)
        if view is None:
            return texts["no_image"]
        if box is None:
            return texts["no_box"]
        width, height = desk.size(view)
        seen = desk.size(view.fit(*self.pixels)) if self.coordinates == "pixels" else (1000, 1000)
        if box[0] >= seen[0] or box[1] >= seen[1] or box[2] <= 0 or box[3] <= 0:
            return filled(texts["outside"], width=str(seen[0]), height=str(seen[1]))
        across, down = width / seen[0], height / seen[1]
        left, top = round(box[0] * across - self.pad), round(box[1] * down - self.pad)
        right, bottom = round(box[2] * across + self.pad), round(box[3] * down + self.pad)
        left, top = min(max(left, 0), width - 1), min(max(top, 0), height - 1)
        # without a pad, a box may be smaller than a pixel
        return view.crop((left, top, max(min(right, width), left + 1), max(min(bottom, height), top + 1)))


def action_of(reply: str) -> tuple[str, str]:
    """Return the first action after a reply's thoughts that has its closing tag, and its text without blanks; or "".

    >>> action_of("<think>An <answer>7</answer>?</think><bbox><search> net debt </search><answer>42</answer>")
    ('search', 'net debt')
    """
    reply, found = without_thoughts(reply), list[tuple[int, str, str]]()
    for action in ACTIONS:
        start = reply.find(f"<{action}>")
        end = reply.find(f"</{action}>", start)
        if 0 <= start < end:
            found.append((start, action, reply[start + len(action) + 2 : end].strip()))
    _, action, given = min(found, default=(0, "", ""))
    return action, given


def box_of(text: str) -> Box | None:
    """Return the box that is written as a JSON list of four numbers, or None where it is none.

    >>> box_of("[100, 50, 300.5, 250]")
    (100, 50, 300.5, 250)
    >>> box_of("[300, 50, 100, 250]") is None
    True
    """
    try:
        numbers = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not (isinstance(numbers, list) and len(numbers) == 4):
        return None
    if not all(type(number) in (int, float) and abs(number) <= _FARTHEST for number in numbers):  # no flag, no NaN
        return None
    left, top, right, bottom = numbers
    return (left, top, right, bottom) if left < right and top < bottom else None


def _new_page(hits: Sequence[Found], shown: Container[PageId]) -> PageId:
    """Return the best page that was not shown before; the last of the hits where all of them were."""
    return next((hit.page for hit in hits if hit.page not in shown), hits[-1].page)
