"""How near a noise comes to the noisy side of twins, by its strength."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ohr.contracts import Treatment
from ohr.metrics.dose import Floats
from ohr.noise_files.page_changes import FEATURES, LEAST
from ohr.noise_files.text_twins import Twin
from ohr.statistics.clusters import Clusters
from ohr.statistics.derived import of_means
from ohr.statistics.estimate import Estimate

_SCAN = (0.05, 0.2, 0.4, 0.7, 1.0)
"""Strengths that each variant is tried at; between them its counts are interpolated."""
SEEDS = range(70_001, 70_003)
"""Seeds of the first fit; no one else's noise is likely to be drawn by them."""
_MORE_SEEDS = range(70_101, 70_117)
"""Seeds of the last fit, where few seeds leave the strength less certain than _CERTAIN: sixteen add a sixteenth to the
variance of the noisy side's own draw, and two add half of it."""
_CERTAIN = 0.01
_AROUND = 0.15
"""Strengths on either side of the first fit that the last one looks at, unless its standard error asks for more."""

_NEAR = 0.02
"""Distance of strengths between which interpolation is good enough."""
_STEPS = np.linspace(0, 1, 1001)


@dataclass(frozen=True)
class Curve:
    """Counts of changes under a noise, by its strength.

    Args:
        strengths: (n,) ascending from 0.
        counts: (n, seeds, documents, features).
        seeds: by which the noise was drawn.
    """

    twins: Sequence[Twin]
    noise: Treatment
    strengths: Floats
    counts: Floats
    seeds: Sequence[int] = SEEDS

    @classmethod
    def of(
        cls, twins: Sequence[Twin], noise: Treatment, strengths: Sequence[float] = _SCAN, seeds: Sequence[int] = SEEDS
    ) -> "Curve":
        """Count what a noise changes at some strengths; at 0 it changes nothing."""
        counts = np.array([counts_under(twins, noise, strength, seeds) for strength in strengths])
        return cls(twins, noise, np.append(0.0, strengths), np.concatenate([np.zeros_like(counts[:1]), counts]), seeds)

    @classmethod
    def near(cls, twins: Sequence[Twin], noise: Treatment, first: Estimate) -> "Curve":
        """Count what a noise changes near the strength of a first fit, which was made on fewer documents."""
        error = first.se
        if np.isnan(error):  # too few documents to say how far away it may be
            return cls.of(twins, noise, seeds=_MORE_SEEDS).refined()
        reach = max(_AROUND, 3 * error)
        strengths = sorted({float(np.clip(first.mean + off, 0.02, 1)) for off in (-reach, 0, reach)})
        return cls.of(twins, noise, strengths, SEEDS if error <= _CERTAIN else _MORE_SEEDS)

    def refined(self) -> "Curve":
        """Return the curve with more strengths where the best one is."""
        curve = self
        while True:
            best, known = curve.best[0], curve.strengths
            place = min(max(int(np.searchsorted(known, best)), 1), len(known) - 1)
            low, high = known[place - 1], known[place]
            if high - low <= 2 * _NEAR:
                return curve
            # away from the ends, so that each new strength shortens what is left
            new = float(np.clip(best, low + (high - low) / 4, high - (high - low) / 4))
            counts = counts_under(curve.twins, curve.noise, new, curve.seeds)[None]
            curve = replace(
                curve,
                strengths=np.insert(known, place, new),
                counts=np.concatenate([curve.counts[:place], counts, curve.counts[place:]]),
            )

    @cached_property
    def precision(self) -> Floats | None:
        """(features, features) inverse covariance of what is compared; too few draws have none."""
        if len(self.seeds) < len(_MORE_SEEDS):
            return None
        drawn = self.counts[len(self.counts) // 2]
        off = (drawn - drawn.mean(axis=0)).reshape(-1, drawn.shape[-1])
        covariance = off.T @ off / (len(drawn) - 1)
        return np.asarray(np.linalg.inv(covariance * (1 + 1 / len(drawn)) + np.diag(LEAST**2)))

    @cached_property
    def size(self) -> Floats:
        """(features,) what the counts are divided by."""
        return np.asarray(np.maximum(np.sum([twin.size for twin in self.twins], axis=0), 1))

    @cached_property
    def spread(self) -> Floats:
        """(steps, features) squared distance of two draws of the noise, at each of _STEPS."""
        variance = self.counts.var(axis=1, ddof=1).sum(axis=1)
        return self._along(variance * (1 + 1 / len(self.seeds)) + LEAST**2)

    @cached_property
    def along(self) -> Floats:
        """(steps, features) mean counts of all documents, at each of _STEPS."""
        return self._along(self.counts.mean(axis=1).sum(axis=1))

    @cached_property
    def away(self) -> Floats:
        """(steps,) how far the noise is away at each of _STEPS."""
        return self._away(np.sum([twin.changed for twin in self.twins], axis=0), self.along)

    @property
    def best(self) -> tuple[float, float]:
        """The strength at which the noise is nearest, and how far away it is there."""
        return float(_STEPS[self.away.argmin()]), float(self.away.min())

    @property
    def at_last(self) -> float:
        """How far the noise is away at the largest of its strengths."""
        return float(self.away[int(np.searchsorted(_STEPS, self.strengths[-1] - 1e-9))])

    def severity(self) -> Estimate:
        """Return the best strength with its interval, each document left out in turn."""
        documents = np.array([twin.name for twin in self.twins])
        seen = np.array([twin.changed for twin in self.twins]).T
        by_document = self.counts.mean(axis=1)  # (n, documents, features)
        columns = np.concatenate([seen, by_document.transpose(0, 2, 1).reshape(-1, len(documents))])

        def best(means: Floats) -> Floats | float:
            if means.ndim > 1:
                return np.array([best(each) for each in means.T], dtype=float)
            sums = means * len(documents)
            along = self._along(sums[len(FEATURES) :].reshape(len(self.strengths), -1))
            return float(_STEPS[self._away(sums[: len(FEATURES)], along).argmin()])

        return of_means(columns, Clusters.of(documents), {"": best})[""]

    def slope(self, strength: float) -> Floats:
        """Return by how much the features rise with the strength, (features,)."""
        along = self.along / self.size
        place = int(np.clip(round(strength * (len(_STEPS) - 1)), 10, len(_STEPS) - 11))
        return np.asarray((along[place + 10] - along[place - 10]) / (_STEPS[place + 10] - _STEPS[place - 10]))

    def _away(self, seen: Floats, under: Floats) -> Floats:
        """Return how far the noise is away at each strength.

        Features count by what they say beyond the others (generalized least squares) where there are draws enough. With
        fewer, each counts by itself, and one that never fits does not decide.
        """
        off = seen - under
        if self.precision is None:
            return np.asarray(np.log1p(off**2 / self.spread).sum(axis=1))
        return np.asarray(((off @ self.precision) * off).sum(axis=1))

    def _along(self, values: Floats) -> Floats:
        """Interpolate (n, features) values at _STEPS."""
        return np.array([np.interp(_STEPS, self.strengths, column) for column in values.T]).T


def counts_under(twins: Sequence[Twin], noise: Treatment, strength: float, drawn: Sequence[int]) -> Floats:
    """Count what a noise changes at a strength: (seeds, documents, features)."""
    stage = noise.model_copy(update={noise.knob: strength})
    return np.array([[twin.changed_by(stage, seed) for twin in twins] for seed in drawn])
