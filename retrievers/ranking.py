"""The best of all chunks' scores, in order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Hit


def best(scores: NDArray[np.floating[Any]], k: int, above: float = -np.inf) -> list[Hit]:
    """Rank the `k` best of all chunks' scores (chunks,), ties in their order; only those `above` a score."""
    if k < len(scores):
        # a partial sort finds the k-th score, so that only what reaches it is sorted by place
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    order = places[np.argsort(-scores[places], kind="stable")][:k]
    return [Hit(int(place), float(scores[place])) for place in order if scores[place] > above]
