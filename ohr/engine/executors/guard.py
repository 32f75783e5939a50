"""The guard of worker processes: ends those that are stopped or take all memory, and what engines leave behind."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import psutil

_EVERY = 1.0
"""Seconds between two looks."""
_MOST = 0.8
"""Share of the memory that all workers may use together; the rest is for the run itself and for others."""
_CGROUPS = Path("/sys/fs/cgroup")


class Guard:
    """Looks at the workers that have noted their number in a folder, from `start` to `end`.

    Args:
        folder: where a worker writes an empty file `worker-<number>`.
        seconds: time limit of an item: a worker that was stopped for so long is woken, and its own alarm ends it.
        memory: bytes that all workers may use together; by default most of what the machine has.
    """

    def __init__(self, folder: Path, seconds: float | None, memory: float | None = None) -> None:
        self.folder, self.seconds = folder, seconds
        self.memory = memory or _MOST * machine_memory()
        self.reasons: dict[int, str] = {}
        self._stopped: dict[int, float] = {}
        self._started: set[psutil.Process] = set()
        self._ended = Event()
        self._thread = Thread(target=self._watch, name="ohr-guard", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def end(self) -> None:
        """End all that the workers started; look before they end, as their children are then nobody's."""
        self._ended.set()
        self._thread.join()
        for process in self._started:
            with suppress(psutil.Error):
                process.kill()

    def look(self) -> None:
        """Note what the workers have started; end the largest if there is too little memory; wake stopped ones."""
        used: dict[int, int] = {}
        self._started = {process for process in self._started if process.is_running()}
        for worker in self._workers():
            with suppress(psutil.Error):
                children = worker.children(recursive=True)
                self._started.update(children)
                used[worker.pid] = sum(map(_own_memory, (worker, *children)))
                self._wake(worker)
        total = sum(used.values())
        if total > self.memory:
            largest = max(used, key=lambda pid: used[pid])
            self.reasons[largest] = (
                f"the workers used {total / 2**30:.1f} GB of the {self.memory / 2**30:.1f} GB that they may use here, "
                f"this one the most ({used[largest] / 2**30:.1f} GB): set `limits.memory_gb`, the limit of one worker, "
                "or take fewer --workers"
            )
            with suppress(OSError):
                os.killpg(largest, signal.SIGKILL)

    def _wake(self, worker: psutil.Process) -> None:
        if self.seconds is None or worker.status() != psutil.STATUS_STOPPED:
            self._stopped.pop(worker.pid, None)
        elif monotonic() - self._stopped.setdefault(worker.pid, monotonic()) >= self.seconds:
            worker.resume()

    def _workers(self) -> Iterator[psutil.Process]:
        for path in self.folder.glob("worker-*"):
            with suppress(psutil.Error, OSError):
                worker = psutil.Process(int(path.name.removeprefix("worker-")))
                if worker.create_time() <= path.stat().st_mtime + 1:  # else its number was given again
                    yield worker
                    continue
            path.unlink(missing_ok=True)

    def _watch(self) -> None:
        while not self._ended.wait(_EVERY):
            self.look()


def machine_memory() -> float:
    """Return the bytes of memory of this machine, or of the smallest control group that this process is in."""
    sizes = [float(psutil.virtual_memory().total)]
    with suppress(OSError):  # no Linux
        groups = [line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines()]
        places = [Path(group.lstrip("/")) for group in groups]
        for place in {Path(), *places, *(parent for below in places for parent in below.parents)}:
            for name in (_CGROUPS / place / "memory.max", _CGROUPS / "memory" / place / "memory.limit_in_bytes"):
                with suppress(OSError, ValueError):  # not there, or `max`
                    sizes.append(float(name.read_text()))
    return min(sizes)


def _own_memory(process: psutil.Process) -> int:
    """Return the bytes that a process does not share."""
    try:
        info = process.memory_info()
    except psutil.Error:
        return 0
    return int(info.rss - getattr(info, "shared", 0))
