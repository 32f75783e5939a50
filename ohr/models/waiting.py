"""Time that an item spends in a queue, which is not its own: what keeps time limits is told, and begins them anew."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[], None]] = []


@contextmanager
def telling(listener: Callable[[], None]) -> Iterator[None]:
    """Call a function, in the block, whenever something of this process waits for its turn at a server."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def waits() -> None:
    """Say that something waits; it is to be said again and again while that lasts."""
    for listener in tuple(_listeners):
        listener()
