"""Arrays that are as large as a corpus, in temporary files."""

from collections.abc import Iterable
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

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
