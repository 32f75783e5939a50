"""The sandbox as its user sees it: programs in, outcomes out, in order."""

import atexit
import os
import selectors
import socket
import threading
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from types import TracebackType
from typing import Self

from ohr.errors import DataError

from . import isolating, readings
from .inside import wire
from .isolating import Isolation
from .starting import Processes, received, start
from .values import UNSAFE, Limits, Outcome, SandboxError

_GRACE = 20.0
"""Seconds beyond the limit after which a silent lane counts as lost; it needs milliseconds unless the machine hangs."""
_MOST_WORKERS = 64


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
        self._owner = os.getpid()
        self.isolation = self._start()

    def run(self, programs: Sequence[str]) -> Iterator[Outcome]:
        """Run programs and yield their outcomes, in order; not from two threads at once.

        Raises:
            SandboxError: when the machine, not a program, is at fault.
        """
        waiting, done = deque(enumerate(programs)), dict[int, Outcome]()
        busy: dict[socket.socket, int] = {}
        try:
            for place in range(len(programs)):
                while place not in done:
                    self._send(waiting, busy, done)
                    if busy:
                        self._receive(busy, done)
                yield done.pop(place)
        finally:
            if busy:  # the caller has stopped in between: what these lanes answer is no longer wanted
                self.close()

    def close(self) -> None:
        """End all processes of the sandbox; a later run starts new ones."""
        if self._processes and os.getpid() == self._owner:  # a forked child leaves them to its parent
            self._processes.end()
        self._processes = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> Isolation:
        self._processes = start(self.limits, self._function, self._workers, self._without)
        found = isolating.read(self._processes.report)
        if not found.suffices and not self._unsafe:
            self.close()
            raise SandboxError(isolating.refusal(found.why))
        return found

    def _send(self, waiting: deque[tuple[int, str]], busy: dict[socket.socket, int], done: dict[int, Outcome]) -> None:
        """Send a program to each free lane."""
        if self._processes is None:
            self._start()
        assert self._processes is not None
        for line in self._processes.lines:
            while waiting and line not in busy:
                place, program = waiting.popleft()
                data = program.encode("utf-8", "surrogatepass")
                if len(data) > wire.MOST_OF_PROGRAM:
                    most = wire.MOST_OF_PROGRAM
                    done[place] = readings.lost(0.0, "refused", f"the program has more than {most} bytes")
                    continue
                busy[line] = place
                with suppress(OSError):  # a lost lane is noticed when it is read
                    line.sendall(wire.LENGTH.pack(len(data)) + data)

    def _receive(self, busy: dict[socket.socket, int], done: dict[int, Outcome]) -> None:
        """Wait for the next results; where a lane is lost, all start again."""
        with selectors.DefaultSelector() as waiting:
            for line in busy:
                waiting.register(line, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in waiting.select(self.limits.seconds + _GRACE)]
        lost = not ready
        for line in [line for line in busy if line in ready]:
            try:
                head = received(line, wire.HEAD.size)
                reply = received(line, wire.HEAD.unpack(head)[-1])
            except (EOFError, OSError):
                lost = True
                continue
            done[busy.pop(line)] = readings.outcome(head, reply, self.limits)
        if lost:
            for place in busy.values():
                done[place] = readings.lost(0.0, "killed", "the process that ran it was lost")
            busy.clear()
            self.close()


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
        function, workers, unsafe: as for Sandbox.

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
        (outcome,) = _kept(os.getpid(), limits or Limits(), function, unsafe).run([program])
    return outcome


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
