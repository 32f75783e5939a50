"""Linux system calls that Python's standard library lacks."""

import ctypes
import os
from errno import ENOSYS

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38

_NUMBERS = {"landlock_create_ruleset": 444, "landlock_restrict_self": 446}
"""Calls without a function in the C library; these numbers hold on every machine."""


def call(name: str, *arguments: int | bytes | None) -> int:
    """Make a system call; bytes are passed as a pointer to them.

    Raises:
        OSError: with the error number of the kernel; where the system has no such call too.
    """
    given = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    function = getattr(_LIBC, "syscall" if name in _NUMBERS else name, None)
    if name in _NUMBERS:
        given = [ctypes.c_ulong(_NUMBERS[name]), *given]
    result: int = function(*given) if function else -1
    if result == -1:
        error = ctypes.get_errno() if function else ENOSYS
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
