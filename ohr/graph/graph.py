"""The compiled form of a spec: steps by the keys that they write, and the parts that tables are written from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ohr.contracts import Correction
from ohr.graph.cells import Cell
from ohr.spec.model import KnowledgeBase
from ohr.steps.answers.prompts import PreparePrompts
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Step


@dataclass(frozen=True, slots=True)
class BasePart:
    """A knowledge base: keys of its documents and of the damage to them, in the order of the benchmark's documents.

    `damage` is empty where images are distorted and no engine reads them; `pages` has the keys of the pages that were
    read, by document, and is empty where none was; `scores` has the keys of the scores of pages, by document, and is
    empty where the protocol has none; `judged` has the keys of `Judged` where judges are asked about pages; `asked` has
    the keys of the replies' keys where a model corrects pages, each with its correction.
    """

    base: KnowledgeBase
    documents: tuple[str, ...]
    damage: tuple[str, ...]
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scores: Mapping[str, str] = field(default_factory=dict)
    judged: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, Correction] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that must be settled before its tables are written."""
        return (*self.documents, *self.damage, *self.judged.values(), *self.scores.values())


@dataclass(frozen=True, slots=True)
class Batch:
    """Some questions of a cell.

    Args:
        questions: places in `Inputs.questions`.
        scope: name of the index that is searched for them.
        hits: key of their hits; None where the cell does not retrieve.
        scores: key of their scores.
        prompts: the step that prepares their prompts, in a cell with a generator.
        episodes: keys of an agent's trajectories, by question id, in a cell with an agent.
        judged: key of the keys of judges' replies about their answers, where judges are asked.
    """

    questions: tuple[int, ...]
    scope: str = ""
    hits: str | None = None
    scores: str | None = None
    prompts: Step | None = None
    episodes: Mapping[str, str] = field(default_factory=dict)
    judged: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the graph settles for it; those of answers are known only when the prompts are."""
        prompts = self.prompts.key if self.prompts else None
        keys = (self.hits, prompts, *self.episodes.values(), self.judged, self.scores)
        return tuple(key for key in keys if key is not None)

    @property
    def asks(self) -> PreparePrompts | None:
        """How its prompts are made."""
        work = self.prompts.work if self.prompts else None
        return work if isinstance(work, PreparePrompts) else None


_STEPS = 16
"""Enough for the workers of a machine. Up to 8,192 questions each batch of 512 has a step of its own."""


def shared_out(batches: Sequence[Batch]) -> Iterator[Sequence[Batch]]:
    """Share batches out to steps that all read every document: few steps, however many questions there are.

    With a step for each batch, inputs would grow with the number of documents times that of questions.
    """
    size = -(-len(batches) // _STEPS)
    return (batches[start : start + size] for start in range(0, len(batches), size or 1))


@dataclass(frozen=True, slots=True)
class CellPart:
    """A cell and its batches of questions."""

    cell: Cell
    batches: tuple[Batch, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that must be settled before its tables are written."""
        return tuple(key for batch in self.batches for key in batch.keys)


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The keys of a graph that a store has.

    Args:
        there: a step that grows counts only where all that it asked for is there, too.
        stale: outputs of steps that depend on what is asked for again: a new answer may be another one.
        asked_for: what the steps of the graph have asked for, as far as they are there.
    """

    there: set[str]
    stale: set[str]
    asked_for: set[str]


@dataclass
class Graph:
    """Every step of a run.

    Args:
        steps: by each of their outputs; a step whose outputs several parts use is there once.
        parts: knowledge bases and cells, in the order of the tables.
    """

    steps: dict[str, Step] = field(default_factory=dict)
    parts: list[BasePart | CellPart] = field(default_factory=list)

    def add(self, step: Step) -> Step:
        """Add a step, or return the one that writes the same key."""
        known = self.steps.get(step.key)
        if known is None:
            self.steps |= dict.fromkeys(step.outputs, step)
        return known or step

    def look_up(self, store: Store) -> "LookedUp":
        """Look up which keys a store has."""
        there, stale, asked_for = set(store.has_many(self.steps.keys())), set[str](), set[str]()
        for name in there & {step.key for step in self.steps.values() if step.work.grows}:
            work = self.steps[name].work
            outputs = read_sound(store, [name], work.shape)
            asked = {key for output in outputs.values() for key in work.grown(output)}
            # not `has_many`: a damaged answer is asked for again
            if not outputs or read_sound(store, asked, "answer").keys() != asked:
                there.discard(name)
                stale.add(name)
            asked_for |= asked
        growing = frozenset(stale)
        for step in self.steps.values():  # inputs come first
            if not stale.isdisjoint(step.inputs):
                stale.update(step.outputs)
        return LookedUp(there - stale, stale - growing, asked_for)

    @property
    def goals(self) -> Iterator[str]:
        """The keys that the tables are written from."""
        return (key for part in self.parts for key in part.keys)

    def needed(self, goals: Iterable[str], there: set[str]) -> list[Step]:
        """List the steps that must run for `goals`, inputs first.

        Args:
            there: the keys that the store has.
        """
        needed: dict[str, Step] = {}
        stack = [(step, False) for key in goals if (step := self.steps.get(key)) is not None]
        stack.reverse()
        seen: set[str] = set()
        while stack:
            step, inputs_listed = stack.pop()
            if inputs_listed:
                needed[step.key] = step
            elif step.key not in seen:
                seen.add(step.key)
                if not there.issuperset(step.outputs):
                    stack.append((step, True))
                    above = (self.steps.get(key) for key in reversed(step.inputs))
                    stack += [(one, False) for one in above if one is not None]
        return list(needed.values())
