"""Agents without an engine: a desk in memory, replies from a list, and every step that was taken."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ohr.contracts import Agent, Ask, Completion, Found, Outcome, PageId, Picture, Search
from ohr.files.pictures import Size, picture_size
from ohr.testing.stage import require

Reply = str | Completion
"""The reply of a scripted model; a text is a reply that ended by itself."""

MOST_STEPS = 1000
"""Steps after which an agent counts as one that never ends."""


@dataclass(frozen=True)
class PlainDesk:
    """Pages in memory.

    Args:
        texts: text of each page, in order.
        sizes: width and height of each page in pixels; 1000 x 1400 where it is not named.
        instruction: about the form of an answer.
    """

    texts: Mapping[PageId, str]
    sizes: Mapping[PageId, Size] = field(default_factory=dict)
    instruction: str = ""

    def pages(self) -> Sequence[PageId]:
        """List the pages."""
        return tuple(self.texts)

    def text(self, page: PageId) -> str:
        """Return a page's text."""
        return self.texts[page]

    def size(self, picture: Picture) -> Size:
        """Return the size of a picture."""
        return picture_size(picture, lambda page: self.sizes.get(page, (1000, 1400)))


@dataclass
class Played:
    """The record of an agent: its steps in order, those that were done at once one after the other, and its outcome."""

    steps: list[Ask | Search]
    outcome: Outcome

    @property
    def asks(self) -> list[Ask]:
        """Its calls."""
        return [step for step in self.steps if isinstance(step, Ask)]

    @property
    def searches(self) -> list[Search]:
        """Its searches."""
        return [step for step in self.steps if isinstance(step, Search)]

    @property
    def shown(self) -> list[PageId]:
        """The pages that its models saw as pictures, in the order of the first look."""
        turns = (turn for ask in self.asks if not ask.shared for turn in ask.turns)
        return list(dict.fromkeys(page for turn in turns for picture in turn.pictures for page in picture.pages))


def found(*pages: PageId, texts: Mapping[PageId, str] | None = None) -> tuple[Found, ...]:
    """Return pages as the hits of a search, best first."""
    return tuple(Found(page, (texts or {}).get(page, ""), -float(rank), (page,)) for rank, page in enumerate(pages))


def play(
    agent: Agent,
    question: str,
    desk: PlainDesk,
    replies: Sequence[Reply] | Callable[[Ask], Reply],
    hits: Callable[[Search], Sequence[Found]],
) -> Played:
    """Run an agent on scripted models and searches.

    Args:
        replies: of the models, in the order of the calls; or what makes one.
        hits: makes the result of a search.

    Raises:
        AssertionError: the script has too few replies, or the agent takes more than 1,000 steps, or yields what is no
            step, or returns what is no outcome.
    """
    waiting: Iterator[Reply] = iter(()) if callable(replies) else iter(replies)
    steps: list[Ask | Search] = []

    def done(step: Ask | Search) -> Any:
        require(agent, isinstance(step, Ask | Search), f"yielded {step!r:.80}, which is neither Ask nor Search")
        steps.append(step)
        require(agent, len(steps) <= MOST_STEPS, f"took more than {MOST_STEPS:,} steps")
        if isinstance(step, Search):
            return tuple(hits(step))
        given = replies(step) if callable(replies) else next(waiting, None)
        if given is None:
            raise AssertionError(f"agent {agent.kind}: call {len(steps)} has no scripted reply")
        return Completion(given) if isinstance(given, str) else given

    run, result = agent.run(question, desk), None
    while True:
        try:
            wanted = run.send(result)
        except StopIteration as ended:
            require(agent, isinstance(ended.value, Outcome), f"returned {ended.value!r:.80}, which is no Outcome")
            return Played(steps, ended.value)
        require(agent, wanted != (), "yielded an empty tuple")
        result = tuple(map(done, wanted)) if isinstance(wanted, tuple) else done(wanted)
