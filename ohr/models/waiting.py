"""Time that an item spends in a queue, which is not its own: what keeps time limits hears of it and restarts them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[], None]] = []


@contextmanager
def heard_by(listener: Callable[[], None]) -> Iterator[None]:
    """Call a function, in the block, whenever something of this process waits for its turn at a server."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def waits() -> None:
    """Report that something waits; to be called again and again while that lasts."""
    for listener in tuple(_listeners):
        listener()
