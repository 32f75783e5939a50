"""The local executor: one warm pool of processes, and one process for models that fill a device."""

import os
import pickle
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from multiprocessing.forkserver import set_forkserver_preload
from multiprocessing.resource_tracker import ensure_running
from multiprocessing.util import get_temp_dir
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread, current_thread, main_thread
from typing import Any

from ohr.engine.executors.base import AHEAD, WorkerLost
from ohr.engine.executors.guard import Guard
from ohr.engine.executors.process import begin, nothing
from ohr.engine.worker import Setup
from ohr.errors import OhrError
from ohr.processes import this_process

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

_NO_WORKERS = (
    "worker processes end as soon as they start. A script that calls ohr.run must call it under "
    "`if __name__ == '__main__':`, since each worker imports it; --executor inline shows other causes"
)
_ENDING, _STOPPING = 5.0, 20.0
"""Seconds in which an idle worker must end by itself, and in which a pool must end that was stopped."""


class Local:
    """Runs calls in `workers` processes; a worker that is lost costs its call only, and is replaced."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._setup = Setup()
        self._pools: dict[bool, Any] = {}
        self._running: set[Future[Any]] = set()
        self._guard: Guard | None = None

    def start(self, setup: Setup) -> None:
        """Remember what workers need."""
        self._setup = setup

    def capacity(self, *, alone: bool) -> int:
        """Return how many calls are worth having under way."""
        return AHEAD * (1 if alone else self.workers)

    def submit(
        self, call: Callable[[Any], Any], given: Any, *, alone: bool = False, seconds: float | None
    ) -> Future[Any]:
        """Start a call in a worker."""
        started = self._pool(alone).schedule(call, args=(given,), timeout=seconds)
        self._running.add(started)
        future: Future[Any] = Future()
        started.add_done_callback(self._running.discard)
        started.add_done_callback(lambda ended: _pass_on(ended, future, self._lost))
        return future

    def stop(self) -> None:
        """End all workers: those that have nothing to do by themselves, so that their libraries can clean up."""
        if self._guard is not None:
            self._guard.look()
        for pool in self._pools.values():
            if not self._running:
                pool.close()
                with suppress(TimeoutError):
                    pool.join(_ENDING)
            pool.stop()
            # a pool that an interruption has left half started may never end; its threads are daemons
            joining = Thread(target=pool.join, daemon=True)
            joining.start()
            joining.join(_STOPPING)
        self._pools = {}
        if self._guard is not None:
            self._guard.end()
            shutil.rmtree(self._guard.folder, ignore_errors=True)
            self._guard = None

    def _guarded(self) -> Path:
        """Return the folder of the guard, which begins to look with the first worker."""
        if self._guard is None:
            self._guard = Guard(Path(mkdtemp(dir=get_temp_dir())), self._setup.seconds)
            self._guard.start()
        return self._guard.folder

    def _lost(self, error: Any) -> str:
        """Return why the process of a call is gone."""
        seconds, status = self._setup.seconds, getattr(error, "exitcode", None)
        if isinstance(error, TimeoutError):
            return f"took longer than {seconds:g} seconds and did not react"
        if self._guard and (known := self._guard.reasons.pop(error.pid, None)):
            return known
        if status == -signal.SIGALRM and seconds:
            return f"took longer than {seconds:g} seconds (limits.seconds)"
        if status is not None and status < 0:
            return f"the worker process died ({signal.Signals(-status).name})"
        return f"the worker process died (exit status {status})"

    def _pool(self, alone: bool) -> Any:
        from pebble import ProcessPool

        if alone not in self._pools:
            # models use as many threads as the user lets them; pages are read in parallel, one thread each
            variables = {**os.environ, **({} if alone else _ONE_THREAD), **_SAFE_PATH}
            if _TRACKED not in sys.warnoptions:  # the options of the process that removes them
                sys.warnoptions.append(_TRACKED)
            with _environment(variables), _undisturbed():
                given = (variables, self._setup.plugin_files, pickle.dumps(self._setup))
                pool = self._pools[alone] = ProcessPool(  # known from now on: a run may be ended while workers start
                    1 if alone else self.workers,
                    context=_spawning() if alone else _forking(),
                    initializer=begin,
                    initargs=(*given, self._guarded(), this_process()),
                )
                try:
                    pool.schedule(nothing).result()  # the first workers start now, in this environment
                except BrokenExecutor:
                    raise OhrError(_NO_WORKERS) from None
        return self._pools[alone]


_SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""`multiprocessing` starts workers by `python -c`, which would import a `socket.py` from the working folder."""
_TRACKED = "ignore:resource_tracker:UserWarning"
"""Semaphores that libraries in workers forget (tqdm's, joblib's) are removed at the end; users cannot do anything."""


_LONGEST_FOLDER = 107 - len("/listener-") - 8
"""Bytes of the temporary folder's path: the socket that `multiprocessing` makes in it, with eight letters of its own,
takes 107 at most (unix(7))."""


def _spawning() -> BaseContext:
    """Start each worker as a new interpreter: a model's libraries must not be forked."""
    return get_context("spawn")


def _forking() -> BaseContext:
    """Fork workers from a clean process that has imported ohr once: a lost worker is replaced in milliseconds."""
    if sys.platform != "linux" or len(os.fsencode(get_temp_dir())) > _LONGEST_FOLDER:
        return _spawning()
    set_forkserver_preload(["ohr.engine.executors.forked", "ohr.engine.worker"])
    return get_context("forkserver")


def _pass_on(ended: Future[Any], future: Future[Any], why: Callable[[Any], str]) -> None:
    """Turn the loss of a worker into a WorkerLost that says why."""
    if ended.cancelled():
        future.cancel()
        return
    error = ended.exception()
    if error is None:
        future.set_result(ended.result())
    elif type(error).__name__ == "ProcessExpired":
        with suppress(ProcessLookupError, PermissionError, TypeError):
            os.killpg(error.pid, signal.SIGKILL)  # type: ignore[attr-defined] # what the engine started
        future.set_exception(WorkerLost(why(error)))
    elif isinstance(error, TimeoutError):
        future.set_exception(WorkerLost(why(error)))
    else:
        future.set_exception(error)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let signals wait until workers have started, which Ctrl-C does not reach: they inherit a mask of it.

    SIGTERM is in no mask, as it ends a worker.
    """
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM) if current_thread() is main_thread() else ()
    before = {number: signal.signal(number, lambda sent, _: came.append(sent)) for number in numbers}
    ensure_running()  # the tracker of semaphores, which would take Ctrl-C out of the mask when it starts
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Let child processes start with these variables."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
