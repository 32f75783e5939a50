"""The use that a run makes of whom it may pay: pages, replies and tokens, each different one once."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

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
