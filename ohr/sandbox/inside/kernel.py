"""Linux system calls that Python's standard library lacks."""

import ctypes
import os
from errno import ENOSYS

_LIBC = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int | bytes | None) -> None:
    """Make a system call through the C library; bytes are passed as a pointer to them.

    Raises:
        OSError: with the error number of the kernel; where the system has no such call too.
    """
    function = getattr(_LIBC, name, None)
    given = [ctypes.c_ulong(argument) if isinstance(argument, int) else argument for argument in arguments]
    if function is None or function(*given) == -1:
        error = ctypes.get_errno() if function else ENOSYS
        raise OSError(error, f"{name}: {os.strerror(error)}")
