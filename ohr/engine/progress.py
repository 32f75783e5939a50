"""How a run shows its progress: to nobody, to a terminal, to a log."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


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
