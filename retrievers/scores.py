"""Scores of all chunks: the best in order, and arrays as large as a corpus in temporary files."""

from collections.abc import Iterable
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

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


IN_MEMORY = 1 << 23
"""Numbers up to which an array stays in memory: 32 MB of float32."""


def gathered(blocks: Iterable[NDArray[Any]], dtype: DTypeLike) -> NDArray[Any]:
    """Join blocks along their first axis in a temporary file, one block at a time, and map it into memory."""
    with TemporaryFile() as file:  # the system deletes it when nobody maps it any more
        shape: tuple[int, ...] = (0,)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)
            shape = (shape[0] + len(block), *block.shape[1:])
        file.flush()
        return (
            np.asarray(np.memmap(file, dtype=dtype, mode="r", shape=shape))
            if 0 not in shape
            else np.zeros(shape, dtype)
        )


def writable(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an array to be filled (size,): in a temporary file where it is large."""
    if size <= IN_MEMORY:
        return np.empty(size, dtype)
    with TemporaryFile() as file:
        return np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=(size,)))
