"""Loss by stage: how much of it comes from finding passages in a noisy index, and how much from reading noisy text."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ohr.statistics.clusters import Clusters, Floats
from ohr.statistics.derived import of_means
from ohr.statistics.estimate import Estimate


def _ratio(value: Floats, whole: Floats) -> Any:
    return np.divide(value, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) != 0)


QUANTITIES: Mapping[str, Callable[[Floats], Any]] = {
    "total": lambda m: m[0] - m[3],
    "index_alone": lambda m: m[0] - m[1],
    "reading_alone": lambda m: m[0] - m[2],
    "gain_of_repairing_index": lambda m: m[2] - m[3],
    "gain_of_repairing_reading": lambda m: m[1] - m[3],
    "overlap": lambda m: m[0] - m[1] - m[2] + m[3],
    "overlap_by_chance": lambda m: _ratio((m[0] - m[1]) * (m[0] - m[2]), m[0]),
    "overlap_beyond_chance": lambda m: m[3] - _ratio(m[1] * m[2], m[0]),
    "index_share": lambda m: (m[0] - m[1] + m[2] - m[3]) / 2,
    "reading_share": lambda m: (m[0] - m[2] + m[1] - m[3]) / 2,
    "index_part": lambda m: _ratio((m[0] - m[1] + m[2] - m[3]) / 2, m[0] - m[3]),
}
"""Functions of four means: clean, found in the noisy index, read as noisy text, both.

`overlap` is what the repair of one alone would not bring back, if positive; it is the sum of what two independent
losses would share and of what falls on the same pages. The shares are Shapley's, a convention; they add up to `total`,
of which `index_part` is the index's part.
"""


def swap(
    clean: Floats, index: Floats, reading: Floats, both: Floats, clusters: Clusters, level: float = 0.95
) -> dict[str, Estimate]:
    """Take a loss apart by stage, from the scores of the same questions in four cells.

    Args:
        clean: (n,) found in the clean index and read as clean text; as all others, failed questions as 0.
        index: found in the noisy index, read as clean text.
        reading: found in the clean index, read as noisy text.
        both: found in the noisy index, read as noisy text: the usual noisy cell.
        clusters: of the n questions.
        level: of the intervals.

    Returns:
        Each of QUANTITIES with the jackknife's t interval (`of_means`).

    Edge cases: a question undefined in one cell is left out of all; a clean mean of 0 -> the two products
    are nan; no loss, also without one of the documents -> `index_part` is nan.
    """
    return of_means(np.stack([clean, index, reading, both]), clusters, QUANTITIES, level)
