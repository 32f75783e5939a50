"""Tasks and the lanes in which they wait: one for work in parallel, one for models that fill a device."""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from ohr.contracts import Stage
from ohr.keys import key
from ohr.work.step import Ready, Step

_SECONDS = 0.2
"""Work that is sent to a worker at once, so that sending costs little beside it, and little is lost with a worker."""
_MOST = 256
"""Steps that are sent at once, at most."""


@dataclass
class Task:
    """A step that is to run."""

    step: Step
    waiting: int = 0
    dependents: list["Task"] = field(default_factory=list)
    attempts: Counter[str] = field(default_factory=Counter)
    errors: dict[str, str] = field(default_factory=dict)
    apart: bool = False
    """It was under way when a worker was lost: it runs by itself, so that the blame is certain."""

    def keys(self, renamed: Mapping[str, str | None], retries: int) -> Ready:
        """Return the keys of the step as its inputs turned out.

        Args:
            renamed: outputs with another key than in the graph, or failed ones (None), because an input failed.
            retries: an output that failed more often is not tried again.
        """
        step = self.step
        inputs = tuple(renamed.get(name, name) for name in step.inputs)
        skip = frozenset(name for name, count in self.attempts.items() if count > retries)
        if inputs == step.inputs:
            return Ready(inputs, step.outputs, skip, alone=self.apart)
        places = [place for place, name in enumerate(inputs) if name != step.inputs[place]]
        gaps = [inputs[place] for place in places]
        outputs = tuple(key("incomplete", name, places, gaps) for name in step.outputs)
        return Ready(inputs, outputs, skip, whole=False, alone=self.apart)


@dataclass
class Lane:
    """Tasks that are ready, by the stage that they need and their kind."""

    alone: bool
    groups: dict[tuple[Stage | None, str], deque[Task]] = field(default_factory=dict)
    open: Stage | None = None

    def push(self, task: Task, *, first: bool = False) -> None:
        """Add a task that is ready, at the end or at the front of its group."""
        queue = self.groups.setdefault((task.step.work.stage, task.step.work.kind), deque())
        (queue.appendleft if first else queue.append)(task)

    def take(self, free: int, pace: Mapping[str, float]) -> list[Task]:
        """Take the tasks that one of `free` workers gets at once, all of one group.

        Work without a model comes first, then that of the open model, then that of the next.

        Args:
            free: idle workers, at least 1.
            pace: seconds that one step of a kind takes; a kind that was never measured is sent alone.
        """
        if not self.groups:
            return []
        group = min(self.groups, key=lambda one: (one[0] is not None, one[0] != self.open))
        queue, (stage, kind) = self.groups[group], group
        if stage is not None:
            self.open = stage
        size = 1
        if not self.alone and kind in pace:
            size = max(1, min(int(_SECONDS / max(pace[kind], 1e-6)), _MOST, len(self) // free))
        taken = [queue.popleft()]
        while queue and len(taken) < size and not taken[0].apart and not queue[0].apart:
            taken.append(queue.popleft())
        if not queue:
            del self.groups[group]
        return taken

    def __len__(self) -> int:
        return sum(map(len, self.groups.values()))
