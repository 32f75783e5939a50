"""The filter of system calls (seccomp): a list of what a program may ask of the kernel; all else fails with EPERM.

libseccomp makes the filter from the list. Sockets, new processes and threads, signals to others, tracing, mounts, keys,
io_uring and shared memory are not on it, so that no flaw of theirs can be reached either.
"""

import ctypes
import os
import struct
import sys
from errno import ENOTTY, EPERM

LIBRARY = "libseccomp.so.2"

PLAIN = (
    "alarm", "brk", "clock_getres", "clock_gettime", "clock_nanosleep", "close", "exit", "exit_group", "fstat",
    "futex", "getcwd", "getitimer", "getpid", "getrandom", "getrusage", "gettid", "gettimeofday", "lseek", "madvise",
    "mremap", "munmap", "nanosleep", "pause", "poll", "ppoll", "pread64", "pselect6", "pwrite64", "read", "readv",
    "restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_yield", "select", "setitimer",
    "sigaltstack", "time", "times", "write", "writev",
)  # fmt: skip
"""Calls without a path: memory, time, the process's own signals, and files that are open already."""

FILES = ("access", "faccessat", "ftruncate", "getdents64", "lstat", "newfstatat", "stat", "statx")
"""Calls, beside those that open files, that are allowed where a program has a root folder of its own."""

_MACHINES = ("x86_64", "aarch64")
"""Machines whose calls and flags are those below; others have more calls, such as mmap2, and other flags."""
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000  # of <linux/seccomp.h>
_EQUAL, _MASKED = 4, 7  # SCMP_CMP_EQ and SCMP_CMP_MASKED_EQ of <seccomp.h>
_CONDITION = "IiQQ"
"""The struct scmp_arg_cmp of <seccomp.h>: number of an argument, comparison, and what it is compared with."""

_PROT_EXEC, _O_PATH, _O_TMPFILE = 4, 0o10000000, 0o20000000
_FCNTL = (0, 1, 2, 3, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC. F_SETOWN and F_SETSIG would send signals to other processes."""


class Filter:
    """The filter, ready to be installed.

    Args:
        files: allow opening files; only where a root folder of its own confines a program.

    Raises:
        OSError: where this machine has no filter.
    """

    def __init__(self, *, files: bool) -> None:
        if sys.platform != "linux" or sys.maxsize < 2**32 or os.uname().machine not in _MACHINES:
            raise OSError("needs 64-bit Linux on x86_64 or aarch64")
        try:
            self.library = ctypes.CDLL(LIBRARY)
        except OSError:
            raise OSError("libseccomp is not installed; apt-get install libseccomp2 installs it") from None
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.library.seccomp_init(_FAIL | EPERM))
        for name in (*PLAIN, *(FILES if files else ())):
            self._rule(_ALLOW, name)
        for name in ("mmap", "mprotect"):
            self._rule(_ALLOW, name, (2, _MASKED, _PROT_EXEC, 0))
        if files:  # but none without a name, and none only to refer to: no calculation needs them
            self._rule(_ALLOW, "open", (1, _MASKED, _O_PATH | _O_TMPFILE, 0))  # of other C libraries than GNU's
            self._rule(_ALLOW, "openat", (2, _MASKED, _O_PATH | _O_TMPFILE, 0))
        for command in _FCNTL:
            self._rule(_ALLOW, "fcntl", (1, _EQUAL, command, 0))
        self._rule(_FAIL | ENOTTY, "ioctl")

    def install(self) -> None:
        """Put this process under the filter, for good.

        Raises:
            OSError: where the kernel refuses.
        """
        _check(self.library.seccomp_load(self.context), "seccomp")

    def _rule(self, action: int, name: str, *conditions: tuple[int, int, int, int]) -> None:
        """Add a rule for a call; libseccomp leaves it out where this machine has no such call."""
        number = self.library.seccomp_syscall_resolve_name(name.encode())
        array = b"".join(struct.pack(_CONDITION, *condition) for condition in conditions)
        _check(self.library.seccomp_rule_add_array(self.context, action, number, len(conditions), array), name)


def _check(result: int, name: str) -> None:
    if result < 0:
        raise OSError(-result, f"{name}: {os.strerror(-result)}")
