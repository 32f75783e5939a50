"""The promises of an executor, and the settings that its workers need."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Any, Protocol, TypeVar

from ohr.engine.worker import Setup, reason
from ohr.errors import OhrError

T = TypeVar("T")


AHEAD = 2
"""Calls under way per worker: one runs, one waits, so that no worker idles between two."""


class WorkerLost(OhrError):
    """The process that ran a call is gone: it crashed, or exceeded its time or memory."""


class NodeLost(WorkerLost):
    """The machine that ran a call is gone, which is no fault of the call."""


class Executor(Protocol):
    """Runs calls in workers. Use it as `executor.start(setup)` ... `executor.stop()`; workers start when first used."""

    def start(self, setup: Setup) -> None:
        """Remember what workers need."""
        ...

    def capacity(self, *, alone: bool) -> int:
        """Return how many calls are worth having under way: enough that no worker waits for the next one.

        Args:
            alone: for calls that hold a model which fills a device; they run one at a time on each.
        """
        ...

    def submit(
        self, call: Callable[[Any], Any], given: Any, *, alone: bool = False, seconds: float | None
    ) -> Future[Any]:
        """Start a call; its future raises WorkerLost where the worker is gone, and what the call raised otherwise.

        Args:
            call: a module-level function.
            given: its argument, which can be pickled.
            seconds: time after which the worker is killed even if it is stopped, beside its own time limit.
        """
        ...

    def stop(self) -> None:
        """End all workers; calls under way are given up."""
        ...


def run_each(executor: Executor, call: Callable[[T], Any], given: Iterable[T]) -> Iterator[tuple[T, Any, str | None]]:
    """Run a call on each item, a few at a time; yields (item, result, reason of failure) as they end.

    The executor is started and stopped here.
    """
    running: dict[Future[Any], T] = {}
    waiting = iter(given)
    try:
        while True:
            for item in islice(waiting, max(executor.capacity(alone=False) - len(running), 0)):
                running[executor.submit(call, item, seconds=None)] = item
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                item, error = running.pop(future), future.exception()
                yield (item, future.result(), None) if error is None else (item, None, reason(error))
    finally:
        executor.stop()
