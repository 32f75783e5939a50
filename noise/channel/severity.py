"""How bad a page is: what its content says, what its document shares, and what is its own."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .page import CLASSES, FORMULA, STRAY, PageWords
from .profile import Group

_NORMAL = NormalDist()
FEATURES = ("pages", "words", "line_words", "usual", "foreign", "tables", "formulas")
"""Logs of a document's pages, of a page's words, of its words per line, and of the share that such words usually lose;
shares of non-ASCII characters, table cells and formulas."""

Table = NDArray[np.float64]


def usual_table(usual: Mapping[str, Sequence[float]]) -> Table:
    """Give a profile's shares as an array."""
    return np.array([usual[name] for name in CLASSES])


def usual_share(page: PageWords, usual: Table) -> float:
    """Give the share of a page's words that is usually lost, by their classes and the lengths of their lines.

    Args:
        usual: (len(CLASSES), len(LINE_BINS)) shares.
    """
    counted = page.counted
    return float(usual[page.cls[counted], page.line_bin[page.line[counted]]].mean()) if counted.any() else 1.0


def describe(page: PageWords, usual: float, pages: int) -> NDArray[np.float64]:
    """Give the features of a page, (len(FEATURES),), given the share it usually loses and its document's pages."""
    cls = page.cls[page.counted]
    lines = max(len(page.line_kind), 1)
    share = 1 / max(len(cls), 1)
    sample = page.text[:20_000]
    foreign = 0.0 if sample.isascii() else 1 - len(sample.encode("ascii", "ignore")) / len(sample)
    cells, formulas = int((cls > FORMULA).sum()) * share, int(((cls == FORMULA) | (cls == STRAY)).sum()) * share
    return np.array(
        [np.log1p(pages), np.log1p(len(cls)), np.log1p(len(cls) / lines), np.log(usual), foreign, cells, formulas]
    )


def score(features: NDArray[np.float64], scaling: Mapping[str, tuple[float, float]], group: Group) -> float:
    """Give what the content says, on the scale of normal scores."""
    return group.intercept + sum(
        group.slopes[name] * float(np.clip((value - scaling[name][0]) / scaling[name][1], -3, 3))
        for name, value in zip(FEATURES, features, strict=True)
    )


def target(group: Group, content: float, document: float, page: float, rate: float) -> float:
    """Give the share of words that a page loses.

    Args:
        content: from `score`.
        document: standard normal effect of the document; `page` that of the page.
        rate: 0.5 is the engine as it was fitted; lower and higher rates move the page along the distribution of
            severities, down to no loss at 0 and up to all words at 1.
    """
    own = sqrt(group.document_share) * document + sqrt(1 - group.document_share) * page
    latent = content + sqrt(group.unexplained) * own
    return quantile(group.quantiles, shifted(_NORMAL.cdf(latent), rate))


def shifted(probability: float, rate: float) -> float:
    """Move a probability along the normal distribution: left where it is at rate 0.5, to 0 at 0 and to 1 at 1."""
    if rate in (0, 1) or probability in (0, 1):
        return rate if rate in (0, 1) else probability
    return _NORMAL.cdf(_NORMAL.inv_cdf(probability) + _NORMAL.inv_cdf(rate))


def quantile(quantiles: Sequence[float], probability: float) -> float:
    """Interpolate in quantiles at equal steps."""
    return float(np.interp(probability * (len(quantiles) - 1), np.arange(len(quantiles)), quantiles))
