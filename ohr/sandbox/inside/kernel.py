"""Linux system calls by number, for those that Python's standard library lacks."""

import ctypes
import os
import sys
from collections.abc import Mapping
from errno import ENOSYS

CALLS: Mapping[str, tuple[int | None, int | None]] = {
    # name: number on x86_64, on aarch64; from the kernel's unistd_64.h and asm-generic/unistd.h
    "access": (21, None),
    "alarm": (37, None),
    "brk": (12, 214),
    "capset": (126, 91),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "clone": (56, 220),
    "close": (3, 57),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "faccessat": (269, 48),
    "fcntl": (72, 25),
    "fstat": (5, 80),
    "ftruncate": (77, 46),
    "futex": (202, 98),
    "getcwd": (79, 17),
    "getdents64": (217, 61),
    "getitimer": (36, 102),
    "getpid": (39, 172),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "ioctl": (16, 29),
    "kill": (62, 129),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lseek": (8, 62),
    "lstat": (6, None),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "mount": (165, 40),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "newfstatat": (262, 79),
    "open": (2, None),
    "openat": (257, 56),
    "pause": (34, None),
    "pivot_root": (155, 41),
    "poll": (7, None),
    "ppoll": (271, 73),
    "prctl": (157, 167),
    "pread64": (17, 67),
    "pselect6": (270, 72),
    "pwrite64": (18, 68),
    "read": (0, 63),
    "readv": (19, 65),
    "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124),
    "seccomp": (317, 277),
    "select": (23, None),
    "setitimer": (38, 103),
    "sigaltstack": (131, 132),
    "socket": (41, 198),
    "stat": (4, None),
    "statx": (332, 291),
    "time": (201, None),
    "times": (100, 153),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "write": (1, 64),
    "writev": (20, 66),
}

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38

_MACHINES = ("x86_64", "aarch64")
_AUDIT = (0xC000003E, 0xC00000B7)
"""AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64: the name of the machine within a seccomp filter."""


def machine() -> int:
    """Return the column of CALLS that holds here.

    Raises:
        OSError: where the system is not 64-bit Linux on one of these machines.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32 or os.uname().machine not in _MACHINES:
        raise OSError(ENOSYS, "needs 64-bit Linux on x86_64 or aarch64")
    return _MACHINES.index(os.uname().machine)


def audit() -> int:
    """Return the number by which a filter recognizes this machine."""
    return _AUDIT[machine()]


def number(name: str) -> int | None:
    """Return the number of a system call; None where this machine has no such call."""
    return CALLS[name][machine()]


def call(name: str, *arguments: int | bytes) -> int:
    """Make a system call; bytes are passed as a pointer to them.

    Raises:
        OSError: with the error number of the kernel.
    """
    here = number(name)
    assert here is not None, f"{name} does not exist on this machine"
    given = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_ulong(a) for a in arguments]
    result: int = _LIBC.syscall(ctypes.c_long(here), *given)
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
