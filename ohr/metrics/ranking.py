"""Rank-aware retrieval scores: pure functions of one question's ranking and the pages of its evidence.

A ranking is a sequence of hits, best first; each hit is the collection of (document, page index) that its chunk covers.
A chunk that spans two pages is one hit. A page may be repeated, as when several of its chunks were retrieved. Evidence
is the set of pages that the question needs.
"""

from collections.abc import Collection, Sequence
from math import nan

from ohr.contracts import PageId

Ranking = Sequence[Collection[PageId]]
"""The pages of each hit, best hit first."""

SHOWN_METRICS = ("recall@shown", "mrr", "ndcg")
"""Share of the evidence's pages among those looked at; one over the rank of the first; nDCG over all of them, which is
the retrieval part of VRAG-RL's reward (arXiv:2505.22019)."""


def hit_at_k(ranking: Ranking, evidence: Collection[PageId], k: int) -> float:
    """Return 1 if any of the first `k` hits touches an evidence page, else 0; with k = 1 also called success@1.

    Args:
        ranking: any length; places after its end find nothing.
        evidence: pages, repeats ignored.
        k: cut-off, >= 1.

    Edge cases: no evidence -> nan; empty ranking -> 0.
    """
    wanted = _wanted(evidence, k)
    return float(not wanted.isdisjoint(_pages(ranking[:k]))) if wanted else nan


def recall_at_k(ranking: Ranking, evidence: Collection[PageId], k: int) -> float:
    """Return the share of the evidence pages that the first `k` hits cover, in [0, 1], higher is better.

    Formula: |evidence & pages of ranking[:k]| / |evidence|; a page that two hits share counts once.
    Source: trec_eval's `recall_k`, for rankings without repeats.

    Args:
        ranking: any length; places after its end find nothing.
        evidence: pages, repeats ignored.
        k: cut-off, >= 1.

    Edge cases: no evidence -> nan; empty ranking -> 0.
    """
    wanted = _wanted(evidence, k)
    return len(wanted & _pages(ranking[:k])) / len(wanted) if wanted else nan


def reciprocal_rank(ranking: Ranking, evidence: Collection[PageId]) -> float:
    """Return one over the rank of the first hit on an evidence page, in [0, 1], higher is better; its mean is MRR.

    Source: trec_eval's `recip_rank`.

    Edge cases: no evidence -> nan; none found -> 0.
    """
    wanted = set(evidence)
    if not wanted:
        return nan
    return next((1 / rank for rank, pages in enumerate(ranking, start=1) if not wanted.isdisjoint(pages)), 0.0)


def _pages(ranking: Ranking) -> set[PageId]:
    return {page for pages in ranking for page in pages}


def _wanted(evidence: Collection[PageId], k: int) -> set[PageId]:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return set(evidence)
