"""Who makes what: a claim belongs to a process, and is void when that process is dead.

On its own host a process is asked for by number and start time. Of a process on another host only its heartbeat is
seen: a counter, which a living owner raises every few seconds. The observer measures by its own monotonic clock how
long the counter has not changed, so that no clock has to be right.
"""

import os
import platform
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from ohr.errors import StoreError

BEAT = 10.0
"""Seconds between two heartbeats."""

SILENCE = 60.0
"""Seconds without a heartbeat after which an owner on another host counts as dead: six beats, since a machine that
swaps or a disk that stalls may miss some. Taking a living owner for dead costs double work, nothing else."""


def this_process() -> str:
    """Name this process, in a way that no later process shares."""
    return _named(os.getpid())


@lru_cache(maxsize=8)  # by number, as a forked child is another owner
def _named(pid: int) -> str:
    return f"{_host()} {pid} {_started(pid) or ''}"


@lru_cache(maxsize=1)
def _host() -> str:
    """Name the host, its boot and its space of process numbers: two containers may share a name and a disk."""
    parts = [platform.node() or "host"]
    with suppress(OSError):  # no Linux
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(parts).replace(" ", "-")


def _started(pid: int) -> str | None:
    """Return when a process of this host was started, "" where the system does not say, None when it is dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields[19]
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:  # another user's
        pass
    return ""


class Watch:
    """Judges whether owners live.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[int, float]] = {}

    def lives(self, owner: str, beat: int) -> bool:
        """Report whether an owner lives whose counter now shows `beat`."""
        host, pid, start = owner.rsplit(" ", 2)
        if host == _host():
            found = _started(int(pid))
            return found is not None and (found == start or "" in (found, start))
        now = self._clock()
        last, since = self._seen.get(owner, (None, now))
        if beat != last:
            since = now
        self._seen[owner] = (beat, since)
        return now - since < SILENCE


class Heart:
    """Calls a function every few seconds from `start` to `stop`."""

    def __init__(self) -> None:
        self._stop = Event()
        self._thread: Thread | None = None

    def start(self, beat: Callable[[], object]) -> None:
        """Start, unless it beats; a forked child has no threads, so it starts its own."""
        if self._thread is None or not self._thread.is_alive() or self._stop.is_set():
            self._stop = Event()
            self._thread = Thread(target=_pulse, args=(beat, self._stop), name="ohr-store-claims", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()


def _pulse(beat: Callable[[], object], stop: Event) -> None:
    while not stop.wait(BEAT):
        with suppress(StoreError):  # the next verb of the run meets it too, and reports it
            beat()
