"""A lane: a process that takes one program after the other and runs each in a child process of its own.

The lane only passes bytes on. It keeps them in two fixed buffers and wipes these after each program, so that no
program finds an earlier one in its memory.
"""

import os
import select
import signal
import socket
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic

from . import namespaces, programs, wire
from .confine import Plan, Sizes, confine

FILES = 256
"""One more than the highest file descriptor of a lane."""
_RESULT = 3
"""The file descriptor through which a program's process sends its reply."""

_LOOK = 0.02
"""Seconds between two looks at a folder on disk; between them a fast disk takes some 50 MB."""
_BLOCK = 4096


@dataclass(frozen=True)
class Task:
    """Walls and limits that all programs of a sandbox share.

    Args:
        base: where the folders of programs are made, unless they are in memory.
        output: bytes of a value's text.
        null: a descriptor of the null device.
    """

    plan: Plan
    sizes: Sizes
    base: str
    function: str
    modules: Collection[str]
    seconds: float
    output: int
    null: int


def serve(line: socket.socket, task: Task) -> None:
    """Run the programs that come over a line, until it is closed."""
    inbox, outbox = memoryview(bytearray(wire.MOST_OF_PROGRAM)), memoryview(bytearray(wire.longest(task.output)))
    blank = bytes(max(len(inbox), len(outbox)))
    while True:
        size = bytearray(wire.LENGTH.size)
        if not _filled(line, memoryview(size)):
            return
        (length,) = wire.LENGTH.unpack(size)
        if not _filled(line, inbox[:length]):
            return
        head, used = _run(line, inbox[:length], outbox, task)
        line.sendall(head)
        line.sendall(outbox[:used])
        inbox[:length], outbox[:] = blank[:length], blank[: len(outbox)]


def _filled(line: socket.socket, part: memoryview) -> bool:
    """Fill a buffer from a line; report whether the line lasted."""
    while part:
        count = line.recv_into(part)
        if not count:
            return False
        part = part[count:]
    return True


def _run(line: socket.socket, program: memoryview, outbox: memoryview, task: Task) -> tuple[bytes, int]:
    folder = _folder(task)
    lane, began = os.getpid(), monotonic()
    result, into = os.pipe()
    child = os.fork()
    if child == 0:
        _child(program, into, folder, lane, task)
    os.close(into)
    try:
        used, end = _watch(result, line, outbox, began + task.seconds, folder, task)
    finally:
        _kill(child)
        os.close(result)
    _, status, usage = os.wait4(child, 0)
    seconds = monotonic() - began
    if folder:
        rmtree(folder, ignore_errors=True)
    return wire.HEAD.pack(status, end, seconds, usage.ru_utime + usage.ru_stime, used), used


def _folder(task: Task) -> str:
    """Make the program's folder, unless it is in memory."""
    if task.plan.root == "mount":
        return ""
    folder = mkdtemp(dir=task.base)
    namespaces.own(folder)
    return folder


def _watch(
    result: int, line: socket.socket, outbox: memoryview, deadline: float, folder: str, task: Task
) -> tuple[int, int]:
    """Read a reply until it ends, the time is over, or a limit is passed.

    Returns:
        its length, and how the run ended.

    Raises:
        SystemExit: when the line is closed, since nobody waits for the result.
    """
    waiting, used = select.poll(), 0
    waiting.register(result, select.POLLIN)
    waiting.register(line, select.POLLIN)
    while (left := deadline - monotonic()) > 0:
        ready = waiting.poll(1000 * min(left, _LOOK if folder else left) + 1)
        if any(place == line.fileno() for place, _ in ready):
            raise SystemExit
        if ready:
            count = os.readv(result, [outbox[used:]])
            used += count
            if count == 0 or used == len(outbox):
                return (used, wire.BY_ITSELF) if count == 0 else (0, wire.TOO_LONG)
        if folder and _weight(folder) > task.sizes.folder:
            return 0, wire.TOO_BIG
    return 0, wire.TOO_LATE


def _weight(folder: str) -> int:
    """Return the bytes that a program's files take on disk; programs cannot make folders."""
    total = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                total += _BLOCK + 512 * entry.stat(follow_symlinks=False).st_blocks
    return total


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _child(program: memoryview, into: int, folder: str, lane: int, task: Task) -> None:
    """Run a program in this process and end it; whatever happens, the process does not return."""
    end, write = os._exit, os.write
    try:
        for place in (0, 1, 2):
            os.dup2(task.null, place)
        os.dup2(into, _RESULT)
        _isolate(folder, lane, task)
        write(_RESULT, wire.RUN)  # a program cannot take this byte back, and so not claim that it was not isolated
        text = bytes(program).decode("utf-8", "surrogatepass")
        reply = programs.reply(text, task.function, task.modules, task.output)
        while reply:
            reply = reply[write(_RESULT, reply) :]
    finally:
        end(0)


def _isolate(folder: str, lane: int, task: Task) -> None:
    """Close all files but the way of the result, and put up the walls; where that fails, say so and end."""
    try:
        os.setpgid(0, 0)
        os.closerange(_RESULT + 1, FILES)
        confine(task.plan, task.sizes, folder, lane)
    except BaseException as error:
        os.write(_RESULT, wire.NOT_RUN + str(error).encode())
        os._exit(1)
