"""Limits per minute: arithmetic on states that processes share, without a clock and without files."""

from dataclasses import dataclass, field
from typing import Any, Self

MINUTE = 60.0
"""Seconds."""
_LATE = 1.0
"""Seconds for which a request counts longer than a minute: as far may two requests move together on their way."""
_BURST = 1.0
"""Seconds of the limit that may be sent at once: what waits wakes up late, on a crowded machine by half a second, and
would lose that time each time."""
_LONGEST = MINUTE + 2 * _LATE
"""Seconds that a request counts at most, by the slices of a second in which it was sent."""


@dataclass
class Meter:
    """One limit per minute, of requests or of tokens, and what was spent of it.

    A request may be sent where the last minute has room for it, the pace allows it, and the server has not said that
    less is left. The pace spreads a minute's requests over the minute: some servers count in shorter spans.

    Args:
        spent: by second, what was sent in it.
        next: when the pace allows the next request.
        left: what the server said is left, without what was under way then and what was sent since.
        until: when that is outdated.
        open: by second, what was sent in it and has no reply yet.
    """

    spent: dict[int, float] = field(default_factory=dict)
    open: dict[int, float] = field(default_factory=dict)
    next: float = 0.0
    left: float = 0.0
    until: float = 0.0

    @classmethod
    def read(cls, state: Any) -> Self:
        """Read a state that `written` made.

        Raises:
            ValueError, TypeError, KeyError, AttributeError: it is none.
        """
        spent, under_way = ({int(at): float(cost) for at, cost in state[name].items()} for name in ("spent", "open"))
        return cls(spent, under_way, float(state["next"]), float(state["left"]), float(state["until"]))

    def written(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return dict(vars(self))

    def wait(self, now: float, cost: float, limit: float) -> float:
        """Return the seconds until a request may be sent, 0 for now; larger than the limit, it waits for a free minute.

        Args:
            now: seconds since any time, the same in all calls.
            cost: 1 request, or its tokens.
            limit: per minute.
        """
        self.spent, self.open = _recent(self.spent, now), _recent(self.open, now)
        room = limit - min(cost, limit) + 1e-9 * limit
        self.next = min(self.next, now + _LONGEST)
        times = [now, self.next]
        if self.left < cost:
            times.append(min(self.until, now + MINUTE))
        total = sum(self.spent.values())
        for second in sorted(self.spent):
            if total <= room:
                break
            total -= self.spent[second]
            times.append(second + 1 + MINUTE + _LATE)
        return max(times) - now

    def take(self, now: float, cost: float, limit: float) -> None:
        """Count a request that is sent now."""
        for amounts in (self.spent, self.open):
            amounts[int(now)] = amounts.get(int(now), 0.0) + cost
        self.next = max(self.next, now - _BURST) + min(cost, limit) * _LONGEST / limit
        self.left -= cost

    def settle(self, sent: float, cost: float, real: float, limit: float) -> None:
        """Count a request as it was, once its reply is there.

        Args:
            sent: when it was.
            cost: as it was counted then.
            real: what it cost.
        """
        if int(sent) in self.open:
            self.open[int(sent)] -= cost
        if int(sent) in self.spent:
            self.spent[int(sent)] += real - cost
            self.next += (real - cost) * _LONGEST / limit

    def limit(self, now: float, left: float, reset: float) -> None:
        """Note what the server says is left, which others may have spent, and when that is outdated, in seconds."""
        self.left, self.until = left - sum(self.open.values()), now + min(reset, MINUTE)


def _recent(amounts: dict[int, float], now: float) -> dict[int, float]:
    return {second: amount for second, amount in amounts.items() if now - _LONGEST < second <= now and amount > 1e-6}
