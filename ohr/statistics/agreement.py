"""Agreement of raters on categories, beyond chance: Cohen's and Fleiss' kappa.

Sources: J. Cohen, A coefficient of agreement for nominal scales (1960); J. L. Fleiss, Measuring nominal scale agreement
among many raters (1971).
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from math import nan

import numpy as np
from numpy.typing import ArrayLike

Labels = Sequence[Hashable]
"""Labels that one annotator gave, in the order of the items."""


def cohen_kappa(first: Labels, second: Labels) -> float:
    """Agreement of two raters: (po - pe) / (1 - pe), from the shares of equal labels observed and expected.

    Args:
        first: (n,) labels of one rater.
        second: (n,) labels of the other, of the same items.

    Edge cases: 1 where both have only one and the same label, so that pe = 1; nan without items.

    Raises:
        ValueError: the raters have not labeled the same number of items.
    """
    if len(first) != len(second):
        raise ValueError(f"two raters must label the same items (got {len(first)} and {len(second)} labels)")
    n, counts = len(first), Counter(second)
    if n == 0:
        return nan
    equal = sum(a == b for a, b in zip(first, second, strict=True))
    expected = sum(count * counts[label] for label, count in Counter(first).items())  # n^2 times pe, so that 1 is exact
    return 1.0 if expected == n * n else (equal / n - expected / n**2) / (1 - expected / n**2)


def fleiss_kappa(counts: ArrayLike) -> float:
    """Agreement of several raters: (P - Pe) / (1 - Pe), P being the mean share of equal pairs of labels of an item.

    Args:
        counts: (items, categories) number of raters that put the item into the category; each row has the same sum.

    Edge cases: 1 where all labels are equal, so that Pe = 1 (as in the code of FinCriticalED); nan without items, and
    with fewer than two raters.

    Raises:
        ValueError: the rows are no counts, or have several sums.
    """
    table = np.asarray(counts, dtype=float)
    if table.size == 0:
        return nan
    if table.ndim != 2 or (table < 0).any() or (table.sum(axis=1) != table[0].sum()).any():
        raise ValueError("counts must be (items, categories), with the same number of raters for each item")
    raters, by_category = table[0].sum(), table.sum(axis=0)
    if raters < 2:
        return nan
    if np.count_nonzero(by_category) == 1:
        return 1.0
    observed = ((table * (table - 1)).sum(axis=1) / (raters * (raters - 1))).mean()
    expected = ((by_category / by_category.sum()) ** 2).sum()
    return float((observed - expected) / (1 - expected))


def label_counts(ratings: Sequence[Labels], labels: Labels) -> list[list[int]]:
    """Count the labels of each item, the input of `fleiss_kappa`.

    Args:
        ratings: (raters, items).
        labels: the categories, in the order of the columns.

    Returns:
        (items, categories) counts.
    """
    return [[of_item.count(label) for label in labels] for of_item in zip(*ratings, strict=True)]
