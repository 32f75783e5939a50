"""Fits how severity spreads over pages, documents and content."""

import numpy as np
from numpy.typing import NDArray

from .profile import Group
from .severity import FEATURES

STEPS = 50
_RIDGE = 5.0
_DRAWS = 8

Values = NDArray[np.float64]


def fit_group(shares: Values, features: Values, documents: NDArray[np.str_]) -> Group:
    """Fit one group.

    Args:
        shares: (pages,) share of words lost.
        features: (pages, len(FEATURES)) scaled.
        documents: (pages,) names.
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    rng = np.random.default_rng(0)
    # pages of equal severity (all words lost) are put in the order of their content, so that their score has a spread
    ranks = rankdata(shares, method="average")
    scores = ndtri((ranks - 0.5) / len(shares))
    slopes = np.linalg.solve(
        features.T @ features + _RIDGE * np.eye(features.shape[1]), features.T @ (scores - scores.mean())
    )
    content = features @ slopes
    content -= content.mean()
    unexplained = float(np.clip(1 - content.var(), 0.05, 1.0))
    probabilities = np.linspace(0, 1, STEPS + 1)
    table = np.quantile(shares, probabilities)
    table[0], table[-1] = 0.0, 1.0
    _, owner = np.unique(documents, return_inverse=True)
    share = _document_share(shares, content, unexplained, owner, table, rng)
    return Group(
        pages=len(shares),
        mean=round(float(shares.mean()), 5),
        quantiles=tuple(round(float(value), 5) for value in table),
        slopes={name: round(float(value), 4) for name, value in zip(FEATURES, slopes, strict=True)},
        intercept=round(float(-(features @ slopes).mean()), 4),
        unexplained=round(unexplained, 4),
        document_share=round(share, 3),
    )


def _document_share(
    shares: Values,
    content: Values,
    unexplained: float,
    owner: NDArray[np.int64],
    table: Values,
    rng: np.random.Generator,
) -> float:
    """Find the share of documents that gives the intraclass correlation of the data."""
    from scipy.special import ndtr

    wanted = intraclass(shares, owner)
    if not np.isfinite(wanted):
        return 0.3
    common = rng.standard_normal((_DRAWS, int(owner.max()) + 1))[:, owner]
    own = rng.standard_normal(common.shape)
    grid = np.linspace(0, 0.95, 11)
    found = []
    for share in grid:
        latent = content + np.sqrt(unexplained) * (np.sqrt(share) * common + np.sqrt(1 - share) * own)
        drawn = np.interp(ndtr(latent) * (len(table) - 1), np.arange(len(table)), table)
        found.append(np.mean([intraclass(row, owner) for row in drawn]))
    return float(np.interp(wanted, np.maximum.accumulate(found), grid))


def intraclass(values: Values, owner: NDArray[np.int64]) -> float:
    """Give the intraclass correlation of one-way analysis of variance; nan where no document has two pages."""
    size = np.bincount(owner)
    size, total, documents = size[size > 0], len(values), int((size > 0).sum())
    if total <= documents or documents < 2:
        return float("nan")
    mean = np.bincount(owner, values)[np.bincount(owner) > 0] / size
    _, place = np.unique(owner, return_inverse=True)
    between = float((size * (mean - values.mean()) ** 2).sum() / (documents - 1))
    within = float(((values - mean[place]) ** 2).sum() / (total - documents))
    typical = (total - float((size**2).sum()) / total) / (documents - 1)
    spread = between + (typical - 1) * within
    return (between - within) / spread if spread > 0 else 0.0
