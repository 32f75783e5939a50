"""What is wrong with data: gathered while it is read, told in sentences that count and name the first ones."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

_NAMED = 3


class Fault(NamedTuple):
    """One thing that is not as it should be; `what` is in the plural, `where` names the one."""

    what: str
    where: str


def sentences(faults: Iterable[Fault]) -> list[str]:
    """Tell faults: one sentence for each kind, with how many and the first ones by name."""
    places: dict[str, list[str]] = defaultdict(list)
    for fault in faults:
        places[fault.what].append(fault.where)
    return [f"{len(found)} {what}: {_some(found)}" for what, found in places.items()]


def _some(places: list[str]) -> str:
    more = len(places) - _NAMED
    return ", ".join(places[:_NAMED]) + (f" and {more} more" if more > 0 else "")
