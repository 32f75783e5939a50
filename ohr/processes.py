"""Which process wrote something, and whether it still runs, where that can be known.

A process is named by its space of process numbers, its number and when it started. Two containers, or two hosts, may
share a name and a disk, and a number is given again: each part is needed.
"""

import os
import platform
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path


def this_process() -> tuple[str, int, str]:
    """Name this process, in a way that no other one shares: space of numbers, number, start."""
    return _space(), os.getpid(), _start_of_own(os.getpid())


def lives(space: str, pid: int, started: str) -> bool | None:
    """Report whether a process that `this_process` named still runs; None where it cannot be seen from here."""
    if space != _space():
        return None
    now = started_at(pid)
    return now is not None and (now == started or "" in (now, started))


def started_at(pid: int) -> str | None:
    """Return when a process was started, in ticks since the boot; "" if the system hides it, None if it is dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "ZX" or int(fields[6]) & _EXITING else fields[19]
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except OSError:  # another user's
        pass
    return ""


_EXITING = 0x4
"""Linux's flag of a process that is ending (PF_EXITING): it closes its pipes before it counts as dead."""


@lru_cache(maxsize=8)  # by number, as a forked child is another process
def _start_of_own(pid: int) -> str:
    return started_at(pid) or ""


@cache
def _space() -> str:
    """Name the host, its boot and its space of process numbers."""
    parts = [platform.node() or "host"]
    with suppress(OSError):  # no Linux
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(parts).replace(" ", "-")
