"""The scheduler: runs every step whose inputs are ready, grouped by the model that it needs."""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from time import monotonic
from typing import Any

from ohr.engine.executors.base import Executor, NodeLost
from ohr.engine.lanes import Lane, Task
from ohr.engine.ledger import Ledger
from ohr.engine.progress import Progress
from ohr.engine.setup import reason
from ohr.engine.tally import EVERY, Tally
from ohr.engine.worker import Job, Result, run_jobs
from ohr.errors import InputsGone, OhrError, StoreError
from ohr.graph.graph import Graph
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Ready

_log = logging.getLogger(__name__)
_LOSSES = 3
"""How often a value may be lost before the store counts as broken."""
_POLL = 0.25
"""Seconds between two looks at what another run is making."""

Limits = tuple[int, float | None]


class Scheduler:
    """Runs steps on an executor; results in the store are reused.

    Args:
        limits: how often an item that failed is tried again, and the seconds of an item, None for no limit.
    """

    def __init__(self, store: Store, executor: Executor, ledger: Ledger, progress: Progress, limits: Limits) -> None:
        self.store, self.executor, self.ledger = store, executor, ledger
        self.retries, self.seconds = limits
        self._graph = Graph()
        self._pending: dict[str, Task] = {}
        self._renamed: dict[str, str | None] = {}
        self._lanes = {alone: Lane(alone) for alone in (False, True)}
        self._running: dict[Future[list[Result]], tuple[Lane, list[Task]]] = {}
        self._parked: list[Task] = []
        self._released: list[str] = []  # claims to give up at the end of the turn, in one write
        self._looked, self._moved = 0.0, False
        self._lost = Counter[str]()
        self._tally = Tally(progress)
        self._pace: dict[str, float] = {}
        self._settled: set[str] = set()
        self.asked: dict[str, Mapping[str, Any]] = {}  # what steps reported as such, by the step's key

    def add(self, graph: Graph, goals: Iterable[str], there: Collection[str] | None = None) -> int:
        """Plan the steps that `goals` need and the store does not have.

        Args:
            there: the keys of the graph that the store has, if somebody has asked it already.

        Returns:
            the number of steps planned.
        """
        known = self.store.has_many(graph.steps.keys()) if there is None else there
        self._graph.steps |= graph.steps
        return len(self._plan(graph, goals, {*known, *self._settled}))

    def _plan(self, graph: Graph, goals: Iterable[str], known: set[str]) -> list[Task]:
        fresh = [
            Task(step)
            for step in graph.needed(goals, known)
            if step.key not in self._pending and step.key not in self._renamed
        ]
        for task in fresh:
            self._pending |= dict.fromkeys(task.step.outputs, task)
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
        steps = self._graph.steps  # what was forgotten is of no known shape
        shapes = {name: steps[plain].work.shape if plain in steps else "" for plain, name in wanted.items()}
        found = read_sound(self.store, shapes)
        lost = [plain for plain, name in wanted.items() if name not in found]
        if lost:
            self._remake("results", lost)
            self.settle(lost)
            return self.read(wanted)
        return {plain: found[name] for plain, name in wanted.items()}

    def _remake(self, item: str, lost: Sequence[str]) -> list[Task]:
        """Plan the steps that make lost values again; returns those of the values, which may be planned already.

        Raises:
            InputsGone: no step makes one of them, or they are lost again and again.
        """
        self._lost.update(name for name in lost if name not in self._pending)  # else several steps miss one value
        if any(name not in self._graph.steps or self._lost[name] > _LOSSES for name in lost):
            raise InputsGone(item, lost)
        self._plan(self._graph, lost, self.store.has_many(self._graph.steps.keys()) - set(lost))
        return list({task.step.key: task for name in lost if (task := self._pending.get(name))}.values())

    def settle(self, keys: Iterable[str]) -> None:
        """Run until each of these keys is made or has failed; other steps that are ready run as well."""
        for name in keys:
            while name in self._pending:
                self._turn()

    def forget(self, name: str) -> None:
        """Free the step of an output that is not needed any more; if it is lost, it cannot be made again."""
        self._graph.steps.pop(name, None)

    def effective(self, name: str) -> str | None:
        """Return the key under which a settled output is in the store; None where it failed.

        It is another one than the graph's where an input failed: what was made with a gap must not be taken for the
        whole by a later run.
        """
        return self._renamed.get(name, name)

    def _ready(self, task: Task, *, first: bool = False) -> None:
        stage = task.step.work.stage
        self._lanes[bool(stage and stage.resources().alone)].push(task, first=first)

    def _turn(self) -> None:
        """Send tasks that are ready, and process those that have ended."""
        self._moved = False
        self._look_at_parked()
        for lane in self._lanes.values():
            self._send(lane)
        if self._running:
            timeout = _POLL if self._parked else EVERY
            done, _ = wait(self._running, timeout=timeout, return_when=FIRST_COMPLETED)
            for future in done:
                lane, tasks = self._running.pop(future)
                self._ended(tasks, future)
            self._tally.look(self.store, [task for _, tasks in self._running.values() for task in tasks])
        elif self._parked:
            wait([Future()], timeout=_POLL)
        elif not self._moved:
            raise RuntimeError("the graph has steps that wait for each other")
        if self._released:
            self.store.release(self._released)
            self._released = []

    def _send(self, lane: Lane) -> None:
        free = self.executor.capacity(alone=lane.alone) - sum(at is lane for at, _ in self._running.values())
        while free > 0 and len(lane):
            tasks = self._claimed(lane.take(free, self._pace))
            if tasks:
                jobs = [Job(task.step.work, self._keys_of(task)) for task in tasks]
                limit = self.seconds and self.seconds * sum(job.work.parts(job.ready) for job in jobs) + 60
                future = self.executor.submit(run_jobs, jobs, alone=lane.alone, seconds=limit)
                self._running[future] = (lane, tasks)
                free -= 1

    def _claimed(self, tasks: Sequence[Task]) -> list[Task]:
        """Leave out the tasks that another run has done or is doing."""
        granted = self.store.claim([self._name(task) for task in tasks])
        there = self._done(tasks)
        mine = []
        for task in tasks:
            if there.issuperset(self._keys_of(task).outputs):
                self._finish(task)
            elif self._name(task) in granted:
                mine.append(task)
            else:
                self._parked.append(task)
        return mine

    def _done(self, tasks: Sequence[Task]) -> set[str]:
        """Return the outputs that the store has, without those of work that has to report besides."""
        tasks = [task for task in tasks if not task.step.work.reports]
        return self.store.has_many([name for task in tasks for name in self._keys_of(task).outputs])

    def _look_at_parked(self) -> None:
        if self._parked and monotonic() - self._looked >= _POLL:
            self._looked = monotonic()
            parked, self._parked = self._parked, []
            for task in parked:
                self._ready(task)

    def _ended(self, tasks: Sequence[Task], future: Future[list[Result]]) -> None:
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            raise OhrError("worker processes end as soon as they start; --executor inline shows why") from error
        if isinstance(error, StoreError) or (error is not None and not isinstance(error, Exception)):
            raise error  # no step can do without the store
        if error is None:
            for task, result in zip(tasks, future.result(), strict=True):
                self._report(task, result)
        elif len(tasks) > 1:
            there = self._done(tasks)
            for task in tasks:
                if there.issuperset(self._keys_of(task).outputs):
                    self._finish(task)
                else:
                    task.apart = True
                    self._again(task)
        elif isinstance(error, NodeLost):
            self._again(tasks[0])
        elif tasks[0].step.work.together and not tasks[0].apart:
            tasks[0].apart = True
            self._again(tasks[0])
        else:
            self._failed(tasks[0], reason(error), lost=True)

    def _report(self, task: Task, result: Result) -> None:
        if isinstance(result, InputsGone):
            self._again(task, self._remake(result.item, result.keys))
            return
        if isinstance(result, str):
            self._failed(task, result)
            return
        kind = task.step.work.kind
        if result.asked:
            self.asked[task.step.key] = result.asked
        self.ledger.calls.update(result.calls)
        self.ledger.tokens.update(result.tokens)
        self.ledger.seconds[kind] += result.seconds
        self._pace[kind] = 0.8 * self._pace.get(kind, result.seconds) + 0.2 * result.seconds
        if stage := task.step.work.stage:
            self.ledger.took(type(stage).family, stage.kind, result.seconds, len(task.step.outputs))
        if not result.errors:
            self._finish(task)
            return
        for name, why in result.errors.items():
            task.attempts[name] += 1
            task.errors[name] = why
        self._try_again(task, list(result.errors))

    def _failed(self, task: Task, why: str, *, lost: bool = False) -> None:
        """A step raised, or its worker was lost."""
        ready = self._keys_of(task)
        there = self._done([task])
        left = [name for name in ready.outputs if name not in there and name not in ready.skip]
        blamed = left[:1] if lost and task.step.work.one_by_one else left
        for name in blamed:
            task.attempts[name] += 1
            task.errors[name] = why
        self._try_again(task, left)

    def _try_again(self, task: Task, left: Sequence[str]) -> None:
        if any(task.attempts[name] <= self.retries for name in left):
            _log.info("tried again: %s: %s", task.step.work.item, next(iter(task.errors.values()), ""))
            self._again(task)
        else:
            self._finish(task)

    def _again(self, task: Task, others: Sequence[Task] = ()) -> None:
        """Run a task once more, after others."""
        self._released.append(self._name(task))
        for other in others:
            other.dependents.append(task)
        task.waiting = len(others)
        if not others:
            self._ready(task, first=True)

    def _finish(self, task: Task) -> None:
        """Settle all outputs: those with too many failed attempts have failed."""
        ready, step = self._keys_of(task), task.step
        self._moved = True
        self._settled.update(step.outputs)
        for place, (plain, name) in enumerate(zip(step.outputs, ready.outputs, strict=True)):
            self._pending.pop(plain, None)
            if name in task.errors and task.attempts[name] > self.retries:
                self._renamed[plain] = None
                self.ledger.fail(step.work.role, step.work.label(place), task.errors[name])
            elif name != plain:
                self._renamed[plain] = name
        self._released.append(self._name(task))
        self._tally.finish(task, self.ledger.seconds)
        for one in task.dependents:
            one.waiting -= 1
            if not one.waiting:
                self._ready(one)
        task.dependents = []

    def _name(self, task: Task) -> str:
        return self._keys_of(task).outputs[0]

    def _keys_of(self, task: Task) -> Ready:
        return task.keys(self._renamed, self.retries)
