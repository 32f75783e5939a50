"""Batch work in which an item that fails does not fail the others."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

GIVE_UP = 20
"""Failures in one batch, or of a model in a row for one reason, after which the rest fails: the plugin is at fault."""


def in_order(items: Sequence[T], work: Callable[[Sequence[T]], tuple[int, str, int]]) -> dict[int, str]:
    """Do `work` on items in order; where it stops early, the item at fault fails and the others are tried again.

    Args:
        items: to work on.
        work: returns how many items it has done, why there are no more ("" where it has done all that it can), and how
            many places further the item at fault is.

    Returns:
        reasons, by the place of the item.
    """
    failed, left, stops = dict[int, str](), list(range(len(items))), 0
    while left:
        done, reason, further = work([items[place] for place in left])
        left = left[done:] if reason else []
        if left:
            stops += 1
            failed |= dict.fromkeys(left if stops >= GIVE_UP else [left[further]], reason)
            left = [place for place in left if place not in failed]
    return failed


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
            if end - start > 1 and len(failed) < GIVE_UP:
                middle = (start + end) // 2
                spans += [(middle, end), (start, middle)]
            else:
                failed |= dict.fromkeys(range(start, end), error)
    return done, failed
