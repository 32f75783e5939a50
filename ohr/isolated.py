"""Work on many items at once, in which one that fails takes no other with it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_GIVE_UP = 20
"""Failures in one batch after which the rest fails without further halving: the plugin, not an item, is at fault."""


def isolated(
    items: Sequence[T], work: Callable[[Sequence[T]], Sequence[Any]]
) -> tuple[dict[int, Any], dict[int, BaseException]]:
    """Do `work` on all items at once; where it raises, halve them until each that raises is alone.

    Args:
        items: to work on.
        work: a plugin's; it returns one result for each item, in order.

    Returns:
        results and errors, by the place of the item.
    """
    done: dict[int, Any] = {}
    failed: dict[int, BaseException] = {}
    spans = [(0, len(items))] if items else []
    while spans:
        start, end = spans.pop()
        try:
            done.update(zip(range(start, end), work(items[start:end]), strict=True))
        except (Exception, SystemExit) as error:  # a plugin may raise anything: its item fails, the others continue
            if end - start > 1 and len(failed) < _GIVE_UP:
                middle = (start + end) // 2
                spans += [(middle, end), (start, middle)]
            else:
                failed |= dict.fromkeys(range(start, end), error)
    return done, failed
