"""How unevenly the losses lie: over the lines and stretches of a page, and by class over pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .page import CLASSES, MARK

LARGEST = 8.0
_PRIOR = 3.0
"""Expected squared events that pull an estimate to an even spread."""


@dataclass(frozen=True, slots=True)
class Begins:
    """The places of a page where a run of lost words could begin, and where one does.

    Args:
        cls: (places,) class of the word; its `line`, `stretch` and different word, `type`.
        length: (places,) length class of the line.
        hit: (places,) whether a run begins.
    """

    cls: NDArray[np.int8]
    line: NDArray[np.int64]
    stretch: NDArray[np.int64]
    type: NDArray[np.int64]
    length: NDArray[np.int64]
    hit: NDArray[np.bool_]


def fit_spread(pages: Sequence[Begins], chance: Mapping[int, float]) -> dict[str, float]:
    """Estimate spreads by moments.

    Where a gamma variable of mean 1 and variance v multiplies the chances of a place, pairs of events that share it are
    1 + v times as frequent as they would be otherwise. Lines and stretches are compared with their own page, so that
    its severity does not count; classes with the same class on other pages.
    """
    table = np.array([chance[c] for c in range(len(CLASSES))])
    line, stretch, kind = np.zeros(2), np.zeros(2), np.zeros(2)
    by_class = {c: np.zeros(2) for c in range(len(CLASSES)) if c != MARK}
    for page in pages:
        expected, hit = table[page.cls], page.hit.astype(float)
        for c, sums in by_class.items():
            here = page.cls == c
            if here.any():
                sums += beyond(float(hit[here].sum()), float(expected[here].sum()), float((expected[here] ** 2).sum()))
        weight = _weights(page, table)
        count = hit.sum()
        if count < 2 or not weight.sum():
            continue
        pairs = float(count * (count - 1)) / float(weight.sum()) ** 2
        own, owed = _sums(page.stretch, hit), _sums(page.stretch, weight)
        squares = float((weight**2).sum())  # a word is not twice the beginning of a run
        together = float((own * (own - 1)).sum())
        stretch += (together, pairs * float((owed**2).sum() - squares))
        own, owed = _sums(page.line, hit), _sums(page.line, weight)
        in_line = pairs * float((owed**2).sum() - squares)
        alike, due = _sums(page.type, hit), _sums(page.type, weight)
        kind += (float((alike * (alike - 1)).sum()), pairs * float((due**2).sum() - squares))
        line += (
            float((own * (own - 1)).sum()) - together,
            in_line - pairs * float((_sums(page.stretch, weight) ** 2).sum() - squares),
        )
    between_lines, together, types = (_more(sums) for sums in (line, stretch, kind))
    within = (1 + together) / (1 + between_lines) - 1
    places = {"line": between_lines, "stretch": min(max(within, 0.0), LARGEST), "type": types}
    return {name: round(value, 3) for name, value in places.items()} | {
        CLASSES[c]: round(spread_of(sums), 3) for c, sums in by_class.items()
    }


def _more(sums: NDArray[np.float64]) -> float:
    """Give by how much pairs are more frequent than expected."""
    return float(np.clip((sums[0] + _PRIOR) / (sums[1] + _PRIOR) - 1, 0, LARGEST))


def _weights(page: Begins, chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give each place's relative chance, by the classes as they are lost on this page."""
    hits = np.bincount(page.cls, page.hit, minlength=len(CLASSES))
    owed = np.bincount(page.cls, chance[page.cls], minlength=len(CLASSES))
    made: NDArray[np.float64] = (chance * (hits + 1) / (owed + 1))[page.cls]
    return made


def beyond(count: float, expected: float, squares: float) -> NDArray[np.float64]:
    """Give what a count varies beyond chance, and the square of its expectation; `squares` sums the chances'."""
    return np.array([(count - expected) ** 2 - expected + squares, expected**2])


def _sums(owner: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum by owner; owners without a place are left out."""
    _, place = np.unique(owner, return_inverse=True)
    return np.bincount(place, values).astype(np.float64)


def spread_of(sums: NDArray[np.float64]) -> float:
    """Give the variance of the factor that makes counts vary so."""
    return float(np.clip(sums[0] / (sums[1] + _PRIOR), 0.0, LARGEST))
