"""Metrics of rankings, and the scores of the pages that an agent looks at."""

from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts import Ranking, RankingMetric
from ohr.statistics.ranking import hit_at_k, ndcg_at_k

_CutOff = Annotated[int, Field(gt=0, description="Hits that count, from the best; a retriever's top_k may end sooner.")]

SHOWN_METRICS = ("recall@shown", "mrr", "ndcg")
"""Share of the evidence's pages among those looked at; one over the rank of the first; nDCG over all of them, which is
the retrieval part of VRAG-RL's reward (arXiv:2505.22019)."""


class Ndcg(RankingMetric, kind="ndcg"):
    """nDCG of the first k hits; a page of the evidence counts by its grade, which is 1 in benchmarks without grades."""

    version: ClassVar[int] = 3
    k: _CutOff = 10

    def score_ranking(self, ranking: Ranking) -> float:
        """Return `ndcg_at_k`."""
        return ndcg_at_k(ranking.hits, ranking.grades or ranking.pages, self.k)


class Success(RankingMetric, kind="success"):
    """1 where one of the first k hits is on a page of the evidence: `hit@k` at a k of its own, trec_eval's success."""

    version: ClassVar[int] = 2
    k: _CutOff = 10

    def score_ranking(self, ranking: Ranking) -> float:
        """Return `hit_at_k`."""
        return hit_at_k(ranking.hits, ranking.pages, self.k)
