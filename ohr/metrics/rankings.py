"""Scores of rankings of pages, at a cut-off: nDCG and success.

A chunk counts as its pages, in their order, and a page has the rank at which it first occurs: passages of one page do
not push other pages down. Relevance is binary: a page is one of the evidence's or not.
"""

from collections.abc import Iterable, Sequence
from math import log2, nan
from typing import Annotated, Literal

from pydantic import Field

from ohr.contracts import PageId, Ranking, RankingMetric

_CutOff = Annotated[
    int, Field(gt=0, description="Pages that count, from the best; a retriever's top_k may end sooner.")
]


def ndcg_at_k(ranked: Sequence[PageId], relevant: Iterable[PageId], k: int) -> float:
    """Return normalised discounted cumulative gain of binary relevance, in [0, 1], higher is better.

    Formula: DCG@k / IDCG@k with DCG@k = sum over ranks i <= k of rel_i / log2(i + 1), and IDCG@k that of a ranking with
        all relevant pages first.
    Source: Järvelin and Kekäläinen (2002), with the discount of trec_eval's `ndcg_cut`, which agrees for binary gains.

    Args:
        ranked: distinct pages, best first.
        relevant: pages of the evidence.
        k: cut-off, >= 1.

    Edge cases: nothing relevant -> nan (trec_eval leaves such queries out); nothing found -> 0.
    """
    wanted = set(relevant)
    if not wanted:
        return nan
    gained = sum(1 / log2(rank + 1) for rank, page in enumerate(ranked[:k], start=1) if page in wanted)
    return gained / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))


def success_at_k(ranked: Sequence[PageId], relevant: Iterable[PageId], k: int) -> float:
    """Return 1 if one of the first `k` pages is relevant, else 0.

    Source: trec_eval's `success`.

    Edge cases: nothing relevant -> nan; nothing found -> 0.
    """
    wanted = set(relevant)
    return float(not wanted.isdisjoint(ranked[:k])) if wanted else nan


def ranked_pages(ranking: Ranking) -> list[PageId]:
    """Return the distinct pages of a ranking, best first."""
    return list(dict.fromkeys(page for hit in ranking.hits for page in hit))


class Ndcg(RankingMetric):
    """nDCG@k of the pages found, with binary relevance: pages of the evidence, and others."""

    kind: Literal["ndcg"] = "ndcg"
    k: _CutOff = 10

    def score_ranking(self, ranking: Ranking) -> float:
        """Return `ndcg_at_k`."""
        return min(ndcg_at_k(ranked_pages(ranking), ranking.pages, self.k), 1.0)


class Success(RankingMetric):
    """1 where one of the first k pages found is of the evidence."""

    kind: Literal["success"] = "success"
    k: _CutOff = 10

    def score_ranking(self, ranking: Ranking) -> float:
        """Return `success_at_k`."""
        return success_at_k(ranked_pages(ranking), ranking.pages, self.k)
