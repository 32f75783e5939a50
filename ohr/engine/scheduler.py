"""The scheduler: runs every step whose inputs are ready, grouped by the model that it needs."""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from time import monotonic
from typing import Any

from ohr.contracts import Permanent
from ohr.engine.executors.aside import Aside
from ohr.engine.executors.base import Executor, NodeLost
from ohr.engine.ledger import Ledger
from ohr.engine.progress import EVERY, Progress, Tally
from ohr.engine.tasks import Growth, Lane, Task
from ohr.engine.worker import Job, Result, reason, run_jobs
from ohr.errors import InputsGone, OhrError, PromptError, StoreError
from ohr.graph.graph import Graph
from ohr.models.tries import MOST_LOST, Policy
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Ready, Report

_log = logging.getLogger(__name__)
_POLL = 0.25
"""Seconds between two looks at what another run is making."""
_HELD = 32_000_000
"""Characters of waiting prompts above which no more are made while others can be answered: as a prompt holds its
passages twice, about 250 MB."""
_HELD_FOR_FILES = 200_000_000
"""The same where prompts are sent in files: as many as the largest file of a server takes, about 1.6 GB."""


class Scheduler:
    """Runs the steps whose results the store lacks, and those that steps ask for, on an executor.

    Args:
        policy: how often an item is tried.
        seconds: limit of an item; None for no limit.
        aside: runs what waits for hours.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        ledger: Ledger,
        progress: Progress,
        aside: Aside,
        *,
        policy: Policy,
        seconds: float | None = None,
    ) -> None:
        self.store, self.policy = store, policy
        self._graph, self._growth, self._tally = Graph(), Growth(), Tally(progress)
        self._pending: dict[str, Task] = {}
        self._renamed: dict[str, str | None] = {}
        self._released: list[str] = []  # claims to give up at the end of the turn, in one write
        self._lost = Counter[str]()
        self._settled: set[str] = set()
        self._stale: set[str] = set()
        self._asked_again: set[str] = set()
        self.executor, self.ledger, self.seconds, self.aside = executor, ledger, seconds, aside
        self._posted = Lane(alone=True)  # whole files, as many at once as there are
        self._lanes = {alone: Lane(alone) for alone in (False, True)}
        self._running: dict[Future[list[Result]], tuple[Lane, list[Task]]] = {}
        self._parked: list[Task] = []
        self._looked, self._moved = 0.0, False
        self._pace: dict[str, float] = {}

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
        values = read_sound(self.store, shapes)
        lost = [plain for plain, name in wanted.items() if name not in values]
        if lost:
            self.settle(task.step.key for task in self._remake("results", lost))
            return self.read(wanted)
        return {plain: values[name] for plain, name in wanted.items()}

    def _remake(self, item: str, lost: Sequence[str]) -> list[Task]:
        """Plan the steps that make lost values again, or ask for them again; returns these steps.

        Raises:
            InputsGone: no step makes one of them, or they are lost again and again.
        """
        self._lost.update(name for name in lost if name not in self._pending)  # else several steps miss one value
        steps = self._graph.steps
        makers = {name: name if name in steps else self._growth.asked_by(name) for name in lost}
        if any(maker not in steps or self._lost[name] > MOST_LOST for name, maker in makers.items()):
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
        return task.keys(self._renamed, self.policy)

    def _grow(self, task: Task, report: Report) -> None:
        """Add the steps that a step asks for."""
        try:
            turns = self._growth.ask(task, report, self._pending)
        except ValueError as error:
            for name in self._keys_of(task).outputs:
                self._note(task, name, Permanent(error))
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

    def settle(self, keys: Iterable[str]) -> None:
        """Run until each of these keys is made or has failed; other steps that are ready run as well."""
        try:
            for name in keys:
                while name in self._pending:
                    self._turn()
        except KeyboardInterrupt as interruption:
            interruption.args = tuple(self.aside.left())
            raise

    def _ready(self, task: Task, *, first: bool = False) -> None:
        work = task.step.work
        alone = bool(work.stage and work.stage.resources().alone)
        (self._posted if work.posted else self._lanes[alone]).push(task, first=first)

    def _turn(self) -> None:
        """Send tasks that are ready, and process those that have ended."""
        self._moved = False
        self._look_at_parked()
        for last, anything in ((False, False), (True, False), (True, True)):
            for lane in (*self._lanes.values(), self._posted):
                # what waits at a server may take hours: meanwhile others like it go out
                busy = self._running if anything else [at for at, _ in self._running.values() if at is not self._posted]
                if not (last and (busy or self._moved)):
                    self._send(lane, last=last, anything=anything)
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

    def _send(self, lane: Lane, *, last: bool, anything: bool) -> None:
        """Send what is ready.

        Args:
            last: what waits for more of its kind, too, as nothing else is under way.
            anything: work that makes more prompts, too, though memory holds many.
        """
        full = self._full() and not anything
        free = 1
        if lane is not self._posted:
            free = self.executor.capacity(alone=lane.alone) - sum(at is lane for at, _ in self._running.values())
        while free > 0 and (ready := lane.take(free, self._pace, full=full, last=last)):
            if tasks := self._claimed(ready):
                jobs = [Job(task.step.work, self._keys_of(task)) for task in tasks]
                if lane is self._posted:
                    future = self.aside.submit(jobs)
                else:
                    future = self.executor.submit(run_jobs, jobs, alone=lane.alone, seconds=self._most(jobs))
                    free -= 1
                self._running[future] = (lane, tasks)

    def _full(self) -> bool:
        """Report whether memory holds as many prompts as it may."""
        waiting = self._growth.held + sum(lane.held for lane in self._lanes.values())
        sent = [task for at, tasks in self._running.values() if at is self._posted for task in tasks]
        posted = self._posted.held + sum(task.step.work.length for task in sent)
        return waiting + posted > (_HELD_FOR_FILES if posted else _HELD)

    def _most(self, jobs: Sequence[Job]) -> float | None:
        """Return the seconds after which a worker is killed whatever it does; None where they may wait for a server."""
        if self.seconds is None or any(job.work.stage and job.work.stage.patient for job in jobs[:1]):
            return None
        return self.seconds * sum(job.work.parts(job.ready) for job in jobs) + 60

    def _claimed(self, tasks: Sequence[Task]) -> list[Task]:
        """Leave out the tasks that another run has done or is doing."""
        granted = self.store.claim([self._name(task) for task in tasks])
        for task in tasks:
            if self._name(task) in granted:
                self._discard_stale(task)
        there = self._done(tasks)
        mine = []
        for task in tasks:
            if there.issuperset(self._keys_of(task).outputs):
                self._finish(task)
            elif self._name(task) in granted:
                mine.append(task)
                if task.step.work.stage:
                    outputs = zip(task.step.outputs, self._keys_of(task).outputs, strict=True)
                    self.ledger.usage.made.update(plain for plain, name in outputs if name not in there)
            else:
                self._parked.append(task)
        return mine

    def _done(self, tasks: Sequence[Task]) -> set[str]:
        """Return the outputs that the store has, without those of work that has yet to ask for more steps."""
        tasks = [task for task in tasks if task.had_its_turn or not task.step.work.grows]
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
        if isinstance(error, StoreError | PromptError) or (error is not None and not isinstance(error, Exception)):
            raise error  # no step can do without the store; what was never asked cannot be asked again
        if error is None:
            for task, result in zip(tasks, future.result(), strict=True):
                self._report(task, result)
        elif len(tasks) > 1:
            self._lost_together(tasks, error)
        elif isinstance(error, NodeLost):
            self._again(tasks[0])
        elif tasks[0].step.work.together and not tasks[0].apart:
            tasks[0].apart = True
            self._again(tasks[0])
        else:
            self._failed(tasks[0], reason(error), lost=True)

    def _lost_together(self, tasks: Sequence[Task], error: BaseException) -> None:
        """A worker was lost with several tasks: finish what it has done, and find out who is to blame."""
        there = self._done(tasks)
        left = [task for task in tasks if not there.issuperset(self._keys_of(task).outputs)]
        for task in tasks:
            if task not in left:
                self._finish(task)
        for task in left:
            if not task.step.work.window:
                task.apart = True
            elif task is left[0] and not isinstance(error, NodeLost):  # they are done in order
                self._failed(task, reason(error), lost=True)
                continue
            self._again(task)

    def _report(self, task: Task, result: Result) -> None:
        if isinstance(result, InputsGone):
            self._again(task, self._remake(result.item, result.keys))
            return
        if isinstance(result, str):
            self._failed(task, result)
            return
        kind = task.step.work.kind
        self.ledger.calls.update(result.calls)
        self.ledger.tokens.update(result.tokens)
        self.ledger.seconds[kind] += result.seconds
        self._pace[kind] = 0.8 * self._pace.get(kind, result.seconds) + 0.2 * result.seconds
        if (stage := task.step.work.stage) and not task.step.work.posted:  # a day at a server is no pace
            self.ledger.took(type(stage).family, stage.kind, result.seconds, len(task.step.outputs))
        if result.steps or result.needs:
            self._grow(task, result)
            return
        if not result.errors:
            self._finish(task)
            return
        for name, why in result.errors.items():
            self._note(task, name, why)
        self._try_again(task, list(result.errors))

    def _failed(self, task: Task, why: str, *, lost: bool = False) -> None:
        """A step raised, or its worker was lost."""
        ready = self._keys_of(task)
        there = self._done([task])
        left = [name for name in ready.outputs if name not in there and name not in ready.skip]
        blamed = left[:1] if lost and task.step.work.one_by_one else left
        for name in blamed:
            self._note(task, name, why)
        self._try_again(task, left)

    def _note(self, task: Task, name: str, why: str) -> None:
        task.attempts[name] += self.policy.attempts(why, once=task.step.work.posted)
        task.errors[name] = why

    def _try_again(self, task: Task, left: Sequence[str]) -> None:
        if not all(self.policy.is_over(task.attempts[name]) for name in left):
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
            if name in task.errors and self.policy.is_over(task.attempts[name]):
                self._renamed[plain] = None
                self.ledger.fail(step.work.role, step.work.label(place), task.errors[name])
            elif name != plain:
                self._renamed[plain] = name
            if plain in self._growth:  # what asked for it asks again if it is lost
                self._graph.steps.pop(plain, None)
        self._released.append(self._name(task))
        if step.work.grows:
            self._wait_for_growth(self._growth.take_turns(step.work.kind, self._pending))
        self._tally.finish(task, self.ledger.seconds)
        for dependent in task.dependents:
            dependent.waiting -= 1
            if not dependent.waiting:
                self._ready(dependent)
        task.dependents = []
