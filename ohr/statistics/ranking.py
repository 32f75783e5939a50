"""All rank-aware retrieval scores: pure functions of one question's ranking and the pages of its evidence.

A ranking is a sequence of hits, best first; each hit is the collection of the pages that its chunk covers, such as
(document, page index). It has any length; places after its end find nothing. All scores count hits: the cut-off `k`, at
least 1, is a number of hits, and a rank is a hit's, not a page's. A chunk that spans two pages is one hit; two chunks
of one page are two hits, the second of which finds nothing new. Evidence is the set of pages that the question needs,
repeats ignored, or a mapping of such pages to their grades, all above 0; only nDCG looks at the grades. For rankings of
single pages without repeats all scores are those of trec_eval.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from math import log2, nan

Hits = Sequence[Collection[Hashable]]
"""The pages of each hit, best hit first."""


def hit_at_k(ranking: Hits, evidence: Collection[Hashable], k: int) -> float:
    """Return 1 if any of the first `k` hits touches an evidence page, else 0; with k = 1 also called success@1.

    Edge cases: no evidence -> nan; empty ranking -> 0.
    """
    wanted = _wanted(evidence, k)
    return float(not wanted.isdisjoint(_pages(ranking[:k]))) if wanted else nan


def recall_at_k(ranking: Hits, evidence: Collection[Hashable], k: int) -> float:
    """Return the share of the evidence pages that the first `k` hits cover, in [0, 1], higher is better.

    Formula: |evidence & pages of ranking[:k]| / |evidence|; a page that two hits share counts once. With k = |evidence|
        this is R-precision.
    Source: trec_eval's `recall_k`.

    Edge cases: no evidence -> nan; empty ranking -> 0.
    """
    wanted = _wanted(evidence, k)
    return len(wanted & _pages(ranking[:k])) / len(wanted) if wanted else nan


def precision_at_k(ranking: Hits, evidence: Collection[Hashable], k: int) -> float:
    """Return the share of the first `k` places whose hits touch an evidence page that no earlier hit has covered.

    Source: trec_eval's `P_k`: a ranking that is shorter than `k` is divided by `k` all the same.

    Edge cases: no evidence -> nan; empty ranking -> 0.
    """
    wanted = _wanted(evidence, k)
    if not wanted:
        return nan
    useful = 0
    for pages in ranking[:k]:
        useful += not wanted.isdisjoint(pages)
        wanted.difference_update(pages)
    return useful / k


def reciprocal_rank(ranking: Hits, evidence: Collection[Hashable]) -> float:
    """Return one over the rank of the first hit on an evidence page, in [0, 1], higher is better; its mean is MRR.

    Source: trec_eval's `recip_rank`.

    Edge cases: no evidence -> nan; none found -> 0.
    """
    wanted = set(evidence)
    if not wanted:
        return nan
    return next((1 / rank for rank, pages in enumerate(ranking, start=1) if not wanted.isdisjoint(pages)), 0.0)


def ndcg_at_k(ranking: Hits, evidence: Collection[Hashable], k: int) -> float:
    """Return normalised discounted cumulative gain, in [0, 1], higher is better.

    Formula: DCG@k / IDCG@k with DCG@k = sum over ranks i <= k of g_i / log2(i + 1), g_i being the grades of the
        evidence pages that hit i is the first to cover (1 each without grades), and IDCG@k that of a ranking of all
        evidence pages, the highest grade first, one a hit; at most 1.
    Source: Järvelin and Kekäläinen (2002), with the discount of trec_eval's `ndcg_cut`.

    Edge cases: no evidence -> nan (trec_eval leaves such queries out); empty ranking -> 0.
    """
    wanted = _wanted(evidence, k)
    if not wanted:
        return nan
    grades: Mapping[Hashable, float] = evidence if isinstance(evidence, Mapping) else dict.fromkeys(wanted, 1.0)
    best = sorted(grades.values(), reverse=True)[:k]
    ideal = sum(grade / log2(rank + 1) for rank, grade in enumerate(best, start=1))
    gained = 0.0
    for rank, pages in enumerate(ranking[:k], start=1):
        gained += sum(grades[page] for page in wanted.intersection(pages)) / log2(rank + 1)
        wanted.difference_update(pages)
    return min(gained / ideal, 1.0)


def _pages(ranking: Hits) -> set[Hashable]:
    return {page for pages in ranking for page in pages}


def _wanted(evidence: Collection[Hashable], k: int) -> set[Hashable]:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return set(evidence)
