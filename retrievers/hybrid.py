"""Fusion of several retrievers' rankings."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ohr.contracts import Hit, Index
from ohr.parts import RetrieverPart

from .nested import JoinedRetriever


class Hybrid(JoinedRetriever, kind="hybrid"):
    """Joins the rankings of several retrievers, by rank (Cormack et al., SIGIR 2009) or by score.

    `rrf` adds weight / (rrf_k + rank); `scores` adds weight x score, each retriever's scores for a query brought to
    [0, 1]. Where a retriever reads page images, all of them rank pages, the others by their text.
    """

    retrievers: Annotated[
        tuple[RetrieverPart, ...], Field(min_length=1, validate_default=True, description="The retrievers to join.")
    ] = ({"kind": "bm25"}, {"kind": "dense"})  # type: ignore[assignment] # made into retrievers as any others are
    fusion: Annotated[Literal["rrf", "scores"], Field(description="By rank or by score.")] = "rrf"
    weights: Annotated[tuple[float, ...] | None, Field(description="One per retriever; by default all 1.")] = None
    rrf_k: Annotated[int, Field(gt=0, description="Larger values let lower ranks count more.")] = 60
    depth: Annotated[int, Field(gt=0, description="Hits taken of each retriever.")] = 50

    @model_validator(mode="after")
    def _one_weight_each(self) -> "Hybrid":
        if self.weights is not None and (len(self.weights) != len(self.retrievers) or min(self.weights) < 0):
            raise ValueError(f"weights must be {len(self.retrievers)} numbers of at least 0, one per retriever")
        return self

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the joined score; ties in the order of the chunks."""
        rankings = self.rankings(index, queries, max(k, self.depth))
        weights = self.weights or (1.0,) * len(rankings)
        return [joined(each, weights, self._scores)[: max(k, 0)] for each in zip(*rankings, strict=True)]

    def _scores(self, hits: Sequence[Hit]) -> Mapping[int, float]:
        return _unit(hits) if self.fusion == "scores" else reciprocal_ranks(hits, self.rrf_k)


def joined(
    rankings: Sequence[Sequence[Hit]],
    weights: Sequence[float],
    scores: Callable[[Sequence[Hit]], Mapping[int, float]],
) -> list[Hit]:
    """Join the rankings of one query by the sum of weight x score, ties in the order of the chunks.

    Args:
        weights: one per ranking.
        scores: scores the hits of a ranking, by their places.
    """
    totals: dict[int, float] = defaultdict(float)
    for weight, hits in zip(weights, rankings, strict=True):
        for place, score in scores(hits).items():
            totals[place] += weight * score
    return sorted((Hit(*pair) for pair in totals.items()), key=lambda hit: (-hit.score, hit.place))


def reciprocal_ranks(hits: Sequence[Hit], rrf_k: int) -> dict[int, float]:
    """Score hits by 1 / (rrf_k + rank), as reciprocal rank fusion does."""
    return {hit.place: 1 / (rrf_k + rank) for hit, rank in zip(hits, _ranks(hits), strict=True)}


def _ranks(hits: Sequence[Hit]) -> list[int]:
    """Rank from 1; equal scores share the better rank, so that the order of equal chunks gives none an advantage."""
    ranks: list[int] = []
    for place, hit in enumerate(hits):
        tied = place > 0 and hits[place - 1].score == hit.score
        ranks.append(ranks[-1] if tied else place + 1)
    return ranks


def _unit(hits: Sequence[Hit]) -> dict[int, float]:
    """Bring scores to [0, 1]; equal ones are all 1."""
    scores = [hit.score for hit in hits]
    low, high = (min(scores), max(scores)) if scores else (0.0, 0.0)
    return {hit.place: (hit.score - low) / (high - low) if high > low else 1.0 for hit in hits}
