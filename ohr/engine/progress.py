"""How a run tells what it is doing: to nobody, or to a terminal."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    """Shows work as it is done."""

    def step(self, name: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Open a step of `total` items; the function it gives is called with the number of items done since."""
        ...


class Quiet:
    """Shows nothing."""

    @contextmanager
    def step(self, name: str, total: int) -> Iterator[Callable[[int], None]]:  # noqa: ARG002 # nothing is shown
        """Open a step that is not shown."""
        yield lambda _: None
