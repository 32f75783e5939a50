"""What a run did and what failed."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from ohr.errors import OhrError
from ohr.messages.wording import counted


@dataclass(frozen=True, slots=True)
class Failure:
    """One item that failed; it is scored 0 and listed."""

    stage: str
    item: str
    reason: str
    kind: str = "error"


class TooManyFailures(OhrError):
    """More items failed than the spec's `max_failures` allows; what was done so far is kept."""


@dataclass
class Work:
    """Calls, seconds, tokens, failures and notes of one run; calls are what was really done, not what the store had."""

    max_failures: int | None = None
    calls: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    tokens: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def fail(self, stage: str, item: str, reason: str) -> None:
        """Note a failed item.

        Raises:
            TooManyFailures: there are now more than allowed.
        """
        self.failures.append(Failure(stage, item, reason))
        if self.max_failures is not None and len(self.failures) > self.max_failures:
            raise TooManyFailures(
                f"stopped: {counted(len(self.failures), 'item')} failed (max_failures: {self.max_failures}), the last: "
                f"{stage} on {item}: {reason}. What was done is kept; run again to go on"
            )

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of a block to a stage."""
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - began
