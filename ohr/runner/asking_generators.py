"""Asking generators: the prompts of their cells, the answers' scores, and what each cell has to wait for."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ohr.contracts import Generator
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import Batch, CellPart, Graph
from ohr.runner.asking_judges import Judging
from ohr.runner.batches import Batches
from ohr.runner.scoring_answers import score_answers
from ohr.spec.model import Named
from ohr.steps.answers.prompts import read_answer_keys
from ohr.store import Store
from ohr.work.shapes import read_sound


@dataclass
class Asking:
    """Sends one generator the prompts that it has not answered, and scores its answers.

    Args:
        again: its answers are scored again, whatever the store has.
    """

    session: Session
    scheduler: Scheduler
    keys: Keys
    generator: Named[Generator]
    again: bool = False
    uses: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.batches = Batches(self.session, self.scheduler, self.generator.name, self.generator.stage)

    def take(self, part: CellPart) -> None:
        """Take the prompts of a cell, which must be settled; their steps have left out those that were answered."""
        for batch in part.batches:
            assert batch.prompts is not None and batch.asks is not None
            self.uses.update(set(self.answer_keys(batch).values()))
            for key, asked in self.scheduler.asked.pop(batch.prompts.key, {}).items():
                self.batches.collect(key, asked, batch.asks.condition)

    def answer_keys(self, batch: Batch) -> dict[str, str]:
        """Return the keys of a batch's answers, by question."""
        assert batch.prompts is not None
        self.scheduler.read([batch.prompts.key])
        return read_answer_keys(self.session.store, self.scheduler.effective(batch.prompts.key))

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
        self.uses.subtract(names := list(names))
        self.batches.forget(name for name in names if not self.uses[name])


def unanswered(store: Store, parts: Sequence[CellPart], there: Collection[str]) -> set[str]:
    """Return the keys of prompts that must be made again, since the store has them and not all of their answers.

    Args:
        there: the keys of the graph that the store has.
    """
    names = {batch.prompts.key for part in parts for batch in part.batches if batch.prompts}.intersection(there)
    return {name for name in names if not _answered(store, name)}


def _answered(store: Store, name: str) -> bool:
    answers: dict[str, str] | None = read_sound(store, [name], "prompts").get(name)
    if answers is None:
        return False
    # not `has_many`: a damaged answer is asked for again
    return read_sound(store, set(answers.values()), "answer").keys() >= set(answers.values())


def by_generator(parts: Iterable[object], generators: Sequence[Named[Generator]]) -> dict[str, list[CellPart]]:
    """Sort the cells that ask a generator by its name."""
    found: dict[str, list[CellPart]] = {generator.name: [] for generator in generators}
    for part in parts:
        if isinstance(part, CellPart) and part.cell.generator is not None:
            found[part.cell.generator.name].append(part)
    return found
