"""The time limit of an item, kept by the kernel: it also ends code that never returns to the interpreter."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from threading import RLock
from types import FrameType
from typing import Self

from ohr.models.waiting import heard_by

_TIMES = 3
"""Exceptions that a block may swallow before the process is killed."""


class _Stopped(BaseException):
    """Stops a block; no `except Exception` of it catches this."""


class Watch:
    """Kills this process by SIGALRM when an item takes longer than `seconds`; None for no limit.

    Use it as a context around one item; `restart` begins the next part of an item that has many, such as an answer.
    It restarts while the item waits for its turn at a server.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self._items = 0  # for which the limit holds; 0 where it rests
        self._lock = RLock()
        self._scope = ExitStack()

    def __reduce__(self) -> tuple[type["Watch"], tuple[float | None]]:
        return Watch, (self.seconds,)

    def __enter__(self) -> Self:
        if self.seconds:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            self.restart()
            self._scope.enter_context(heard_by(self._wait))
        return self

    def restart(self, items: int = 1) -> None:
        """Restart the time limit, for as many items as follow at once."""
        if self.seconds:
            with self._lock:
                self._items = items
                signal.setitimer(signal.ITIMER_REAL, self.seconds * items)

    def _rest(self) -> None:
        with self._lock:
            self._items = 0
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _wait(self) -> None:
        """Restart the limit, from whichever thread waits, unless it rests."""
        with self._lock:
            if self._items:
                self.restart(self._items)

    @contextmanager
    def interrupting(self, most: float) -> Iterator[None]:
        """Stop the block after `most` seconds by an exception, in place of killing; then restart the limit.

        Only code of Python can be stopped, between two of its instructions. Code that continues after the exception is
        stopped again a second later, and at the third time the process is killed.

        Raises:
            TimeoutError: the block took longer.
        """
        if not self.seconds:
            yield
            return
        limit = min(most, self.seconds)

        times = count(1)

        def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 # of a handler
            if next(times) == _TIMES:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
            raise _Stopped

        self._rest()
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, limit, 1.0)
        try:
            yield
        except _Stopped:
            raise TimeoutError(f"took longer than {limit:g} seconds") from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            self.restart()

    def __exit__(self, *_: object) -> None:
        if self.seconds:
            self._rest()
            self._scope.close()
