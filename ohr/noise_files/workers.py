"""Processes for much work on the results of a run; little is done without them."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

_AHEAD = 2
"""Items for each process that wait: enough to keep it at work, few enough to hold."""


class Here(Executor):
    """Does everything at once in this process."""

    def submit(self, function: Callable[..., B], /, *args: object, **more: object) -> "Future[B]":
        """Call a function; the future is done, or has its error."""
        future: Future[B] = Future()
        try:
            future.set_result(function(*args, **more))
        except BaseException as error:
            future.set_exception(error)
        return future


@contextmanager
def workers(count: int) -> Iterator[Executor]:
    """Yield an executor of some processes, or of this one."""
    if count < 2:
        yield Here()
        return
    with ProcessPoolExecutor(count, get_context("spawn"), initializer=_end_with_parent) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """End this process as soon as the one that started it is gone, also where that was killed: nobody waits for it."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def each(executor: Executor, function: Callable[[A], B], items: Iterable[A], count: int) -> Iterator[B]:
    """Yield the results of a function in the order of the items, of which few are held at once."""
    waiting: deque[Future[B]] = deque()
    for item in items:
        waiting.append(executor.submit(function, item))
        if len(waiting) > _AHEAD * count:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
