"""Rank correlations of what is known of pages with what they lose, with intervals over documents."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ohr.metrics.dose import Floats
from ohr.statistics.clusters import jackknife
from ohr.statistics.estimate import quantile


def correlations(
    documents: Any, loss: Floats, predictors: Mapping[str, Floats], against: str = ""
) -> dict[str, tuple[float, float, float]]:
    """Return Spearman's correlation of each predictor with the loss, and its 95% interval.

    Args:
        documents: of the pages, (pages,); intervals leave out each in turn.
        loss: (pages,), as is each predictor.
        against: a predictor; how much more each other one is correlated is returned, too, as `NAME less AGAINST`.
    """
    names = np.unique(documents)
    subsets = [np.ones(len(documents), bool), *(documents != name for name in names)]
    values: dict[str, Floats] = {
        name: np.array([_spearman(column[subset], loss[subset]) for subset in subsets])
        for name, column in predictors.items()
    }
    if against:
        others = {name: column for name, column in values.items() if name != against}
        values |= {f"{name} less {against}": column - values[against] for name, column in others.items()}
    reach = float(quantile(0.975, len(names) - 1))
    results = {}
    for name, column in values.items():
        value, *without = column.tolist()
        error = reach * float(np.sqrt(jackknife(np.array([without]))[0]))
        results[name] = value, value - error, value + error
    return results


def _spearman(first: Floats, second: Floats) -> float:
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])
