"""Questions that share documents: means with each document left out, which every interval is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Array of numbers; undefined ones are nan."""

CORRELATION = 0.2
"""Intraclass correlation that is assumed where no score varies; with .2, .5 and 1 intervals at the edge covered the
true mean equally often, and .2 gives the shortest."""


@dataclass(frozen=True)
class Clusters:
    """Which questions share a document, and which documents a stratum.

    Args:
        documents: (n,) code of each question's document, from 0.
        strata: (documents,) code of each document's stratum.
        stratified: the strata are fixed, as the domains of a benchmark are; without, all documents are in one.
    """

    documents: NDArray[np.intp]
    strata: NDArray[np.intp]
    stratified: bool = False

    @classmethod
    def of(cls, documents: Sequence[str] | NDArray[Any], strata: Sequence[str] | NDArray[Any] | None = None) -> Self:
        """Number documents and strata; without strata all documents are in one."""
        _, first, code = np.unique(np.asarray(documents), return_index=True, return_inverse=True)
        if strata is None or not code.size:
            return cls(code.astype(np.intp), np.zeros(len(first), np.intp))
        codes = np.unique(np.asarray(strata)[first], return_inverse=True)[1].astype(np.intp)
        return cls(code.astype(np.intp), codes, stratified=len(np.unique(codes)) > 1)

    def among(self, kept: NDArray[np.intp]) -> "Clusters":
        """Number the documents and strata of some of the questions, by their places."""
        return Clusters.of(self.documents[kept], self.strata[self.documents[kept]] if self.stratified else None)

    @cached_property
    def counts(self) -> Floats:
        """Questions of each document."""
        return np.bincount(self.documents, minlength=len(self.strata)).astype(float)

    @cached_property
    def members(self) -> list[NDArray[np.intp]]:
        """The documents of each stratum.

        A single document says nothing of its stratum's variance: such strata are taken together as one (a lone one
        joins the stratum with the fewest documents).
        """
        domains = _joined(self.strata)
        return [np.flatnonzero(domains == domain) for domain in np.unique(domains)]

    @cached_property
    def effective(self) -> float:
        """Documents of one size that these are worth: G / (1 + CV^2), CV that of the questions per document.

        Source: Kish, Survey Sampling, 1965.
        """
        return effective_number(self.counts)

    @cached_property
    def weights(self) -> Floats:
        """(strata,) each one's share of the questions."""
        shares: Floats = np.array([self.counts[member].sum() for member in self.members]) / self.counts.sum()
        return shares

    @cached_property
    def freedom(self) -> Floats:
        """(strata,) degrees of freedom of each one's variance."""
        return np.array([effective_number(self.counts[member]) - 1 for member in self.members])

    @cached_property
    def independent(self) -> float:
        """Independent questions that these are worth at an intraclass correlation of CORRELATION."""
        n = self.counts.sum()
        return float(n / (1 + ((self.counts**2).sum() / n - 1) * CORRELATION))

    def sums(self, values: Floats) -> Floats:
        """Add up a (columns, n) table by document: (columns, documents)."""
        return np.stack([np.bincount(self.documents, row, len(self.strata)).astype(float) for row in values])

    def left_out(self, values: Floats) -> "LeftOut":
        """Average a (columns, n) table, whole and without each document; nothing in it may be nan.

        The strata keep their weights, their share of the questions, when a document is left out.
        """
        sums, counts = self.sums(values), self.counts
        whole, without = np.zeros(len(sums)), np.empty_like(sums)
        for weight, member in zip(self.weights, self.members, strict=True):
            total, size = sums[:, member].sum(axis=1), counts[member].sum()
            whole += weight * total / size
            rest = size - counts[member]
            means = np.divide(
                total[:, None] - sums[:, member], rest, out=np.zeros((len(sums), len(member))), where=rest > 0
            )
            without[:, member] = weight * (means - (total / size)[:, None])
        return LeftOut(self, whole, whole[:, None] + without)


@dataclass(frozen=True)
class LeftOut:
    """Means of some columns, whole and without each document.

    Args:
        whole: (columns,) means of all questions.
        without: (columns, documents) means without each document.
    """

    clusters: Clusters
    whole: Floats
    without: Floats

    def error(self, values: Floats) -> tuple[Floats, Floats]:
        """Return variances and degrees of freedom of quantities that were computed without each document.

        The variance is the delete-one-document jackknife's, summed over strata: (G - 1) / G * sum of (f_g - mean f)^2.
        The degrees of freedom are G* - 1, with strata Satterthwaite's.
        Source: Efron & Stein, Annals of Statistics 9(3), 1981; Satterthwaite, Biometrics Bulletin 2(6), 1946.

        Args:
            values: (quantities, documents), each a function of `without`.

        Returns:
            (quantities,) each.
        """
        return pooled([jackknife(values[:, member]) for member in self.clusters.members], self.clusters.freedom)

    def covariance(self, first: Floats, second: Floats) -> Floats:
        """Return the jackknife covariances of (quantities, documents) values with others, (quantities,)."""
        sums = np.zeros(len(first))
        for member in self.clusters.members:
            here, there = first[:, member], second[:, member]
            apart = (here - here.mean(axis=1, keepdims=True)) * (there - there.mean(axis=1, keepdims=True))
            sums += (len(member) - 1) / len(member) * apart.sum(axis=1)
        return sums

    def correlation(self, columns: NDArray[np.intp]) -> Floats:
        """Return the jackknife correlations of some columns, which must vary: (columns, columns)."""
        chosen = self.without[columns]
        rows = [self.covariance(np.broadcast_to(row, chosen.shape), chosen) for row in chosen]
        covariance = np.stack(rows)
        deviation = np.sqrt(np.diag(covariance))
        return np.asarray(covariance / np.outer(deviation, deviation))


def jackknife(without: Floats) -> Floats:
    """Return the delete-one variances of (quantities, documents) values, each computed without one document."""
    return np.asarray((without.shape[1] - 1) * without.var(axis=1))


def pooled(parts: Sequence[Floats], freedom: Floats) -> tuple[Floats, Floats]:
    """Add up independent variances, (parts,) of (quantities,), and combine their degrees of freedom."""
    table = np.stack(parts)
    variance = table.sum(axis=0)
    still = variance == 0
    shares = table / np.where(still, 1, variance)  # before squaring: the square of a tiny variance would be 0
    precision = np.where(still, 1, (shares**2 / freedom[:, None]).sum(axis=0))
    return variance, np.where(still, freedom.sum(), 1 / precision)


def effective_number(counts: Floats) -> float:
    """Return how many equally large groups these are worth: (sum of n)^2 / sum of n^2."""
    return float(counts.sum() ** 2 / (counts**2).sum())


def _joined(domains: NDArray[np.intp]) -> NDArray[np.intp]:
    sizes = np.bincount(domains)
    single = sizes == 1
    home = int(single.argmax())
    if single.sum() == 1 and len(sizes) > 1:  # nothing to join but a real domain: the smallest
        home = int(np.where(single, sizes.max() + 1, sizes).argmin())
    return np.where(single[domains], home, domains)
