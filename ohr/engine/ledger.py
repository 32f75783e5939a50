"""The ledger of a run: its calls, failures and warnings, and the use that it makes of whom it may pay."""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

from ohr.errors import OhrError
from ohr.messages.variables import hidden
from ohr.messages.wording import counted
from ohr.prices import Payee, is_counted


@dataclass
class Used:
    """Work of one payee.

    Args:
        count: pages, replies, calls or questions.
        uncounted: those of which nobody said the tokens.
        new: those of them that this run asked for; the others were in the store.
        new_in: prompt tokens of the new ones, as `new_out` of their replies.
    """

    count: int = 0
    uncounted: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    new: int = 0
    new_in: int = 0
    new_out: int = 0


@dataclass
class Usage:
    """Sums of what a run uses, whether it asked for it or the store had it.

    Two payees that share a reply pay for it once: the first one that is counted.
    """

    made: set[str] = field(default_factory=set)
    """Keys of pages, replies and trajectories that this run made."""
    _used: dict[Payee, Used] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _seen_new: set[str] = field(default_factory=set)

    def add(self, payee: Payee, results: Mapping[str, Mapping[str, Any]], new: Collection[str] | None = None) -> None:
        """Add results by their keys.

        Args:
            results: with `tokens_in` and `tokens_out`, and perhaps a text or reply.
            new: keys of those that this run asked for; by default those in `made`.
        """
        used, new = self._used.setdefault(payee, Used()), self.made if new is None else new
        for key, result in results.items():
            tokens_in, tokens_out = result.get("tokens_in", 0), result.get("tokens_out", 0)
            if key not in self._seen:
                self._seen.add(key)
                used.count += 1
                used.uncounted += not is_counted(result.get("text") or result.get("reply") or "", tokens_in, tokens_out)
                used.tokens_in += tokens_in
                used.tokens_out += tokens_out
            if key in new and key not in self._seen_new:
                self._seen_new.add(key)
                used.new += 1
                used.new_in += tokens_in
                used.new_out += tokens_out

    def add_recorded(self, payee: Payee, pages: int) -> None:
        """Note the pages that an engine had read before the study; those of its draws are the same pages."""
        used = self._used.setdefault(payee, Used())
        used.count = used.uncounted = max(used.count, pages)

    def rows(self) -> list[dict[str, Any]]:
        """Return who was used and how much, as JSON values."""
        return [{**asdict(payee), **asdict(used)} for payee, used in self._used.items()]

    def lengths(self) -> dict[Payee, float]:
        """Return the mean tokens of the replies of each payee, where all of them are counted."""
        return {
            payee: used.tokens_out / used.count
            for payee, used in self._used.items()
            if used.count and not used.uncounted
        }


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
