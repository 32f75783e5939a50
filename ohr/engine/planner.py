"""The planner: which steps are still to run, and under which keys their results are in the store."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ohr.engine.growth import Growth
from ohr.engine.lanes import Task
from ohr.engine.progress import Progress
from ohr.engine.tally import Tally
from ohr.errors import InputsGone
from ohr.graph.graph import Graph
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Ready, Report

_LOSSES = 3
"""How often a value may be lost before the store counts as broken."""


class Planner(ABC):
    """Plans the steps whose results the store lacks, and those that steps ask for.

    Args:
        retries: how often an item that failed is tried again.
    """

    def __init__(self, store: Store, progress: Progress, retries: int) -> None:
        self.store, self.retries = store, retries
        self._graph = Graph()
        self._pending: dict[str, Task] = {}
        self._renamed: dict[str, str | None] = {}
        self._released: list[str] = []  # claims to give up at the end of the turn, in one write
        self._lost = Counter[str]()
        self._tally = Tally(progress)
        self._settled: set[str] = set()
        self._growth = Growth()
        self._stale: set[str] = set()
        self._asked_again: set[str] = set()

    @abstractmethod
    def settle(self, keys: Iterable[str]) -> None:
        """Run until each of these keys is made or has failed; other steps that are ready run as well."""

    @abstractmethod
    def _ready(self, task: Task) -> None:
        """Take a task whose inputs are settled."""

    @abstractmethod
    def _again(self, task: Task, others: Sequence[Task] = ()) -> None:
        """Run a task once more, after others."""

    @abstractmethod
    def _finish(self, task: Task) -> None:
        """Settle all outputs of a task: those with too many failed attempts have failed."""

    def add(self, graph: Graph, goals: Iterable[str], stale: Collection[str] = (), *, asks_again: bool = False) -> int:
        """Plan the steps that `goals` need and the store does not have.

        Args:
            stale: keys of steps that are made again, whatever the store has.
            asks_again: what these steps have asked for is made again, too.

        Returns:
            the number of steps planned.
        """
        found = graph.look_up(self.store)
        self._stale |= {*found.stale, *stale}
        self._asked_again |= set(stale) if asks_again else set()
        self._growth.asked_for |= found.asked_for
        self._graph.steps |= graph.steps
        return len(self._plan(graph, goals, {*found.there.difference(stale), *self._settled}))

    @property
    def asked_for(self) -> set[str]:
        """The keys of what steps have asked for, in this run or an earlier one."""
        return self._growth.asked_for

    def _discard_stale(self, task: Task) -> None:
        """Remove what a step has made before, under the key that it has now; with a gap it is another than planned."""
        if task.step.key not in self._stale:
            return
        self._stale.discard(task.step.key)
        names, work = list(self._keys_of(task).outputs), task.step.work
        if task.step.key in self._asked_again and work.grows:
            outputs = read_sound(self.store, names, work.shape).values()
            names += [name for output in outputs for name in work.grown(output)]
        self.store.discard(names)

    def _plan(self, graph: Graph, goals: Iterable[str], known: set[str]) -> list[Task]:
        fresh = [
            Task(step)
            for step in graph.needed(goals, known)
            if step.key not in self._pending and step.key not in self._renamed
        ]
        for task in fresh:
            self._pending |= dict.fromkeys(task.step.outputs, task)
        self._growth.plan(fresh)
        for task in fresh:
            needed = (self._pending.get(name) for name in (*task.step.inputs, *task.step.after))
            for other in {id(other): other for other in needed if other}.values():
                other.dependents.append(task)
                task.waiting += 1
        for task in fresh:
            if not task.waiting:
                self._ready(task)
        self._tally.plan(fresh)
        return fresh

    def read(self, names: Iterable[str]) -> dict[str, Any]:
        """Read settled outputs, by the graph's keys; those that failed are left out.

        What was damaged or lost since it was made is made again.

        Raises:
            InputsGone: a value is gone that no step of the graph makes.
        """
        wanted = {plain: name for plain in names if (name := self.effective(plain)) is not None}
        steps = self._graph.steps
        shapes = {
            name: steps[plain].work.shape if plain in steps else self._growth.shape(plain)
            for plain, name in wanted.items()
        }
        found = read_sound(self.store, shapes)
        lost = [plain for plain, name in wanted.items() if name not in found]
        if lost:
            self.settle(task.step.key for task in self._remake("results", lost))
            return self.read(wanted)
        return {plain: found[name] for plain, name in wanted.items()}

    def _remake(self, item: str, lost: Sequence[str]) -> list[Task]:
        """Plan the steps that make lost values again, or ask for them again; returns these steps.

        Raises:
            InputsGone: no step makes one of them, or they are lost again and again.
        """
        self._lost.update(name for name in lost if name not in self._pending)  # else several steps miss one value
        steps = self._graph.steps
        makers = {name: name if name in steps else self._growth.asked_by(name) for name in lost}
        if any(maker not in steps or self._lost[name] > _LOSSES for name, maker in makers.items()):
            raise InputsGone(item, lost)
        self._settled.difference_update(lost)
        for name in makers.values():
            self._renamed.pop(name, None)
        self._plan(self._graph, makers.values(), self.store.has_many(steps.keys()) - set(makers.values()))
        return list({task.step.key: task for name in makers.values() if (task := self._pending.get(name))}.values())

    def effective(self, name: str) -> str | None:
        """Return the key under which a settled output is in the store; None where it failed.

        It is another one than the graph's where an input failed: what was made with a gap must not be taken for the
        whole by a later run.
        """
        return self._renamed.get(name, name)

    def _name(self, task: Task) -> str:
        return self._keys_of(task).outputs[0]

    def _keys_of(self, task: Task) -> Ready:
        return task.keys(self._renamed, self.retries)

    def _grow(self, task: Task, report: Report) -> None:
        """Add the steps that a step asks for."""
        try:
            turns = self._growth.ask(task, report, self._pending)
        except ValueError as error:
            for name in self._keys_of(task).outputs:
                task.attempts[name], task.errors[name] = self.retries + 1, str(error)
            self._finish(task)
            return
        if task not in turns:  # another run may make it before its turn comes here
            self._released.append(self._name(task))
        self._wait_for_growth(turns)

    def _wait_for_growth(self, tasks: Iterable[Task]) -> None:
        """Run tasks again when what they asked for is settled."""
        for task in tasks:
            graph, needs = self._growth.graph(task), task.growth.needs
            self._graph.steps |= graph.steps
            self._plan(graph, graph.steps, self._settled)
            asked = (self._pending.get(name) for name in (*graph.steps, *needs))
            self._again(task, list({id(other): other for other in asked if other}.values()))
            task.needs, task.growth = needs or task.needs, Report()
