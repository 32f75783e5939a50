"""The filter of system calls (seccomp): a list of what a program may ask of the kernel; all else fails with EPERM.

Sockets, new processes and threads, signals to others, tracing, mounts, keys, io_uring and shared memory are not on the
list, so that no flaw of theirs can be reached either.
"""

import ctypes
import os
import struct
from collections.abc import Iterable, Iterator
from errno import ENOTTY, EPERM

from . import kernel

PLAIN = (
    "alarm", "brk", "clock_getres", "clock_gettime", "clock_nanosleep", "close", "exit", "exit_group", "fstat",
    "futex", "getcwd", "getitimer", "getpid", "getrandom", "getrusage", "gettid", "gettimeofday", "lseek", "madvise",
    "mremap", "munmap", "nanosleep", "pause", "poll", "ppoll", "pread64", "pselect6", "pwrite64", "read", "readv",
    "restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_yield", "select", "setitimer",
    "sigaltstack", "time", "times", "write", "writev",
)  # fmt: skip
"""Calls without a path: memory, time, the process's own signals, and files that are open already."""

FILES = ("ftruncate", "getdents64")
"""Calls, beside those that open files, that are allowed where Landlock or a root of its own confines a program to its
folder. No file is deleted or without a name there, so that all that a program writes can be weighed."""

LOOKS = ("access", "faccessat", "lstat", "newfstatat", "stat", "statx")
"""Calls that Landlock does not confine; allowed where the program has a root of its own, and so sees no other file."""

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06  # of classic BPF: <linux/bpf_common.h>
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000  # of <linux/seccomp.h>
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000
"""Calls by the x32 convention have this bit in their number."""

_PROT_EXEC, _O_PATH, _O_TMPFILE = 4, 0o10000000, 0o20000000
_FCNTL = (0, 1, 2, 3, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC. F_SETOWN and F_SETSIG would send signals to other processes."""

_TSYNC = 1

Lines = Iterable[tuple[int, int, int, int]]
"""BPF instructions: operation, jump if true, jump if false, operand."""


def build(*, files: bool, looks: bool) -> bytes:
    """Return the filter as BPF instructions.

    Args:
        files: allow opening files; only where something else confines them.
        looks: allow questions about a path, such as its size.

    Raises:
        OSError: where this machine has no filter.
    """
    names = [*PLAIN, *(FILES if files else ()), *(LOOKS if looks else ())]
    lines = [
        *((_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, kernel.audit()), (_RETURN, 0, 0, _KILL)),
        *((_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)),
        *(line for name in names for line in _when(name, [(_RETURN, 0, 0, _ALLOW)])),
        *_when("mmap", _without(2, _PROT_EXEC)),
        *_when("mprotect", _without(2, _PROT_EXEC)),
        *(_when("open", _without(1, _O_PATH | _O_TMPFILE)) if files else ()),  # of other C libraries than GNU's
        *(_when("openat", _without(2, _O_PATH | _O_TMPFILE)) if files else ()),
        *_when("fcntl", _one_of(1, _FCNTL)),
        *_when("ioctl", [(_RETURN, 0, 0, _FAIL | ENOTTY)]),
        (_RETURN, 0, 0, _FAIL | EPERM),
    ]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def install(instructions: bytes) -> None:
    """Put this process under a filter, for good.

    Raises:
        OSError: where the kernel refuses.
    """
    kernel.call("prctl", kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    held = ctypes.create_string_buffer(instructions, len(instructions))
    header = struct.pack("HxxxxxxQ", len(instructions) // 8, ctypes.addressof(held))
    kernel.call("seccomp", 1, _TSYNC, header)


def _when(name: str, lines: Lines) -> Iterator[tuple[int, int, int, int]]:
    """Yield instructions that run `lines`, which end in a return, for one call, and pass by for others."""
    body, here = list(lines), kernel.number(name)
    if here is not None:
        yield (_EQUAL, 0, len(body), here)
        yield from body


def _without(argument: int, bits: int) -> Lines:
    """Allow a call whose argument has none of some bits."""
    return (
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),  # the low half; both machines are little-endian
        (_ANY_BIT, 0, 1, bits),
        (_RETURN, 0, 0, _FAIL | EPERM),
        (_RETURN, 0, 0, _ALLOW),
    )


def _one_of(argument: int, values: tuple[int, ...]) -> Lines:
    """Allow a call whose argument is one of some values."""
    last = len(values)
    return (
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
        *((_EQUAL, last - place, 0, value) for place, value in enumerate(values)),
        (_RETURN, 0, 0, _FAIL | EPERM),
        (_RETURN, 0, 0, _ALLOW),
    )


def attempt() -> None:
    """Install the narrowest filter and see that it holds.

    Raises:
        OSError: where it does not.
    """
    install(build(files=False, looks=False))
    try:
        os.kill(os.getpid(), 0)
    except PermissionError:
        return
    raise OSError(EPERM, "a filter was installed and does not hold")
