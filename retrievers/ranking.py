"""The best of all chunks' scores, in order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Hit

_FEW = 10  # up to here one search for the maximum per hit is faster than a partial sort


def best(scores: NDArray[np.floating[Any]], k: int) -> list[Hit]:
    """Rank the `k` best of all chunks' scores (chunks,), ties in the order of the chunks; -inf is no hit.

    Scores must not be NaN.
    """
    if k <= _FEW:
        return _largest(scores.copy(), min(k, len(scores)))
    if k < len(scores):
        # a partial sort finds the k-th score, so that only what reaches it is sorted by place
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    order = places[np.argsort(-scores[places], kind="stable")][:k]
    return [Hit(int(place), float(scores[place])) for place in order if scores[place] > -np.inf]


def _largest(left: NDArray[np.floating[Any]], k: int) -> list[Hit]:
    found: list[Hit] = []
    while len(found) < k and left[place := int(left.argmax())] > -np.inf:
        found.append(Hit(place, float(left[place])))
        left[place] = -np.inf
    return found
