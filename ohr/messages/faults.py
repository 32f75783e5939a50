"""Faults of data: gathered while it is read, reported in sentences that count them and name the first ones."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from ohr.messages.wording import counted, named


class Fault(NamedTuple):
    """One thing that is not as it should be.

    Attributes:
        thing: what it is, in the singular, e.g. `question`.
        about: what is wrong with it and what is done, in words that fit one as well as many: `of no page, scored 0`.
        where: which one it is.
    """

    thing: str
    about: str
    where: str


def sentences(faults: Iterable[Fault]) -> list[str]:
    """Return one sentence for each kind of fault, with the number and the names of the first ones."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for thing, about, where in faults:
        places[thing, about].append(where)
    return [f"{counted(len(found), thing)} {about}: {named(found)}" for (thing, about), found in places.items()]
