"""The local executor: a pool of processes, one page or document a task, none of them trusted to survive."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from ohr.errors import OhrError

_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OMP_THREAD_LIMIT",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "OPENCV_FOR_THREADS_NUM",
    ),
    "1",
)
"""Workers use one thread each: two spinning thread pools on the same cores slow each other down manyfold."""


class Task(Protocol):
    """A piece of work that can be sent to another process."""

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        ...


T = TypeVar("T", bound=Task)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """A task that ended: with a result, or with the reason why not."""

    task: T
    result: Any = None
    error: str | None = None


class Executor(Protocol):
    """Runs tasks somewhere; results come in any order."""

    def map(self, work: Callable[[T], Any], tasks: Iterable[T], retries: int) -> Iterator[Outcome[T]]:
        """Run `work` on each task; a task that fails is tried again `retries` times, then told as a failure."""
        ...


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """A pool of `workers` processes; a worker that dies fails its task only and is replaced."""

    workers: int
    plugin_files: tuple[Path, ...] = ()

    def map(self, work: Callable[[T], Any], tasks: Iterable[T], retries: int) -> Iterator[Outcome[T]]:
        """Run `work` on each task, holding few tasks at a time, so that memory does not grow with their number."""
        from pebble import ProcessPool

        waiting = iter(tasks)
        running: dict[Future[Any], tuple[T, int]] = {}
        first = next(waiting, None)
        if first is None:
            return
        with _single_threaded():
            with _deaf_to_interrupts():
                pool: Any = ProcessPool(
                    self.workers, context=get_context("spawn"), initializer=_start, initargs=(self.plugin_files,)
                )
                running[pool.schedule(_attempt, args=(work, first))] = (first, retries)
            try:
                while True:
                    for task in _upto(4 * self.workers - len(running), waiting):
                        running[pool.schedule(_attempt, args=(work, task))] = (task, retries)
                    if not running:
                        break
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        task, left = running.pop(future)
                        died = future.exception()  # of the worker: what `work` raises is told by _attempt
                        result, error = (None, _reason(died)) if died else future.result()
                        if error is None:
                            yield Outcome(task, result)
                        elif left > 0:
                            running[pool.schedule(_attempt, args=(work, task))] = (task, left - 1)
                        else:
                            yield Outcome(task, error=error)
                pool.close()
            finally:
                pool.stop()  # after close() this returns at once; on an error or Ctrl-C it ends the workers
                pool.join()


def _attempt(work: Callable[[T], Any], task: T) -> tuple[Any, str | None]:
    """Run in the worker: an error comes back as text, since many exceptions cannot be unpickled."""
    try:
        return work(task), None
    except Exception as error:
        return None, _reason(error)


def _upto(count: int, waiting: Iterator[T]) -> list[T]:
    taken = []
    for _ in range(max(count, 0)):
        task = next(waiting, None)
        if task is None:
            break
        taken.append(task)
    return taken


def _reason(error: BaseException) -> str:
    if type(error).__name__ == "ProcessExpired":
        return f"the worker process died ({error})"
    return str(error) if isinstance(error, OhrError) else f"{type(error).__name__}: {error}"


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Start workers that Ctrl-C does not reach: they inherit the mask, until `_start` tells them to ignore it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _follow(parent: int) -> None:
    """End this worker when its parent is gone, killed without a chance to say so."""
    while os.getppid() == parent:
        Event().wait(1.0)
    os._exit(1)


def _start(plugin_files: Sequence[Path]) -> None:
    from ohr.registry import load_file

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it stops the pool
    leave = os._exit

    def leave_loudly(status: int) -> NoReturn:
        leave(status or 1)  # the pool takes status 0 for a worker that was told to go, and waits for its task for ever

    os._exit = leave_loudly
    Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    for path in plugin_files:
        load_file(path)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let child processes start with one thread per library; the variables are read when a library loads."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
