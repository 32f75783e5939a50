"""A lane: a process that takes one program after the other and runs each in a child process of its own.

A program comes in a file that the user's process has made for it, and its reply goes into this file. So the lane holds
nothing of a program, and a program finds nothing of an earlier one in its memory.
"""

import fcntl
import json
import os
import select
import signal
import socket
from contextlib import suppress
from time import monotonic

from . import programs
from .walls import Task, Walls

_FILE, _END = 3, 4
"""The file descriptors of a program's process: its file, and a pipe, whose other end the lane waits at."""
_MOST_FILES = 64
"""One more than the highest file descriptor of a lane."""
_RUN = b"\1"
"""The first byte in the pipe where the walls are up; else the reason why the program was not run."""
_PART = 4096


def serve(control: socket.socket, task: Task, walls: Walls) -> None:
    """Run programs until the socket that all lanes share is closed; the kernel gives each program to one of them.

    Each comes as the name of its folder, its file, and the line on which its end is reported.
    """
    while True:
        folder, files, _, _ = socket.recv_fds(control, _PART, 2)
        if not files:
            return
        with socket.socket(fileno=files[1]) as line:
            line.sendall(json.dumps(_run(line, files[0], folder, task, walls)).encode())
        os.close(files[0])


def _run(line: socket.socket, file: int, folder: bytes, task: Task, walls: Walls) -> tuple[int, float, float, str]:
    """Run a program to its end, or to the end of its time.

    Returns:
        its wait status, its seconds of wall and of CPU time, and the reason why it was not run, if so.

    Raises:
        SystemExit: when the line is closed, since nobody waits for the result.
    """
    lane, began = os.getpid(), monotonic()
    heard, end = os.pipe()
    child = os.fork()
    if child == 0:
        _child(file, end, folder, lane, task, walls)
    os.close(end)
    said = b""
    try:
        while (left := began + task.seconds - monotonic()) > 0:
            ready, _, _ = select.select([heard, line.fileno()], [], [], left)
            if line.fileno() in ready:
                raise SystemExit
            if not ready or not (part := os.read(heard, _PART)):
                break
            said = said or part
    finally:
        _kill(child)
        os.close(heard)
    _, status, usage = os.wait4(child, 0)
    fault = "" if said.startswith(_RUN) else said.decode("utf-8", "replace")
    return status, monotonic() - began, usage.ru_utime + usage.ru_stime, fault


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _child(file: int, end: int, folder: bytes, lane: int, task: Task, walls: Walls) -> None:
    """Run a program in this process and end it; whatever happens, the process does not return."""
    leave, write = os._exit, os.write
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        text = os.pread(file, os.fstat(file).st_size, 0).decode("utf-8", "surrogatepass")
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        null = os.open(os.devnull, os.O_RDWR)
        null, file, end = (fcntl.fcntl(held, fcntl.F_DUPFD, _END + 1) for held in (null, file, end))
        for place, held in enumerate((null, null, null, file, end)):
            os.dup2(held, place)
        os.closerange(_END + 1, _MOST_FILES)
        try:
            walls.put_up(task, lane)
        except BaseException as error:
            write(_END, (str(error) or repr(error)).encode())
            leave(1)
        write(_END, _RUN)  # a program cannot take this byte back, and so not claim that it was not isolated
        reply = programs.reply(text, task.function, task.modules, task.output_bytes)
        while reply:
            reply = reply[write(_FILE, reply) :]
    finally:
        leave(0)
