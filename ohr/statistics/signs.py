"""The sign-flip test: could the changes of these documents as well have gone the other way?"""

from functools import cache

import numpy as np

from ohr.statistics.clusters import Floats

FEWEST = 6
"""With fewer changed documents than this no difference can be shown at .05."""
EXACT = 12
"""Up to this many changed documents all signs are tried: 2,048 sums. Beyond, DRAWS of them."""
DRAWS = 4999  # with the observed signs 5,000: the smallest p value is .0002
"""Draws of signs over documents."""

_BATCH = 1000  # signs at a time: some megabytes with thousands of documents


def sign_flip_p(totals: Floats) -> Floats:
    """Two-sided p values of sign-flip tests.

    Under the hypothesis that a document's change is as likely to be a loss as a gain of the same size, each document's
    total keeps its size and takes either sign. The p value is the share of signs with which the sum is at least as far
    from 0 as it is. No size of change, however unequal, makes it too small. With k changed documents it is at least
    2^(1 - k): fewer than FEWEST cannot reach .05.
    Source: Fisher, The Design of Experiments, 1935, section 21; the drawn signs: Phipson & Smyth, Statistical
    Applications in Genetics and Molecular Biology 9(1), 2010.

    Args:
        totals: (rows, documents) sums of the differences of a document's questions.

    Returns:
        (rows,) p values; 1 where nothing changed.
    """
    changed = (totals != 0).sum(axis=1)
    found = np.ones(len(totals))
    for count in np.unique(changed[(changed > 0) & (changed <= EXACT)]).tolist():
        rows = np.flatnonzero(changed == count)
        sizes = totals[rows][totals[rows] != 0].reshape(len(rows), count)
        found[rows] = _as_far(_every_sign(count), sizes).mean(axis=0)
    rows = np.flatnonzero(changed > EXACT)
    if rows.size:
        rng, far = np.random.default_rng(0), np.zeros(len(rows))
        for drawn in np.diff([*range(0, DRAWS, _BATCH), DRAWS]).tolist():
            signs = rng.choice(np.array([-1.0, 1.0]), (drawn, totals.shape[1]))
            far += _as_far(signs, totals[rows]).sum(axis=0)
        found[rows] = (far + 1) / (DRAWS + 1)
    return found


def _as_far(signs: Floats, sizes: Floats) -> Floats:
    """Report where the sums with these (signs, documents) are as far from 0 as those of the (rows, documents)."""
    observed = np.abs(sizes.sum(axis=1)) * (1 - 1e-9)  # sums in another order differ by rounding
    return np.asarray(np.abs(signs @ sizes.T) >= observed, dtype=float)


@cache
def _every_sign(count: int) -> Floats:
    """Return all signs of so many documents, the first one +: the others mirror these."""
    bits = np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1
    return np.asarray(1.0 - 2.0 * bits, dtype=float)
