"""The ledger of a run: its calls, failures and warnings."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from ohr.engine.usage import Usage
from ohr.errors import OhrError
from ohr.messages.variables import hidden
from ohr.messages.wording import counted

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """One item that failed; it is scored 0 and listed."""

    stage: str
    item: str
    reason: str
    kind: str = "error"
    """`error`, or `missing` for what recorded results do not have."""

    def as_row(self) -> dict[str, str]:
        """Return it as a row of the table of failures."""
        return {"stage": self.stage, "item": self.item, "reason": self.reason, "kind": self.kind}


class TooManyFailures(OhrError):
    """More items failed than the spec's `max_failures` allows; finished results are kept."""


@dataclass
class Ledger:
    """Calls, seconds, tokens, failures and warnings of one run; calls count work, not results from the store."""

    max_failures: int | None = None
    calls: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    tokens: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    absent: list[Failure] = field(default_factory=list)
    warnings: dict[str, None] = field(default_factory=dict)
    ends: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """How the questions of each agent ended; of all, those whose trajectory was in the store too."""
    endings: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """How the replies of each generator, agent and judge ended, by their keys, also of those in the store."""
    usage: Usage = field(default_factory=Usage)
    """Pages, replies and tokens of engines, models and services, which may cost money."""
    pace: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    """Seconds in workers and items made, by family and kind of the stage."""
    _listeners: list[Callable[[Failure], None]] = field(default_factory=list)

    def listen(self, listener: Callable[[Failure], None]) -> None:
        """Call a function with each failure as it is recorded."""
        self._listeners.append(listener)

    def took(self, family: str, kind: str, seconds: float, items: int) -> None:
        """Add the time that a stage needed for some items."""
        before, made = self.pace.get((family, kind), (0.0, 0))
        self.pace[family, kind] = before + seconds, made + items

    def lack(self, stage: str, item: str, reason: str) -> None:
        """Record an item that recorded results do not have: its scores are 0, and nothing failed."""
        self.absent.append(Failure(stage, item, hidden(reason), "missing"))

    def fail(self, stage: str, item: str, reason: str) -> None:
        """Record a failed item.

        Raises:
            TooManyFailures: there are now more than allowed.
        """
        reason = hidden(reason)  # a path may hold the value of a variable
        failure = Failure(stage, item, reason)
        self.failures.append(failure)
        _log.info("failed: %s: %s: %s", stage, item, reason)
        for listener in self._listeners:
            listener(failure)
        if self.max_failures is not None and len(self.failures) > self.max_failures:
            raise TooManyFailures(
                f"stopped: {counted(len(self.failures), 'item')} failed (max_failures: {self.max_failures}), the last: "
                f"{stage} on {item}: {reason}. Finished results are kept; run again to resume"
            )

    def replied(self, name: str, endings: Mapping[str, str]) -> None:
        """Note how replies of a generator, an agent or a judge ended, by their keys."""
        self.endings[name].update(endings)

    def cuts(self) -> dict[str, tuple[int, int]]:
        """Count by generator, agent and judge the replies that were cut at `max_tokens`, and all; where some were."""
        counts = {
            name: (sum(end == "length" for end in ends.values()), len(ends)) for name, ends in self.endings.items()
        }
        return {name: count for name, count in counts.items() if count[0]}

    def warn(self, text: str) -> None:
        """Record a warning; equal ones count once."""
        if text not in self.warnings:
            _log.info("warning: %s", text)
        self.warnings[hidden(text)] = None

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add the wall time of a block to a phase."""
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] += perf_counter() - began
