"""Tests of each wall by its use, in child processes, and of all together by attacks on them."""

import mmap
import os
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from errno import EPERM
from functools import partial

from .seccomp import Filter
from .walls import WALLS, Task, Walls


def works(task: Task, reasons: Mapping[str, str]) -> tuple[Walls, dict[str, str]]:
    """Return the walls that work here, and for each other one the reason why it does not.

    Args:
        reasons: why walls are known not to work.
    """
    tried = {name: reasons.get(name) or trial(partial(_put_up_alone, name, task)) for name in WALLS}
    names = [name for name, reason in tried.items() if not reason]
    lacks = {name: reason for name, reason in tried.items() if reason}
    return Walls(names, Filter(files="namespaces" in names) if "seccomp" in names else None), lacks


def _put_up_alone(name: str, task: Task) -> None:
    Walls([name], Filter(files=False) if name == "seccomp" else None).put_up(task, os.getppid())


def trial(step: Callable[[], object]) -> str:
    """Take a step in a child process; return "" or the reason why it failed."""
    result, into = os.pipe()
    child = os.fork()
    if child == 0:
        reason = b"it ended early"
        try:
            step()
            reason = b""
        except BaseException as error:
            reason = (str(error) or type(error).__name__).encode()
        finally:
            os.write(into, reason + b".")
            os._exit(0)
    os.close(into)
    with os.fdopen(result, "rb") as reading:
        text = reading.read()
    os.waitpid(child, 0)
    return text[:-1].decode() if text.endswith(b".") else "it ended early"


def attack(walls: Walls, task: Task) -> None:
    """Put up all walls and try what they must prevent.

    Raises:
        OSError: where an attack succeeds; with the names of those.
    """
    parent = os.getppid()
    walls.put_up(task, parent)
    attacks: dict[str, Callable[[], object]] = {
        "open a socket": socket.socket,
        "start a process": _fork,
        "signal its parent": lambda: os.kill(parent, 0),
        "read a file": lambda: os.open(sys.executable, os.O_RDONLY),
        "write a file": lambda: os.open(os.devnull, os.O_WRONLY),
        "run machine code of its own": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC),
        "pass its memory limit": lambda: mmap.mmap(-1, task.memory + 4096),
    }
    won = [name for name, step in attacks.items() if _succeeds(step)]
    if won:
        raise OSError(EPERM, f"a program could {', '.join(won)}")


def _succeeds(step: Callable[[], object]) -> bool:
    with suppress(OSError):
        step()
        return True
    return False


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
