"""Ranks of pages: MRR@k and Recall@k as published, and golden_k, which the paper names but does not define."""

from collections.abc import Collection, Hashable, Sequence
from math import inf, nan

from .protocol import Protocol


def recall(pages: Sequence[Hashable], gold: Collection[Hashable], k: int, protocol: Protocol = "reference") -> float:
    """Return the share of gold pages among the first `k`.

    Args:
        pages: page numbers, best first.
        gold: page numbers; repeated ones count once.
        k: at least 1.
        protocol: with `reference`, a question without gold pages scores 0, and a page that is ranked twice counts
            twice; with `clean`, the first is nan, and the second counts once.
    """
    wanted = set(gold)
    if not wanted:
        return 0.0 if protocol == "reference" else nan
    return sum(page in wanted for page in _ranked(pages, protocol)[:k]) / len(wanted)


def reciprocal_rank(
    pages: Sequence[Hashable], gold: Collection[Hashable], k: int, protocol: Protocol = "reference"
) -> float:
    """Return 1 divided by the rank of the first gold page, or 0 where that is beyond `k`; see `recall`."""
    wanted = set(gold)
    if not wanted and protocol == "clean":
        return nan
    ranks = (rank for rank, page in enumerate(_ranked(pages, protocol)[:k], start=1) if page in wanted)
    return 1 / next(ranks, inf)


def last_rank(pages: Sequence[Hashable], gold: Collection[Hashable], pages_num: int | None = None) -> int | None:
    """Return the smallest k whose first k pages contain every gold page; None where there is no gold page.

    This is the meaning of golden_k that fits the published means; the authors do not define it.

    Args:
        pages: page numbers, best first.
        gold: page numbers; repeated ones count once.
        pages_num: pages of the document: the rank of a gold page that is not ranked. None takes the rank behind the
            last ranked page.
    """
    ranks = {page: rank for rank, page in reversed(list(enumerate(pages, start=1)))}
    absent = len(pages) + 1 if pages_num is None else pages_num
    return max((ranks.get(page, absent) for page in gold), default=None)


def _ranked(pages: Sequence[Hashable], protocol: Protocol) -> Sequence[Hashable]:
    return pages if protocol == "reference" else list(dict.fromkeys(pages))
