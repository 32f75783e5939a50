"""Who makes what: a claim belongs to a process, and is void when that process is dead.

On its own host a process is asked for by number and start time. Of a process on another host only its heartbeat is
seen: a counter, which a living owner raises every few seconds. The observer measures by its own monotonic clock how
long the counter has not changed, so that no clock has to be right.
"""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from time import monotonic

from ohr import processes
from ohr.errors import StoreError

BEAT = 10.0
"""Seconds between two heartbeats."""

SILENCE = 60.0
"""Seconds without a heartbeat after which an owner on another host counts as dead: six beats, since a machine that
swaps or a disk that stalls may miss some. Taking a living owner for dead costs double work, nothing else."""


def this_process() -> str:
    """Name this process, in a way that no later process shares."""
    return " ".join(map(str, processes.this_process()))


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
        space, pid, started = owner.rsplit(" ", 2)
        known = processes.lives(space, int(pid), started)
        if known is not None:
            return known
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
