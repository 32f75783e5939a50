"""Asking generators: prompts of all cells in large batches, each different prompt once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ohr.contracts import Generator
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import Batch, CellPart, Graph
from ohr.runner.asking_judges import Judging
from ohr.runner.scoring_answers import score_answers
from ohr.spec.model import Named
from ohr.steps.answers.generate import Answer
from ohr.steps.answers.prompts import Asked, read_answer_keys
from ohr.steps.documents.render_page import RenderPage
from ohr.work.shapes import read_sound
from ohr.work.step import Ready, Step

_WINDOW = 1024
"""Prompts of one step for a generator that holds a model: enough for its batches to need little padding."""
_SMALL = 64
"""Prompts of one step for a generator without a model: few enough that every worker gets some."""
_CHARACTERS = 16_000_000
"""Most characters of the prompts that are held at once."""


@dataclass
class Asking:
    """Collects what one generator has not answered yet, and sends it off in batches over all cells.

    Args:
        again: its answers are scored again, whatever the store has.
    """

    session: Session
    scheduler: Scheduler
    keys: Keys
    generator: Named[Generator]
    again: bool = False
    held: dict[str, tuple[Asked, str]] = field(default_factory=dict)
    characters: int = 0
    sent: set[str] = field(default_factory=set)
    uses: Counter[str] = field(default_factory=Counter)

    def take(self, part: CellPart) -> None:
        """Take the prompts of a cell, which must be settled; sends batches when enough are held."""
        for batch in part.batches:
            answers = self.answer_keys(batch)
            self.uses.update(set(answers.values()))
            wanted = {name for name in answers.values() if name not in self.sent and name not in self.held}
            wanted -= set(
                read_sound(self.session.store, wanted, "answer")
            )  # not `has_many`: a damaged answer is asked again
            if wanted:
                self._hold(batch, answers, wanted)

    def answer_keys(self, batch: Batch) -> dict[str, str]:
        """Return the keys of a batch's answers, by question."""
        assert batch.prompts is not None
        self.scheduler.read([batch.prompts.key])
        return read_answer_keys(self.session.store, self.scheduler.effective(batch.prompts.key))

    def _hold(self, batch: Batch, answers: dict[str, str], wanted: set[str]) -> None:
        work, step = batch.asks, batch.prompts
        assert work is not None and step is not None
        ready = Ready(tuple(self.scheduler.effective(name) for name in step.inputs), step.outputs)
        for question, asked in work.prompts(ready, self.session.context).items():
            name = answers.get(question)
            if name in wanted and name not in self.held:
                self.held[name] = (asked, work.condition)
                self.characters += len(asked.prompt.user)
        if len(self.held) >= _WINDOW or self.characters >= _CHARACTERS:
            self.send()

    def send(self) -> None:
        """Send the held prompts, in order of length, so that the prompts of one batch need little padding."""
        graph = Graph()
        # the key breaks ties, so that batches do not depend on the order in which cells were ready
        order = sorted(self.held, key=lambda name: (len(self.held[name][0].prompt.user), name))
        stage = self.generator.stage
        size = _WINDOW if stage.resources().alone else _SMALL
        for start in range(0, len(order), size):
            names = tuple(order[start : start + size])
            graph.add(self._step(names, graph))
        self.scheduler.add(graph, order)
        self.sent.update(order)
        self.held, self.characters = {}, 0

    def _step(self, names: tuple[str, ...], graph: Graph) -> Step:
        asked = [self.held[name][0] for name in names]
        shown = tuple(one.pages for one in asked)
        images = [
            graph.add(Step(RenderPage(page, self.held[name][1]), (page.key,))).key
            for name, pages in zip(names, shown, strict=True)
            for page in pages
        ]
        work = Answer(
            self.generator.stage,
            self.generator.name,
            tuple(one.prompt for one in asked),
            shown if any(shown) else (),
            tuple(self.held[name][1] for name in names),
        )
        return Step(work, names, after=tuple(dict.fromkeys(images)))

    def settle(self, part: CellPart, judging: Judging) -> Iterator[tuple[Batch, dict[str, str], str]]:
        """Answer and score a cell; yields each batch with its answers' keys by question and the key of its scores."""
        asked = [(batch, self.answer_keys(batch)) for batch in part.batches]
        self.scheduler.settle(name for _, answers in asked for name in answers.values())
        self.scheduler.settle({name for batch, _ in asked for name in judging.replies(batch)})
        graph = Graph()
        scored = (score_answers(self.keys, part.cell, batch, names, judging.of(batch)) for batch, names in asked)
        steps = list(map(graph.add, scored))
        if self.again:  # a score's key has the keys of its answers, not what they say
            self.session.store.discard([step.key for step in steps])
        self.scheduler.add(graph, [step.key for step in steps])
        for (batch, answers), step in zip(asked, steps, strict=True):
            self.scheduler.settle([step.key])
            yield batch, answers, step.key
        self._forget(name for _, answers in asked for name in set(answers.values()))

    def _forget(self, names: Iterable[str]) -> None:
        """Free the prompts of answers that no further cell needs."""
        for name in names:
            self.uses[name] -= 1
            if not self.uses[name]:
                del self.uses[name]
                self.scheduler.forget(name)


def by_generator(parts: Iterable[object], generators: Sequence[Named[Generator]]) -> dict[str, list[CellPart]]:
    """Sort the cells that ask a generator by its name."""
    found: dict[str, list[CellPart]] = {generator.name: [] for generator in generators}
    for part in parts:
        if isinstance(part, CellPart) and part.cell.generator is not None:
            found[part.cell.generator.name].append(part)
    return found
