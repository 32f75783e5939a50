"""Results for recent texts: a page or passage is measured for several questions in succession."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

Result = TypeVar("Result")

_all: list[Callable[[], None]] = []

_TEXTS = 512
_LONGEST = 20_000  # characters; longer texts, such as a book in one file, would fill gigabytes with their words


def remembered(most: int) -> Callable[[Callable[[str], Result]], Callable[[str], Result]]:
    """Keep the results of a function for the latest texts, until `forget` is called."""

    def keep(function: Callable[[str], Result]) -> Callable[[str], Result]:
        kept = lru_cache(maxsize=most)(function)
        _all.append(kept.cache_clear)
        return kept

    return keep


def recent(function: Callable[[str], Result]) -> Callable[[str], Result]:
    """Keep the results of a function for the latest 512 texts, except long ones."""
    kept = remembered(_TEXTS)(function)
    return lambda text: kept(text) if len(text) <= _LONGEST else function(text)


def forget() -> None:
    """Free the results of all functions, some 40 MB: after the last text nobody asks for them."""
    for clear in _all:
        clear()
