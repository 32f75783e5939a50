"""Texts, hits and errors of search engines, in ohr's terms."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from errno import ENOSPC
from os import strerror
from typing import TypeVar

from ohr.contracts import Hit
from ohr.errors import OhrError, PluginError
from ohr.messages.wording import shortened

Query = TypeVar("Query")

_LONGEST = 200
"""Characters of an engine's error: some list every request that they tried."""


def first_hits(
    search: Callable[[Sequence[Query], int], Sequence[Sequence[Hit]]], queries: Sequence[Query], k: int, size: int
) -> list[list[Hit]]:
    """Return the `k` best hits of each query, ties in the order of the chunks.

    An engine may cut hits of one score off in an order of its own. So more are asked for until those that tie with the
    last are all there.

    Args:
        search: returns at most as many hits of each query as the number says; fewer are all that there are.
        k: at least 1.
        size: number of chunks.
    """
    ranked: list[list[Hit]] = [[] for _ in queries]
    left, most = list(range(len(queries))), min(k + 1, size)
    while left:
        cut_off = []
        for place, hits in zip(left, search([queries[place] for place in left], most), strict=True):
            ranked[place] = sorted(hits, key=lambda hit: (-hit.score, hit.place))
            if len(hits) == most < size and ranked[place][k - 1].score == ranked[place][-1].score:
                cut_off.append(place)
        left, most = cut_off, min(4 * most, size)
    return [hits[:k] for hits in ranked]


def spaced(words: Sequence[str]) -> str:
    r"""Join words by spaces; a lone surrogate, which UTF-8 has no bytes for, becomes `\udc80` in letters."""
    return " ".join(words).encode("utf-8", "backslashreplace").decode()


@contextmanager
def reported(task: str, remedy: str = "") -> Iterator[None]:
    """Turn an engine's error into a PluginError of one line: the task that failed, the reason, and what helps.

    Raises:
        OSError: the disk is full, which the store reports in its own way.
    """
    try:
        yield
    except OhrError:
        raise
    except Exception as error:  # engines raise RuntimeError and ValueError for everything
        if f"os error {ENOSPC}" in str(error):
            raise OSError(ENOSPC, strerror(ENOSPC)) from error
        reason = shortened(next(iter(str(error).splitlines()), type(error).__name__), _LONGEST)
        raise PluginError(f"{task}: {reason}{remedy and f'; {remedy}'}") from error
