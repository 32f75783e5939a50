"""A number of hits for each query: a mixture of two Gaussians parts high scores from low ones (ViDoRAG)."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Chunk, Hit, Index
from ohr.parts import RetrieverPart

from .hybrid import JoinedRetriever

Place = list[Any]
"""Document and first page of a chunk."""

_SIZES = (1, 2, 4, 6, 9, 12, 16, 20)
"""Sizes of a union, as in ViDoRAG's code: these many pages fill a grid."""
_DEPTH = 100
"""Hits of each part that a union is filled up with, as in ViDoRAG's code."""


class Gmm(JoinedRetriever, kind="gmm"):
    """Finds as many chunks as score high, at most the number asked for (ViDoRAG, arXiv:2502.18017).

    For K hits, a mixture of two Gaussians is fitted to the 2K best scores of a part. The scores that are likelier in
    the Gaussian of the largest score are kept: at most K, and at least K/2, filled up with the first ones of the rest.
    Too few or equal scores are not fitted: the first K are kept, where the published code raises.

    One retriever alone keeps its order and scores. Several are joined to one set, filled up to the next of 1, 2, 4, 6,
    9, 12, 16 and 20 with what all of them have among their 100 best, then with the first one's further hits, both in
    its order: as published, the image retriever comes first in `retrievers`. The set is ordered by documents as first
    found, in a document by page, so that ranks are lost; scores count down. It is cut to K as in the published
    `eval.py`: a set of more than K loses its last pages, whatever their scores were.

    Where a retriever reads page images, all of them rank pages, the others by their text. Where none does, the set is
    of chunks, not of pages as in the paper.
    """

    extra: ClassVar[str | None] = "dense"
    packages: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    retrievers: Annotated[
        tuple[RetrieverPart, ...], Field(min_length=1, description="One retriever, or several to join.")
    ]

    def check(self) -> None:
        """Raise when scikit-learn is missing, and check every part."""
        extras.require("sklearn", "dense")
        super().check()

    def keep(self, chunks: Sequence[Chunk]) -> Mapping[str, list[Place]]:
        """Keep the place of each chunk."""
        return {"places": [[chunk.document, chunk.pages[0]] for chunk in chunks]}

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Keep the high scores of each part; join them where there are several."""
        if k < 1:
            return [[] for _ in queries]
        rankings = self.rankings(index, queries, 2 * k if len(self.parts) == 1 else max(2 * k, _DEPTH))
        with extras.load("threadpoolctl", "dense").threadpool_limits(1):  # more threads could add in another order
            return [_joined(each, index["places"], k) for each in zip(*rankings, strict=True)]


def _joined(rankings: Sequence[Sequence[Hit]], places: Sequence[Place], k: int) -> list[Hit]:
    kept = [high(ranking[: 2 * k], k) for ranking in rankings]
    if len(kept) == 1:
        return kept[0]
    first = list(dict.fromkeys(hit.place for hits in kept for hit in hits))
    union = filled_up(first, [[hit.place for hit in ranking] for ranking in rankings])
    return [Hit(place, -float(rank)) for rank, place in enumerate(_ordered(union, places)[:k])]


def _ordered(found: Sequence[int], places: Sequence[Place]) -> list[int]:
    documents = dict.fromkeys(places[place][0] for place in found)
    order = {document: number for number, document in enumerate(documents)}
    return sorted(found, key=lambda place: (order[places[place][0]], places[place][1], place))


def high(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return the hits of a ranking that are in the Gaussian of the best one: at least k/2 and at most k, in order."""
    scores = np.array([hit.score for hit in hits], dtype=np.float64)  # (hits,)
    if len(np.unique(scores)) < 2:
        return list(hits[:k])
    is_high = _likelier(scores) == 1
    top, rest = np.flatnonzero(is_high)[:k], np.flatnonzero(~is_high)
    chosen = np.sort(np.concatenate([top, rest[: max(k // 2 - len(top), 0)]]))
    return [hits[place] for place in chosen]


def filled_up(first: Sequence[int], rankings: Sequence[Sequence[int]]) -> list[int]:
    """Fill a set up to the next size: with what is in all rankings, then with the first ranking's further places."""
    size = next((size for size in _SIZES if size >= len(first)), len(first))
    common = set(rankings[0]).intersection(*rankings[1:])
    further = [place for place in rankings[0] if place in common]
    return list(dict.fromkeys([*first, *further, *rankings[0]]))[:size]


def _likelier(scores: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> "np.ndarray[tuple[int], np.dtype[np.int_]]":
    """Label each score with its likelier Gaussian of two (scores,); that of the largest score is 1."""
    mixture = extras.load("sklearn.mixture", "dense").GaussianMixture(n_components=2, n_init=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # almost equal scores do not part, or not in 100 steps: the fit is used
        labels = mixture.fit_predict(scores[:, None])
    return np.where(labels == labels[scores.argmax()], 1, 0)
