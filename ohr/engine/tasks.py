"""Tasks, the lanes in which they wait for a worker, and the steps that they ask for."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ohr.contracts import Stage
from ohr.graph.graph import Graph
from ohr.keys import key
from ohr.models.tries import Policy
from ohr.work.step import Ready, Report, Step

_SECONDS = 0.2
"""Work that is sent to a worker at once, so that sending costs little beside it, and little is lost with a worker."""
_MOST = 256
"""Steps that are sent at once, at most."""

Group = tuple[Stage | None, str]
"""The stage that tasks need, and their kind."""


@dataclass(eq=False)
class Task:
    """A step that is to run."""

    step: Step
    waiting: int = 0
    dependents: list["Task"] = field(default_factory=list)
    attempts: Counter[str] = field(default_factory=Counter)
    errors: dict[str, str] = field(default_factory=dict)
    apart: bool = False
    """It was under way when a worker was lost: it runs by itself, so that the blame is certain."""
    needs: tuple[str, ...] | None = None
    """Further inputs that its last run asked for."""
    grown: int = 0
    """Steps and inputs that it has asked for."""
    growth: Report = field(default_factory=Report)
    """Its requests, until its turn comes."""
    had_its_turn: bool = False

    def keys(self, renamed: Mapping[str, str | None], policy: Policy) -> Ready:
        """Return the keys of the step as its inputs turned out.

        Args:
            renamed: outputs with another key than in the graph, or failed ones (None), because an input failed.
            policy: how often an output is tried.
        """
        step = self.step
        read = (*step.inputs, *(self.needs or ()))
        settled = tuple(renamed.get(name, name) for name in read)
        inputs, needs = settled[: len(step.inputs)], settled[len(step.inputs) :]
        skip = frozenset(name for name, count in self.attempts.items() if policy.is_over(count))
        ready = Ready(inputs, step.outputs, skip, alone=self.apart, needs=None if self.needs is None else needs)
        if settled == read:
            return ready
        places = [place for place, name in enumerate(settled) if name != read[place]]
        gaps = [settled[place] for place in places]
        outputs = tuple(key("incomplete", name, places, gaps) for name in step.outputs)
        return replace(ready, outputs=outputs, whole=False)


@dataclass
class Lane:
    """Tasks that are ready, by the stage that they need and their kind."""

    alone: bool
    groups: dict[Group, deque[Task]] = field(default_factory=dict)
    open: Stage | None = None
    held: int = 0
    """Characters that the waiting tasks hold in memory."""

    def push(self, task: Task, *, first: bool = False) -> None:
        """Add a task that is ready, at the end or at the front of its group."""
        queue = self.groups.setdefault((task.step.work.stage, task.step.work.kind), deque())
        (queue.appendleft if first else queue.append)(task)
        self.held += task.step.work.length

    def take(self, free: int, pace: Mapping[str, float], *, full: bool = False, last: bool = False) -> list[Task]:
        """Take the tasks that one of `free` workers gets at once, all of one group.

        Work without a model comes first, then that of the open model, then that of the next. A model that has a device
        to itself gets whole windows, so that its batches need little padding and do not depend on who was first.

        Args:
            free: idle workers, at least 1.
            pace: seconds that one step of a kind takes; a kind that was never measured is sent alone.
            full: as many prompts are waiting as memory may hold: work that makes more of them waits.
            last: nothing else is under way: what has waited for more of its kind goes out, too.
        """
        groups = [group for group in self.groups if (last or self._ripe(group)) and not (full and self._grows(group))]
        if not groups:
            return []
        group = min(groups, key=lambda one: (one[0] is not None, one[0] != self.open))
        queue, (stage, kind) = self.groups[group], group
        if stage is not None:
            self.open = stage
        size = window = queue[0].step.work.window
        if not window:
            paced = not self.alone and kind in pace
            size = max(1, min(int(_SECONDS / max(pace[kind], 1e-6)), _MOST, len(self) // free)) if paced else 1
        taken = [queue.popleft()]
        while queue and len(taken) < size and not taken[0].apart and not queue[0].apart:
            taken.append(queue.popleft())
        if not queue:
            del self.groups[group]
        self.held -= sum(task.step.work.length for task in taken)
        return sorted(taken, key=lambda task: (task.step.work.length, task.step.key)) if window else taken

    def _ripe(self, group: Group) -> bool:
        """Return whether a group need not wait for more tasks."""
        return not self.alone or len(self.groups[group]) >= self.groups[group][0].step.work.window

    def _grows(self, group: Group) -> bool:
        return self.groups[group][0].step.work.grows

    def __len__(self) -> int:
        return sum(map(len, self.groups.values()))


MOST_GROWN = 100_000
"""Steps and inputs that one step may ask for: one that wants more does not end. A batch of questions asks for some
thousands, with several judges."""


class Growth:
    """Remembers which step asked for which.

    Steps of one kind take turns: what the first one asks for is added before what the second one asks for. So the
    order of prompts, and with it what a model gets in one batch, is the same in every run.
    """

    def __init__(self) -> None:
        self._asked_by: dict[str, tuple[str, str]] = {}  # by key, the step that asked for it, and its shape
        self.asked_for: set[str] = set()
        self.held = 0  # characters of the steps that wait for their turn
        self._turns: dict[str, deque[Task]] = {}  # by kind, the tasks that have not had their turn

    def __contains__(self, key: str) -> bool:
        return key in self._asked_by

    def asked_by(self, key: str) -> str:
        """Return the key of the step that asked for another one; "" where none did."""
        return self._asked_by.get(key, ("", ""))[0]

    def shape(self, key: str) -> str:
        """Return the shape of what a step has asked for; "" where none did."""
        return self._asked_by.get(key, ("", ""))[1]

    def plan(self, tasks: Iterable[Task]) -> None:
        """Note the tasks that grow, each of which gets a turn."""
        for task in tasks:
            if task.step.work.grows:
                self._turns.setdefault(task.step.work.kind, deque()).append(task)

    def ask(self, task: Task, report: Report, pending: Mapping[str, Task]) -> list[Task]:
        """Note what a task asks for; returns the tasks whose turn it is, each with what it asked for.

        Raises:
            ValueError: it asks without end.
        """
        task.grown += len(report.steps) + len(report.needs)
        if task.grown > MOST_GROWN:
            raise ValueError(f"it asked for more than {MOST_GROWN:,} steps: it does not end")
        task.growth = report
        self.held += _characters(report)
        return [task] if task.had_its_turn or not report.steps else self.take_turns(task.step.work.kind, pending)

    def take_turns(self, kind: str, pending: Mapping[str, Task]) -> list[Task]:
        """Return the tasks whose turn it is; one that has ended without more steps gives its turn away."""
        turns, tasks = self._turns.get(kind, deque[Task]()), list[Task]()
        # a task whose step was planned once more has ended
        while turns and (turns[0].growth.steps or pending.get(turns[0].step.key) is not turns[0]):
            task = turns.popleft()
            task.had_its_turn = True
            tasks += [task] * bool(task.growth.steps)
        return tasks

    def graph(self, task: Task) -> Graph:
        """Return the steps that a task asks for."""
        graph = Graph()
        self.held -= _characters(task.growth)
        for step in task.growth.steps:
            graph.add(step)
        self._asked_by |= {name: (task.step.key, step.work.shape) for name, step in graph.steps.items()}
        self.asked_for |= graph.steps.keys()
        return graph


def _characters(report: Report) -> int:
    return sum(step.work.length for step in report.steps)
