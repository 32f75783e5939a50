"""What is read for a word or a run of words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .confusions import context
from .profile import Confusion, Profile

_LONGEST = 400
"""Only so many characters of a word are misread."""

_LIKE = {"lower": "etaoinsrhldcumfpgwybvkxjqz", "upper": "ETAOINSRHLDCUMFPGWYBVKXJQZ", "digit": "0183564297"}


@dataclass(frozen=True)
class Confusions:
    """Confusions by context and first character, each with the running sum of its shares."""

    table: Mapping[tuple[str, str], tuple[tuple[str, str, float], ...]]
    steps: tuple[float, ...]


def confusions(profile: Profile) -> Confusions:
    """Index the confusions of a profile."""
    return _confusions(profile.confusions, profile.misread)


@lru_cache(maxsize=16)
def _confusions(found: tuple[Confusion, ...], steps: tuple[float, ...]) -> Confusions:
    table: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    for confusion in found:
        if confusion.true:
            here = table.setdefault((confusion.after, confusion.true[0]), [])
            before = here[-1][2] if here else 0.0
            here.append((confusion.true, confusion.read, before + confusion.share))
    return Confusions({key: tuple(value) for key, value in table.items()}, steps)


def misread(word: str, known: Confusions, draws: NDArray[np.float64], share: float) -> str:
    """Change so many characters of a word, by likely confusions, at least one letter or digit.

    Args:
        draws: (characters, 2) uniform draws: which characters change, and into what.
        share: share of the characters to change.
    """
    head, tail = word[:_LONGEST], word[_LONGEST:]
    count = max(1, round(share * len(head)))
    where, what = draws[: len(head), 0].tolist(), draws[: len(head), 1].tolist()
    options = [known.table.get((context(head, place), sign), ()) for place, sign in enumerate(head)]
    # the likelier a character's confusion, the earlier it changes; those never seen changing come last
    keys = [
        where[p] / options[p][-1][2] if options[p] else 1e3 + where[p] if sign.isalnum() else 1e6 + where[p]
        for p, sign in enumerate(head)
    ]
    chosen = set(sorted(range(len(head)), key=keys.__getitem__)[:count])
    made: list[str] = []
    place = 0
    while place < len(head):
        if place not in chosen:
            made.append(head[place])
            place += 1
            continue
        true, read = _choose(head, place, options[place], what[place])
        made.append(read)
        place += len(true)
    return "".join(made) + tail


def _choose(word: str, place: int, options: Sequence[tuple[str, str, float]], draw: float) -> tuple[str, str]:
    fitting = [o for o in options if word.startswith(o[0], place)]
    if fitting:
        aim = draw * options[-1][2]
        for true, read, upto in fitting:
            if aim < upto:
                return true, read
    sign = word[place]
    kind = "digit" if sign.isdigit() else "upper" if sign.isupper() else "lower"
    others = _LIKE[kind].replace(sign, "")
    return sign, others[int(draw * draw * len(others))]


def respace(words: Sequence[str], draw: float) -> str:
    """Keep the letters and cut them into other words: a run is joined, a word is split."""
    if len(words) > 1:
        return "".join(words)
    word = words[0]
    at = 1 + int(draw * (len(word) - 1))
    return f"{word[:at]} {word[at:]}" if len(word) > 1 else word
