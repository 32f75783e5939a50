"""Growth of a graph: the steps that steps ask for, in an order that does not depend on which worker was first."""

from collections import deque
from collections.abc import Iterable, Mapping

from ohr.engine.lanes import Task
from ohr.graph.graph import Graph
from ohr.work.step import Report

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
