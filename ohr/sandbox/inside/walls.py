"""All walls around one program, in the order in which they must go up."""

import os
import resource
import signal
import struct
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import kernel
from .seccomp import Filter

WALLS = ("seccomp", "limits", "namespaces", "landlock", "privileges")

_MOUNTS, _HOSTNAME, _IPC, _USERS, _PROCESSES, _NETWORK = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
"""Namespaces by the flag of unshare(2)."""
_NAMESPACES = _MOUNTS | _HOSTNAME | _IPC | _PROCESSES | _NETWORK
_NOBODY = 65534

_NO_SET_ID, _NO_DEVICES, _NO_PROGRAMS = 2, 4, 8
_PRIVATE = 0x4000 | 0x40000  # MS_REC | MS_PRIVATE: mounts of this process reach no other one
_PLACE = str(Path(__file__).parent)
"""The folder that a program's empty root covers, in the program's own mounts; any folder would do."""

_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""The number of rights on files by version of Landlock: REFER came with 2, TRUNCATE with 3, IOCTL_DEV with 5."""
_WITH_DEVICES = 16


@dataclass(frozen=True)
class Task:
    """The task of a sandbox: the limits of its programs, as the user names them, and what else all of them share.

    Args:
        function: the function that each program defines.
        paths: folders that hold the modules.
        without: walls to leave out.
        taken: bytes of address space that the interpreter and the modules take.
    """

    seconds: float
    cpu_seconds: int
    memory_mb: int
    output_bytes: int
    folder_mb: int
    modules: Collection[str]
    function: str
    paths: Collection[str]
    without: Collection[str]
    taken: int = 0

    @property
    def memory(self) -> int:
        """The most bytes of a program's address space."""
        return self.taken + (self.memory_mb << 20)


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
            own_root(task.folder_mb << 20)
        if "privileges" in self.names:
            drop()
        end_with(parent)
        if "landlock" in self.names and "namespaces" not in self.names:  # it would close the program's folder too
            restrict()
        if "limits" in self.names:
            limit(task)
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


def own_root(size: int) -> None:
    """Replace the root folder, for this process alone, by an empty one in memory that may hold `size` bytes.

    Raises:
        OSError: where the kernel refuses.
    """
    kernel.call("unshare", _MOUNTS)
    kernel.call("mount", b"none", b"/", None, _PRIVATE, None)
    flags, options = _NO_SET_ID | _NO_DEVICES | _NO_PROGRAMS, f"size={size},nr_inodes=1024,mode=0777"
    kernel.call("mount", b"none", _PLACE.encode(), b"tmpfs", flags, options.encode())
    os.chroot(_PLACE)
    os.chdir("/")


def drop() -> None:
    """Renounce root and all capabilities of this process.

    Raises:
        OSError: where the kernel refuses.
    """
    if os.geteuid() == 0:
        with suppress(OSError):  # a container may know no other user; its root without capabilities is nobody
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    version_3 = (0x20080522).to_bytes(4, "little") + bytes(4)
    kernel.call("capset", version_3, bytes(24))


def end_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends; nobody may trace it or read its memory."""
    try:
        kernel.call("prctl", kernel.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        kernel.call("prctl", kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
    except OSError:  # not Linux: without isolation, by the user's word
        return
    if os.getppid() != parent:
        os._exit(1)


def restrict() -> None:
    """Leave this process, for good, no file, no TCP and no signal to others, by Landlock.

    Older kernels lack the rules on TCP (version 4) and on signals (6); the filter of system calls has both.

    Raises:
        OSError: where the kernel refuses.
    """
    version = kernel.call("landlock_create_ruleset", None, 0, 1)
    files = (1 << _FILE_RIGHTS.get(version, _WITH_DEVICES)) - 1
    attributes = (files, *([0b11] if version >= 4 else []), *([0b11] if version >= 6 else []))
    wanted = struct.pack(f"{len(attributes)}Q", *attributes)
    rules = kernel.call("landlock_create_ruleset", wanted, len(wanted), 0)
    kernel.call("prctl", kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    kernel.call("landlock_restrict_self", rules, 0)
    os.close(rules)


def limit(task: Task) -> None:
    """Set the limits of this process; the hard ones, which cannot be raised again.

    Raises:
        OSError: where the system lacks one.
    """
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
