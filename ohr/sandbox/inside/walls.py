"""The walls around one program, in the order in which they go up; each is tried by use, all together by attacks."""

import mmap
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from errno import EPERM
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from . import kernel
from .seccomp import Filter

WALLS = ("seccomp", "limits", "namespaces")

_MOUNTS, _USERS = 0x00020000, 0x10000000
_NAMESPACES = _MOUNTS | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""Flags of unshare(2): mounts, host name, IPC, processes and network; users by itself."""
_NOBODY = 65534
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG

_PRIVATE = 0x4000 | 0x40000  # MS_REC | MS_PRIVATE: mounts of this process reach no other one
_BARE = 2 | 4 | 8  # MS_NOSUID | MS_NODEV | MS_NOEXEC
_PLACE = str(Path(__file__).parent)
"""The folder that a program's empty root covers, in the program's own mounts; any folder would do."""


Task = SimpleNamespace
"""Facts that all programs of a sandbox share: the fields of the user's `Limits`, the name of their `function`, the
`paths` of modules, the walls to do `without`, the number of `workers`, and the bytes of address space, `memory`."""


@dataclass(frozen=True)
class Walls:
    """The walls that work on this machine; each program gets all of them, or is not run."""

    names: Collection[str]
    filter: Filter | None

    def put_up(self, task: Task, parent: int) -> None:
        """Put up the walls around this process, for good.

        Args:
            parent: the process whose end is this one's end.

        Raises:
            OSError: where a wall does not go up; the program must not run.
        """
        if "namespaces" in self.names:
            _own_root(task.folder_mb << 20)
        if "limits" in self.names:
            _limit(task)
        with suppress(OSError):  # not Linux: without isolation, by the user's word
            kernel.call("prctl", _DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
        if self.filter:
            self.filter.install()


def separate() -> None:
    """Move this process into new namespaces, by its own right or by that of a new user namespace.

    The process namespace holds for the children of this process.

    Raises:
        OSError: where the kernel refuses.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        kernel.call("unshare", _NAMESPACES)
    except OSError:
        kernel.call("unshare", _NAMESPACES | _USERS)
        with suppress(OSError):  # without a map the process is nobody, which suffices
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/gid_map").write_text(f"{_NOBODY} {group} 1", encoding="ascii")
            Path("/proc/self/uid_map").write_text(f"{_NOBODY} {user} 1", encoding="ascii")


def working(task: Task, reasons: Mapping[str, str]) -> tuple[Walls, dict[str, str], str]:
    """Try each wall in a child process, and attack all that work.

    Args:
        reasons: why walls are known not to work.

    Returns:
        the walls that work, the reason why each other one does not, and what an attack reached, empty where nothing.
    """
    tried = {name: reasons.get(name) or _trial(partial(_alone, name, task)) for name in WALLS}
    lacks = {name: reason for name, reason in tried.items() if reason}
    names = [name for name in WALLS if name not in lacks]
    walls = Walls(names, Filter(files="namespaces" in names) if "seccomp" in names else None)
    return walls, lacks, _trial(partial(_attack, walls, task)) if {"seccomp", "limits"} <= {*names} else ""


def _own_root(size: int) -> None:
    """Replace the root folder, for this process alone, by an empty one in memory that may hold `size` bytes."""
    kernel.call("unshare", _MOUNTS)
    kernel.call("mount", b"none", b"/", None, _PRIVATE, None)
    kernel.call("mount", b"none", _PLACE.encode(), b"tmpfs", _BARE, f"size={size},nr_inodes=1024,mode=0777".encode())
    os.chroot(_PLACE)
    os.chdir("/")


def _limit(task: Task) -> None:
    """Set the limits of this process, the hard ones, and renounce root and all capabilities, which could raise them."""
    if os.geteuid() == 0:
        with suppress(OSError):  # a container may know no other user; its root without capabilities is nobody
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    if sys.platform == "linux":
        kernel.call("capset", (0x20080522).to_bytes(8, "little"), bytes(24))  # version 3 of the call, this process
    for kind, most in (
        (resource.RLIMIT_CPU, max(1, round(task.cpu_seconds))),
        (resource.RLIMIT_AS, task.memory),
        (resource.RLIMIT_FSIZE, task.folder_mb << 20),
        (resource.RLIMIT_NOFILE, 16),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        _, highest = resource.getrlimit(kind)
        most = most if highest == resource.RLIM_INFINITY else min(most, highest)
        # a program can ignore SIGXCPU, which comes at the first limit of CPU time, but not SIGKILL at the second
        hard = most + 1 if kind == resource.RLIMIT_CPU and most != highest else most
        resource.setrlimit(kind, (most, hard))


def _alone(name: str, task: Task) -> None:
    Walls([name], Filter(files=False) if name == "seccomp" else None).put_up(task, os.getppid())


def _trial(step: Callable[[], object]) -> str:
    """Take a step in a child process; return "" or the reason why it failed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "it ended early"
        try:
            step()
            said = "."
        except BaseException as error:
            said = str(error) or type(error).__name__
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return "" if said == "." else said or "it ended early"


def _attack(walls: Walls, task: Task) -> None:
    """Put up all walls and try what they must prevent; an OSError names the attacks that succeed."""
    parent = os.getppid()
    walls.put_up(task, parent)
    attacks: dict[str, Callable[[], object]] = {
        "open a socket": socket.socket,
        "start a process": lambda: os.fork() or os._exit(0),
        "signal its parent": lambda: os.kill(parent, 0),
        "read a file": lambda: os.open(sys.executable, os.O_RDONLY),
        "write a file": lambda: os.open(os.devnull, os.O_WRONLY),
        "run machine code of its own": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC),
        "pass its memory limit": lambda: mmap.mmap(-1, task.memory + 4096),
    }
    won = []
    for name, attempt in attacks.items():
        with suppress(OSError):
            attempt()
            won.append(name)
    if won:
        raise OSError(EPERM, f"a program could {', '.join(won)}")
