"""How messages count, list and quote: in one way everywhere."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from math import isinf, isnan
from reprlib import Repr
from typing import Any

_NAMED = 3
_KEYS = 12  # most tables have fewer
_CHOICES, _LONGEST, _QUOTED = 60, 100, 300
"""Names in a message, and characters of each: more than any family has, few enough to be read."""


def counted(number: int, thing: str, things: str = "") -> str:
    """Count things in words: `1 page`, `2,500 pages`.

    Args:
        number: how many.
        thing: what they are, as one is called.
        things: what several are called, where that is not `thing` with an s.
    """
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def about(number: float) -> str:
    """Write a number that is not known better than to two digits, rounded up: 1,348 is `1,400`."""
    step = 10 ** max(len(str(int(number))) - 2, 0)
    return f"{-int(-number // step) * step:,}"


def ranged(ends: Sequence[float], thing: str) -> str:
    """Write a range of things: `38 to 88 documents`, `1,400 documents or more` where its upper end is infinite."""
    low, high = ends
    things = f" {thing}s" if thing else ""
    if isinf(high):
        return f"{about(low)}{things} or more"
    return f"{about(high)}{things}" if about(low) == about(high) else f"{about(low)} to {about(high)}{things}"


def sized(documents: int, asked: int, questions: int) -> str:
    """Return how many documents and questions a study has, and how many of the documents a question is about."""
    about = "" if asked == documents else f" ({asked:,} with questions)"
    return f"{counted(documents, 'document')}{about}, {counted(questions, 'question')}"


def points(share: float) -> str:
    """Write a share in points of 100, with one digit after the point; "" where it is undefined."""
    return "" if isnan(share) else f"{100 * share:z.1f}"


def without_clean_text(number: int) -> str:
    """Return how many questions have no clean text to compare with."""
    return f"{counted(number, 'question')} left out of every mean and comparison: the pages have no clean text"


def named(names: Sequence[str]) -> str:
    """List the first names, and say how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def keys_of(holder: Iterable[Any]) -> str:
    """List the keys of a record, or the columns of a table; of many the first ones."""
    keys = [shortened(str(key), 40) for key in holder]
    more = f" and {len(keys) - _KEYS:,} more" if len(keys) > _KEYS else ""
    return ", ".join(keys[:_KEYS]) + more if keys else "none"


def choices(given: str, allowed: Sequence[str]) -> str:
    """List the choices, and the one nearest to the given name."""
    nearest = get_close_matches(given[:_LONGEST], allowed[:1000], n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    more = f" and {len(allowed) - _CHOICES:,} more" if len(allowed) > _CHOICES else ""
    return f"Choose one of: {', '.join(name[:_LONGEST] for name in allowed[:_CHOICES])}{more}.{hint}"


def shortened(text: str, most: int = 80) -> str:
    """Cut a text that is longer than `most` characters, and say how long it was."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


class _Quote(Repr):
    """Writes values as Python does, short ones whole and long ones with an ellipsis."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 80
        self.maxlist = self.maxtuple = self.maxdict = 8
        self.maxlevel = 3

    def repr_int(self, value: int, level: int) -> str:  # Python refuses to write more than 4,300 digits
        return super().repr_int(value, level) if abs(value) < 10**100 else f"a number of {value.bit_length():,} bits"


def quoted(value: Any) -> str:
    """Write a value for a message; a long one is cut."""
    return shortened(_Quote().repr(value), _QUOTED)
