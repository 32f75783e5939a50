"""How far a run is, and how it is shown: to nobody, to a terminal, to a log."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ohr.engine.tasks import Task
    from ohr.store import Store


class Progress(Protocol):
    """Shows work as it is done."""

    def update(self, phase: str, done: int, total: int, detail: str = "") -> None:
        """Show that `done` of `total` items of a phase are done; totals may grow. Called often: it must be quick.

        Args:
            detail: what else there is to say.
        """
        ...


class Quiet:
    """Shows nothing."""

    def update(self, phase: str, done: int, total: int, detail: str = "") -> None:
        """Do nothing."""


@contextmanager
def counting(progress: Progress, phase: str, total: int) -> Iterator[Callable[[int], None]]:
    """Count the items of one phase: the function is called with the number of items done since the last call."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress.update(phase, done, total)

    progress.update(phase, 0, total)
    yield advance


EVERY = 2.0
"""Seconds between two looks at what steps under way have kept."""
_SHARE = 0.05
"""Most of the time that looking may take: in a remote store it takes long."""

_log = logging.getLogger(__name__)


@dataclass
class Tally:
    """Counts outputs by phase: pages that are read, prompts that are answered, questions of an agent."""

    progress: Progress
    total: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    _part: dict[str, int] = field(default_factory=dict)
    _next: float = 0.0

    def plan(self, tasks: "Iterable[Task]") -> None:
        """Add the outputs of new steps."""
        kinds = Counter[str]()
        for task in tasks:
            kinds[task.step.work.kind] += len(task.step.outputs)
        self.total += kinds
        for kind in kinds:
            _log.info("%s: %d more to do, %d of %d done", kind, kinds[kind], self.done[kind], self.total[kind])
            self._show(kind)

    def finish(self, task: "Task", seconds: Mapping[str, float]) -> None:
        """Count the outputs of a step that has ended.

        Args:
            seconds: in workers, by phase.
        """
        kind, size = task.step.work.kind, len(task.step.outputs)
        self.done[kind] += size - self._part.pop(task.step.key, 0)
        self._show(kind)
        if self.done[kind] == self.total[kind]:
            _log.info("%s: %d done, %.1f s in workers", kind, self.done[kind], seconds.get(kind, 0.0))

    def look(self, store: "Store", tasks: "Iterable[Task]") -> None:
        """Count what steps under way have kept so far, now and then."""
        began = monotonic()
        several = [task for task in tasks if len(task.step.outputs) > 1 or task.step.work.window]
        if began < self._next or not several:
            return
        there = store.has_many({name for task in several for name in task.step.outputs})
        for task in several:
            kept = len(there.intersection(task.step.outputs))
            kind, before = task.step.work.kind, self._part.get(task.step.key, 0)
            if kept > before:
                self._part[task.step.key] = kept
                self.done[kind] += kept - before
                self._show(kind)
        self._next = monotonic() + max(EVERY, (monotonic() - began) / _SHARE)

    def _show(self, kind: str) -> None:
        self.progress.update(kind, self.done[kind], self.total[kind])
