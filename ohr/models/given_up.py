"""Servers, keys and models of agents that this process does not ask for a while, as they have failed."""

from collections.abc import Hashable
from time import monotonic

REST = 60.0
"""Seconds without a question: longer than the tries of one request by default. What was just started, or a key that was
just given a right, gets its chance after them."""
_since: dict[Hashable, tuple[float, str]] = {}
"""By what was given up, when that was, and why."""


def give_up(what: Hashable, why: str) -> None:
    """Note that something is not asked for a while."""
    _since[what] = monotonic(), why


def given_up(what: Hashable) -> str:
    """Return why something is not asked; "" where it is asked."""
    at, why = _since.get(what, (-REST, ""))
    return why if monotonic() - at < REST else ""


def ask_again(what: Hashable = None) -> None:
    """Ask for something again; by default for everything, as a run begins that may find what the last one missed."""
    if what is None:
        _since.clear()
    else:
        _since.pop(what, None)
