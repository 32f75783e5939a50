"""Retrievers inside retrievers: checked, identified and indexed together, and fusion of their rankings."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ohr.contracts import AnyRetriever, Chunk, Hit, Image, Index, QueryRetriever, Resources, with_parts
from ohr.parts import RetrieverPart, part_identity


class JoinedRetriever(QueryRetriever):
    """A retriever that searches with others, its parts."""

    parts_field: ClassVar[str] = "retrievers"
    """The field that holds them."""

    @property
    def parts(self) -> tuple[QueryRetriever, ...]:
        """The retrievers that it searches with."""
        held = getattr(self, self.parts_field)
        return held if isinstance(held, tuple) else (held,)

    @property
    def reads_images(self) -> bool:  # type: ignore[override] # depends on the parts
        """Whether one of the parts reads page images."""
        return any(part.reads_images for part in self.parts)

    def check(self) -> None:
        """Check every part."""
        for part in self.parts:
            part.check()

    def resources(self) -> Resources:
        """Return the resources of the parts together."""
        return Resources.together(*(part.resources() for part in self.parts))

    def identity(self) -> Mapping[str, object]:
        """Identify the parts as they identify themselves."""
        identities = [part_identity(part) for part in self.parts]
        is_list = isinstance(getattr(self, self.parts_field), tuple)
        return {**super().identity(), self.parts_field: identities if is_list else identities[0]}

    @model_validator(mode="after")
    def _searches_by_words(self) -> Self:
        for part in self.parts:
            if not isinstance(part, QueryRetriever):
                raise ValueError(
                    f"{part.kind} looks at the truth about a question, not at its words: search with others"
                )
        return self

    @property
    def indexed_parts(self) -> Sequence[AnyRetriever]:
        """The parts, each of which has an index of its own."""
        return self.parts

    def index_passages(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:
        """Index with every part, the chunks or their images as it reads them."""
        parts = [part.index_passages(chunks, images) for part in self.indexed_parts]
        return with_parts(self, self.index_without_parts(chunks, images), parts)

    def index_without_parts(self, chunks: Sequence[Chunk], images: Iterable[Image]) -> Index:  # noqa: ARG002 # of parts
        """Make what is not in the indexes of the parts."""
        return Index(self.keep(chunks), self.notes(chunks))

    def keep(self, chunks: Sequence[Chunk]) -> Mapping[str, Any]:  # noqa: ARG002 # for those that keep something
        """Return what the index holds of the chunks beside the parts' indexes."""
        return {}

    def notes(self, chunks: Sequence[Chunk]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """Return the warnings of an index beside those of its parts."""
        return ()

    def rankings(self, index: Index, queries: Sequence[str], k: int) -> list[list[list[Hit]]]:
        """Search with every part: for each, its ranking for each query."""
        return [part.search(index[f"part{number}"], queries, k) for number, part in enumerate(self.parts)]


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
