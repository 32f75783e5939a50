"""The sandbox as its user sees it: programs in, outcomes out, in order."""

import atexit
import json
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Self

from ohr.errors import DataError

from . import readings
from .starting import Processes
from .values import UNSAFE, Isolation, Limits, Outcome, SandboxError

_GRACE = 20.0
"""Seconds beyond the limit after which a silent lane counts as lost; it needs milliseconds unless the machine hangs."""
_MOST_WORKERS = 64
_MOST_OF_PROGRAM = 1 << 20
"""Bytes of the longest program; the longest reply of a model is a tenth of that."""


class Sandbox:
    """Processes that run programs, each in its own isolation, until the sandbox is closed.

    Args:
        function: the function that each program defines and that is called, without arguments.
        workers: how many programs run at once; one for each core unless given.
        unsafe: the words of UNSAFE let programs run where they cannot be isolated; each mechanism that works is
            still used.
        without: mechanisms to leave out, for tests.

    Raises:
        DataError: when an argument is wrong.
        SandboxError: where programs cannot be isolated, and `unsafe` does not allow it.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        function: str = "solution",
        workers: int | None = None,
        unsafe: str = "",
        without: Collection[str] = (),
    ) -> None:
        if not function.isidentifier():
            raise DataError(f"programs: function is {function!r}; it must be a name, such as solution")
        if unsafe and unsafe != UNSAFE:
            raise DataError(f'programs: unsafe is {unsafe!r}; to run programs without isolation, write "{UNSAFE}"')
        if workers is not None and workers < 1:
            raise DataError(f"programs: workers is {workers}; it must be at least 1")
        self.limits = limits or Limits()
        self._function, self._without, self._unsafe = function, without, bool(unsafe)
        self._workers = min(workers or _cores(), _MOST_WORKERS)
        self._processes: Processes | None = None
        self._owner, self._lock = os.getpid(), threading.RLock()
        self.isolation = self._start()

    def run(self, programs: Sequence[str]) -> Iterator[Outcome]:
        """Run programs and yield their outcomes, in order; not from two threads at once.

        Raises:
            SandboxError: when the machine, not a program, is at fault.
        """
        ended = False
        pool = ThreadPoolExecutor(self._workers)
        try:
            yield from pool.map(self._run, programs)
            ended = True
        finally:
            pool.shutdown(wait=ended, cancel_futures=True)
            if not ended:  # the caller has stopped in between: what the lanes answer is no longer wanted
                self.close()
                pool.shutdown()

    def close(self) -> None:
        """End all processes of the sandbox; a later run starts new ones."""
        with self._lock:
            if self._processes and os.getpid() == self._owner:  # a forked child leaves them to its parent
                self._processes.end()
            self._processes = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> Isolation:
        self._processes = Processes(self.limits, self._function, self._workers, self._without)
        isolation = self._processes.isolation
        if not isolation.suffices and not self._unsafe:
            self.close()
            raise SandboxError(isolation.refusal())
        return isolation

    def _run(self, program: str) -> Outcome:
        """Run one program; where its lane is lost, all start again."""
        data = program.encode("utf-8", "surrogatepass")
        if len(data) > _MOST_OF_PROGRAM:
            return readings.lost(0.0, "refused", f"the program has more than {_MOST_OF_PROGRAM} bytes")
        with self._lock:
            if self._processes is None:
                self._start()
            processes = self._processes
        assert processes is not None
        with TemporaryFile() as file:
            file.write(data)
            file.flush()
            end = processes.run(file.fileno(), self.limits.seconds + _GRACE)
            if not end:
                with self._lock:
                    if self._processes is processes:  # no other thread has started new ones
                        self.close()
                return readings.lost(0.0, "killed", "the process that ran it was lost")
            file.seek(0)
            return readings.outcome(json.loads(end), file.read(readings.longest(self.limits) + 1), self.limits)


def run_programs(
    programs: Sequence[str],
    limits: Limits | None = None,
    *,
    function: str = "solution",
    workers: int | None = None,
    unsafe: str = "",
) -> Iterator[Outcome]:
    """Run programs, each in its own isolation, and yield their outcomes, in order.

    A program's text is executed in a fresh module in which `print` does nothing; then its function is called.

    Args:
        function: as for Sandbox, as are `workers` and `unsafe`.

    Raises:
        DataError: when an argument is wrong.
        SandboxError: where programs cannot be isolated, and `unsafe` does not allow it.
    """
    with Sandbox(limits, function=function, workers=workers, unsafe=unsafe) as sandbox:
        yield from sandbox.run(programs)


def run_program(program: str, limits: Limits | None = None, *, function: str = "solution", unsafe: str = "") -> Outcome:
    """Run one program in a sandbox that stays ready for the next one until this process ends.

    Raises:
        DataError: when an argument is wrong.
        SandboxError: where programs cannot be isolated, and `unsafe` does not allow it.
    """
    with _LOCK:
        return _kept(os.getpid(), limits or Limits(), function, unsafe)._run(program)


def isolation() -> Isolation:
    """Return which mechanisms work on this machine, each tried by using it.

    Raises:
        SandboxError: where no process of the sandbox can start.
    """
    with Sandbox(Limits(modules=()), workers=1, unsafe=UNSAFE) as sandbox:
        return sandbox.isolation


_LOCK = threading.Lock()


@lru_cache(maxsize=8)
def _kept(_process: int, limits: Limits, function: str, unsafe: str) -> Sandbox:
    """Return this process's sandbox; a forked child has another number, and makes its own."""
    sandbox = Sandbox(limits, function=function, workers=1, unsafe=unsafe)
    atexit.register(sandbox.close)
    return sandbox


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
