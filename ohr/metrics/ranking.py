"""Rank-aware retrieval scores: pure functions of one question's ranking and the pages of its evidence.

A ranking is a sequence of (document, page index), best first: one entry for each hit. A page may be repeated, as
when several of its chunks were found. Evidence is the set of pages that the question rests on.
"""

from collections.abc import Collection, Sequence
from math import nan

PageId = tuple[str, int]
"""A page by its document's name and its index."""


def hit_at_k(ranking: Sequence[PageId], evidence: Collection[PageId], k: int) -> float:
    """1 if any of the first `k` hits is on an evidence page, else 0; with k = 1 also called success@1.

    Args:
        ranking: any length; places after its end find nothing.
        evidence: pages, repeats ignored.
        k: cut-off, >= 1.

    Edge cases: no evidence -> nan; empty ranking -> 0.
    """
    wanted = _wanted(evidence, k)
    return float(not wanted.isdisjoint(ranking[:k])) if wanted else nan


def recall_at_k(ranking: Sequence[PageId], evidence: Collection[PageId], k: int) -> float:
    """Share of the evidence pages that are among the first `k` hits, in [0, 1], higher is better.

    Formula: |evidence & ranking[:k]| / |evidence|; a page found twice counts once but takes two places.
    Source: trec_eval's `recall_k`, for rankings without repeats.

    Args:
        ranking: any length; places after its end find nothing.
        evidence: pages, repeats ignored.
        k: cut-off, >= 1; below the number of evidence pages, 1 cannot be reached.

    Edge cases: no evidence -> nan; empty ranking -> 0.
    """
    wanted = _wanted(evidence, k)
    return len(wanted.intersection(ranking[:k])) / len(wanted) if wanted else nan


def reciprocal_rank(ranking: Sequence[PageId], evidence: Collection[PageId]) -> float:
    """One over the place of the first hit on an evidence page, in [0, 1], higher is better; its mean is MRR.

    Source: trec_eval's `recip_rank`.

    Edge cases: no evidence -> nan; none found -> 0.
    """
    if not evidence:
        return nan
    return next((1 / place for place, page in enumerate(ranking, start=1) if page in evidence), 0.0)


def _wanted(evidence: Collection[PageId], k: int) -> set[PageId]:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return set(evidence)
