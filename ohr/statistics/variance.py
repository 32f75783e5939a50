"""The parts of a squared standard error: documents, questions, draws of the noise; and what draws of orders add."""

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from ohr.statistics.clusters import Clusters, Floats

SHARED = 0.01
"""Below this p value, draws shift all documents together; no interval over documents holds that part."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The parts of the squared standard error of a mean, or of a paired difference.

    Args:
        total: the jackknife's, over documents.
        documents: differences between documents; shrinks with more documents only.
        questions: differences between questions of a document; shrinks with more questions, too.
        draws: differences between draws of the noise; shrinks with more draws, and documents.
        question_draws: the part of `draws` that shrinks with more questions, too.
        shared: shifts that a draw has in all documents; shrinks with more draws only.
        shared_ratio: variance over draws of the whole mean, relative to that of independent documents: 1 if they are.
        shared_p: p value of a larger ratio where documents are drawn independently.
        made: draws behind it.
        per_document: mean questions of a document.
        effective_documents: G* of these questions.
    """

    total: float
    documents: float
    questions: float
    draws: float
    question_draws: float
    shared: float
    shared_ratio: float
    shared_p: float
    made: int
    per_document: float
    effective_documents: float


def budget(draws: Floats, clusters: Clusters) -> Budget:
    """Estimate the parts of the squared standard error of a mean from several draws of the noise.

    Args:
        draws: (draws, n) scores, or clean less noisy; at least two draws, nothing undefined. With a single one, only
            `total` is known.
        clusters: of the n questions; strata are taken into account in `total`.
    """
    count, n = draws.shape
    size, code = clusters.counts, clusters.documents
    share = size / n
    left = clusters.left_out(draws.mean(axis=0)[None, :])
    total = float(left.error(left.without)[0][0])
    about = (count, n / len(size), clusters.effective)
    if count < 2:
        return Budget(total, nan, nan, nan, nan, nan, nan, nan, *about)
    means = clusters.sums(draws) / size  # draws x documents
    document, question = means.mean(axis=0), draws.mean(axis=0)
    spread = share**2 * means.var(axis=0, ddof=1)
    of_draws = float(spread.sum() / count)
    between = float(draws.mean(axis=1).var(ddof=1))
    residual = draws - question - means[:, code] + document[code]
    within = _within((question - document[code]) ** 2, size, code, 1)
    both = _within((residual**2).sum(axis=0), size, code, count - 1)
    questions = max(0.0, float((share**2 * (within - both / count) / size).sum()))
    question_draws = min(of_draws, float((share**2 * both / (size * count)).sum()))
    documents = max(0.0, total - questions - of_draws)
    shared = max(0.0, between / count - of_draws)
    ratio, p = _independence(between, spread, count)
    return Budget(total, documents, questions, of_draws, question_draws, shared, ratio, p, *about)


def predicted_error(parts: Budget, documents: float, per_document: float, draws: int, cv: float = 0.0) -> float:
    """Standard error to be expected of a study of another size.

    Args:
        parts: of a study like it.
        documents: of the new study.
        per_document: its mean questions of a document.
        draws: of its noise.
        cv: coefficient of variation of its questions per document.
    """
    q, d = parts.per_document / per_document, parts.made / draws
    alone = parts.draws - parts.question_draws
    one = parts.documents + parts.questions * q + alone * d + parts.question_draws * d * q
    shared = parts.shared * d if parts.shared_p < SHARED else 0.0
    return sqrt(one * parts.effective_documents * (1 + cv**2) / documents + shared)


def order_error(by_pair: Floats) -> Floats:
    """Standard error that drawn orders add to Shapley shares, (parts,).

    Args:
        by_pair: (pairs, parts) the share of each part by each order and its reverse.

    Edge cases: nan from a single pair.
    """
    pairs = len(by_pair)
    return by_pair.std(axis=0, ddof=1) / sqrt(pairs) if pairs > 1 else np.full(by_pair.shape[1], nan)


def _within(squares: Floats, size: Floats, code: np.ndarray, freedom: int) -> Floats:
    """Return the mean square within each document; one with a single question takes the others' mean."""
    many = size > 1
    sums = np.bincount(code, weights=squares, minlength=len(size))
    found = np.where(many, sums / np.maximum((size - 1) * freedom, 1), 0.0)
    if many.any() and not many.all():
        found[~many] = np.average(found[many], weights=size[many] - 1)
    return found


def _independence(between: float, spread: Floats, draws: int) -> tuple[float, float]:
    """Return how much more the whole mean varies over draws than independent documents would, with its p value."""
    from scipy.special import fdtrc  # scipy.stats takes most of a second to import

    whole = spread.sum()
    if not whole > 0:
        return nan, nan
    ratio = between / whole
    return float(ratio), float(fdtrc(draws - 1, (draws - 1) * whole**2 / (spread**2).sum(), ratio))
