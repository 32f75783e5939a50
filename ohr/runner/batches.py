"""Batches of prompts: those of all cells to one generator or judge, each different prompt once."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ohr.contracts import Generator
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.graph.graph import Graph
from ohr.steps.answers.generate import Answer
from ohr.steps.answers.prompts import Asked
from ohr.steps.documents.render_page import RenderPage
from ohr.work.shapes import read_sound
from ohr.work.step import Step

_WINDOW = 1024
"""Prompts of one step for a generator that holds a model: enough for its batches to need little padding."""
_SMALL = 64
"""Prompts of one step for a generator without a model: few enough that every worker gets some."""
_CHARACTERS = 16_000_000
"""Most characters of the prompts that are collected before they are sent."""


@dataclass
class Batches:
    """Collects the prompts of one generator, and sends those without an answer in batches of similar length."""

    session: Session
    scheduler: Scheduler
    name: str
    generator: Generator
    characters: int = 0
    collected: dict[str, tuple[Asked, str]] = field(default_factory=dict)
    """Prompts with the condition that asks them first, by the key of the answer."""
    sent: set[str] = field(default_factory=set)

    def collect(self, key: str, asked: Asked, condition: str) -> None:
        """Collect a prompt, unless it was collected before; sends batches when there are enough."""
        if key in self.sent or key in self.collected:
            return
        self.collected[key] = asked, condition
        self.characters += len(asked.prompt.user)
        if len(self.collected) >= _WINDOW or self.characters >= _CHARACTERS:
            self.send()

    def send(self) -> None:
        """Send the collected prompts, in order of length, so that the prompts of one batch need little padding."""
        graph, collected = Graph(), self.collected
        there = read_sound(self.session.store, list(collected), "answer")  # a damaged answer is asked for again
        # the key breaks ties, so that batches do not depend on the order in which cells were ready
        order = sorted(collected.keys() - there.keys(), key=lambda key: (len(collected[key][0].prompt.user), key))
        size = _WINDOW if self.generator.resources().alone else _SMALL
        for start in range(0, len(order), size):
            graph.add(self._step(tuple(order[start : start + size]), graph))
        self.scheduler.add(graph, order)
        self.sent.update(collected)
        self.collected, self.characters = {}, 0

    def forget(self, keys: Iterable[str]) -> None:
        """Free the prompts of answers that are not needed any more."""
        for key in keys:
            self.scheduler.forget(key)

    def _step(self, keys: tuple[str, ...], graph: Graph) -> Step:
        prompts = [self.collected[key] for key in keys]
        images = [
            graph.add(Step(RenderPage(page, condition), (page.key,))).key
            for asked, condition in prompts
            for page in asked.pages
        ]
        pages = tuple(asked.pages for asked, _ in prompts)
        work = Answer(
            self.generator,
            self.name,
            tuple(asked.prompt for asked, _ in prompts),
            pages if any(pages) else (),
            tuple(condition for _, condition in prompts),
        )
        return Step(work, keys, after=tuple(dict.fromkeys(images)))
