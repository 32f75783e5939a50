"""The event log of a run: one JSON line for each change, from its first second."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

from ohr.engine.progress import Progress

EVENTS = "events.jsonl"
"""Name of the log in a run's folder."""

_EVERY = 1.0
"""Seconds between two lines about one phase."""


class EventLog:
    """Writes the progress of a run into its folder, and passes it on.

    Each line has `time` (UTC) and `event`: `phase` with phase, done, total and rate (items a second since the phase
    began), of batches also detail; `failure` with stage, item and reason; `started`, `finished` or `stopped`.
    """

    def __init__(self, folder: Path, shown: Progress) -> None:
        self._shown = shown
        self._file: TextIO = (folder / EVENTS).open("a", encoding="utf-8", buffering=1)
        self._begun: dict[str, tuple[float, int]] = {}
        self._written: dict[str, float] = {}
        self.write("started")

    def update(self, phase: str, done: int, total: int, detail: str = "") -> None:
        """Record how far a phase is: at most once a second, and when it ends."""
        self._shown.update(phase, done, total, *([detail] if detail else []))
        now = monotonic()
        since, before = self._begun.setdefault(phase, (now, done))
        if done < total and now - self._written.get(phase, 0.0) < _EVERY:
            return
        self._written[phase] = now
        rate = (done - before) / (now - since) if now > since else 0.0
        more = {"detail": detail} if detail else {}
        self.write("phase", phase=phase, done=done, total=total, rate=round(rate, 3), **more)

    def write(self, event: str, **more: Any) -> None:
        """Write one line."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._file.write(json.dumps({"time": time, "event": event, **more}, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Phase:
    """How far one phase of a run is.

    Args:
        rate: items a second since it began.
    """

    name: str
    done: int
    total: int
    rate: float
    time: datetime

    @property
    def left(self) -> float | None:
        """Seconds left at this rate; None where nothing can be said."""
        if self.done >= self.total:
            return 0.0
        return (self.total - self.done) / self.rate if self.rate > 0 else None


def read_events(folder: Path) -> Iterator[dict[str, Any]]:
    """Read the events of a run; a last line that is still being written is left out."""
    try:
        lines = (folder / EVENTS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue


def phases(folder: Path) -> list[Phase]:
    """Return how far each phase of a run is, in the order in which they began."""
    found: dict[str, Phase] = {}
    for event in read_events(folder):
        if event.get("event") == "phase":
            at = datetime.fromisoformat(event["time"])
            found[event["phase"]] = Phase(event["phase"], event["done"], event["total"], event["rate"], at)
    return list(found.values())
