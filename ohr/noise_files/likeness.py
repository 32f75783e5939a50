"""Which noise two texts of the same pages look like: analysis by synthesis.

A noise that ohr has is put on the clean pages at several strengths, and what it changed is compared with what the
noisy side has changed, by the counts of `page_changes`. The strength is fitted on one half of the documents and judged
on the other. The pages are the same on both sides, so that a noise which is the right one differs by its draws alone:
their spread, over seeds and within documents, is the unit of the distance.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ohr.contracts import Page, PageOrder, Treatment
from ohr.metrics.dose import Floats
from ohr.noise_files.page_changes import FEATURES, LEAST, PAGES, CleanPage, changes, clean_pages, sizes
from ohr.registry import Registry
from ohr.statistics.clusters import Clusters, pooled
from ohr.statistics.derived import of_means
from ohr.statistics.estimate import Estimate, quantile
from ohr.steps.documents.treat import TreatedPages, treat

FALSE = 0.01
"""Chance at most, over all features together, that the noise which was used is called not matched."""

VARIANTS: Mapping[str, Sequence[Mapping[str, object]]] = {
    "formatting": [{"markdown": share} for share in (0.5, 1.0, 0.0)],
    "channel": [{"profile": name} for name in ("tesseract", "rapidocr")],
    "table_format": [{"to": name} for name in ("html", "latex", "markdown")],
    "drop_pages": [{"numbers": name} for name in ("source", "place")],
    "double_pages": [{"numbers": "place"}],
    "shuffle_pages": [{"numbers": "place"}],
}
"""Fields of which several values are tried, by kind. Where pages keep the numbers of their source, those that come
twice or in another order cannot be seen in a folder of numbered pages."""

SCAN = (0.05, 0.2, 0.4, 0.7, 1.0)
"""Strengths that each variant is tried at; between them its counts are interpolated."""

_NEAR = 0.02
"""Distance of strengths between which interpolation is good enough."""
_SEEDS, _JUDGES = (70_001, 70_002), (70_011, 70_012, 70_013, 70_014)
"""Seeds of the fit and of the test; no one else's noise is likely to be drawn by them."""
_STEPS = np.linspace(0, 1, 1001)
_FIRST_PAGES = 60
"""Pages of the first look, which chooses among the variants of a kind."""
_PROBE, _OFF, _TURNS = 0.3, 0.05, 3
"""Rate at which parts are tried alone, share of the largest rate below which a part is off, and turns of mixing."""
_SUBSTANTIAL = 0.1
"""Share of all that has changed, from which on a part's rate is known well."""
_AS_NEAR = 2.0
"""Distance by which a part must bring the noise nearer to be kept: two features off by 1.3 standard deviations."""


@dataclass(frozen=True)
class Twin:
    """A document: its clean pages, and the texts of the noisy side by page."""

    name: str
    pages: Sequence[CleanPage]
    noisy: Mapping[int, str]

    @cached_property
    def size(self) -> Floats:
        """Divisors of the counts."""
        return sizes(self.pages)

    @cached_property
    def changed(self) -> Floats:
        """Counts of changes on the noisy side."""
        return changes(self.pages, self.noisy)

    def changed_by(self, noise: Treatment, seed: int) -> Floats:
        """Count what a noise changes."""
        pages = TreatedPages.of([Page(self.name, page.index, page.text) for page in self.pages])
        return changes(self.pages, {page.index: page.text for page in treat(pages, [noise], (), seed).pages})


@dataclass(frozen=True, slots=True)
class Likeness:
    """One noise, held against the noisy side.

    Args:
        noise: at the fitted strength.
        severity: the fitted strength with its 95% interval over documents; without one where they are fewer than 5.
        distance: the largest difference of a feature, in standard deviations of the noise's own draws.
        limit: the distance up to which a noise is matched.
        off: how many features are farther away than their limits.
        worst: the feature that fits worst, with its value on the noisy side (`seen`), and `under` the noise.
    """

    noise: Treatment
    severity: Estimate
    distance: float
    limit: float
    off: int
    worst: str
    seen: float
    under: float

    @property
    def matched(self) -> bool:
        """Whether the noise looks like the noisy side."""
        return self.distance <= self.limit


def candidates(registry: Registry) -> dict[str, list[Treatment]]:
    """Return the noises of texts and of whole pages that need no arguments, by kind, each in its variants."""
    by_kind: dict[str, list[Treatment]] = {}
    for kind, families in registry.treatments().items():
        for family in families:
            plugin: Any = registry.load(family, kind)
            needs = any(field.is_required() for field in plugin.model_fields.values())
            if plugin.purpose == "noise" and plugin.takes != "image" and plugin.knob and not needs:
                variants = VARIANTS.get(kind, [{}])
                by_kind[kind] = [plugin.model_validate({"kind": kind, **fields}) for fields in variants]
    return by_kind


def likenesses(
    twins: Sequence[Twin], noises: Mapping[str, Sequence[Treatment]], pages: int, said: Callable[[str], None]
) -> list[Likeness]:
    """Hold each kind of noise against twins; the best comes first.

    Args:
        twins: of at least four documents.
        noises: the variants of each kind.
        pages: about how many pages are compared; noise of whole pages is cheap, and is compared on all.
        said: is called with each kind when it is done.
    """
    judged = []
    for kind, variants in noises.items():
        mine = twins if isinstance(variants[0], PageOrder) else sampled(twins, pages)
        judged.append(_likeness(mine, variants))
        said(kind)
    return sorted(judged, key=_order)


def sampled(twins: Sequence[Twin], pages: int) -> list[Twin]:
    """Take documents with about so many pages, from all parts of the list."""
    count = sum(len(twin.pages) for twin in twins)
    step = max(1.0, count / max(pages, 1))
    chosen = sorted({int(place * step) for place in range(int(len(twins) / step) + 1)} & set(range(len(twins))))
    return [twins[place] for place in (chosen if len(chosen) >= 4 else range(len(twins)))]


def _likeness(twins: Sequence[Twin], variants: Sequence[Treatment]) -> Likeness:
    """Choose the variant on the documents of the fit, fit its strength there, and judge it on the others."""
    fit, test = twins[::2], twins[1::2]
    first = sampled(fit, _FIRST_PAGES)
    likeness = _judged(_Curve.of(fit, _nearest(first, variants), SCAN).refined(), test)
    if not likeness.matched:  # perhaps only some of its parts are on
        mixed = (_weighted(first, noise) for noise in variants if getattr(noise, "parts", tuple)())
        if mixtures := [noise for noise in mixed if noise is not None]:
            pruned = _pruned(first, _nearest(first, mixtures))
            likeness = min(likeness, _judged(_Curve.of(fit, pruned, SCAN).refined(), test), key=_order)
    return likeness


def _nearest(twins: Sequence[Twin], variants: Sequence[Treatment]) -> Treatment:
    if len(variants) == 1:
        return variants[0]
    return min(variants, key=lambda noise: _Curve.of(twins, noise, SCAN).best[1])


def _order(likeness: Likeness) -> tuple[int, float]:
    return likeness.off, likeness.distance / likeness.limit


@dataclass(frozen=True)
class _Curve:
    """Counts of changes under a noise, by its strength.

    Args:
        strengths: (n,) ascending from 0.
        counts: (n, seeds, documents, features).
    """

    twins: Sequence[Twin]
    noise: Treatment
    strengths: Floats
    counts: Floats

    @classmethod
    def of(cls, twins: Sequence[Twin], noise: Treatment, strengths: Sequence[float]) -> "_Curve":
        counts = np.array([_counts(twins, noise, strength, _SEEDS) for strength in strengths])
        return cls(twins, noise, np.append(0.0, strengths), np.concatenate([np.zeros_like(counts[:1]), counts]))

    def refined(self) -> "_Curve":
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
            counts = _counts(curve.twins, curve.noise, new, _SEEDS)[None]
            curve = replace(
                curve,
                strengths=np.insert(known, place, new),
                counts=np.concatenate([curve.counts[:place], counts, curve.counts[place:]]),
            )

    @cached_property
    def size(self) -> Floats:
        """(features,) what the counts are divided by."""
        return np.asarray(np.maximum(np.sum([twin.size for twin in self.twins], axis=0), 1))

    @cached_property
    def spread(self) -> Floats:
        """(steps, features) squared distance of two draws of the noise, at each of _STEPS."""
        variance = _between_seeds(self.counts).sum(axis=1)
        return self._along(variance * (1 + 1 / len(_SEEDS)) + LEAST**2)

    @cached_property
    def best(self) -> tuple[float, float]:
        """The strength at which the noise is nearest, and how far away it is there."""
        along = self._along(self.counts.mean(axis=1).sum(axis=1))
        seen = np.sum([twin.changed for twin in self.twins], axis=0)
        away = self._away(seen, along)
        return float(_STEPS[away.argmin()]), float(away.min())

    @property
    def at_last(self) -> float:
        """How far the noise is away at the largest of its strengths."""
        seen = np.sum([twin.changed for twin in self.twins], axis=0)
        place = int(np.searchsorted(_STEPS, self.strengths[-1] - 1e-9))
        return float(self._away(seen, self._along(self.counts.mean(axis=1).sum(axis=1)))[place])

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
        along = self._along(self.counts.mean(axis=1).sum(axis=1)) / self.size
        place = int(np.clip(round(strength * (len(_STEPS) - 1)), 10, len(_STEPS) - 11))
        return np.asarray((along[place + 10] - along[place - 10]) / (_STEPS[place + 10] - _STEPS[place - 10]))

    def _away(self, seen: Floats, under: Floats) -> Floats:
        """Return how far the noise is away at each strength; one feature that never fits does not decide."""
        return np.asarray(np.log1p((seen - under) ** 2 / self.spread).sum(axis=1))

    def _along(self, values: Floats) -> Floats:
        """Interpolate (n, features) values at _STEPS."""
        return np.array([np.interp(_STEPS, self.strengths, column) for column in values.T]).T


def _judged(curve: _Curve, test: Sequence[Twin]) -> Likeness:
    """Hold a noise at its fitted strength against documents that it was not fitted on."""
    severity = curve.severity()
    counts = _counts(test, curve.noise, severity.mean, _JUDGES)
    size = np.maximum(np.sum([twin.size for twin in test], axis=0), 1)
    seen = np.sum([twin.changed for twin in test], axis=0) / size
    under = counts.mean(axis=0).sum(axis=0) / size
    variance, df = pooled(list(_between_seeds(counts)), np.full(len(test), len(_JUDGES) - 1.0))
    error = np.nan_to_num(severity.se)  # what the fitted strength may be wrong by
    drawn = (variance * (1 + 1 / len(_JUDGES)) + LEAST**2) / size**2
    total = drawn + (curve.slope(severity.mean) * error) ** 2
    away = np.abs(seen - under) / np.sqrt(total)
    limit = quantile(1 - FALSE / 2 / len(FEATURES), df)
    place = int(np.argmax(away / limit))
    noise, off = _at(curve.noise, severity.mean), int((away > limit).sum())
    distance, bound, *values = (float(each[place]) for each in (away, limit, seen, under))
    return Likeness(noise, severity, distance, bound, off, FEATURES[place], *values)


def _weighted(twins: Sequence[Twin], noise: Any) -> Treatment | None:
    """Find the weights of a noise's parts: what each changes alone is share_of_mixture until it is what has changed.

    Parts may share their units, so that weights do not add up: they are corrected by what the mixture changes.
    """
    from scipy.optimize import nnls

    parts = noise.parts()
    alone = np.array([_total(twins, noise.only([part]), _PROBE) for part in parts]) / _PROBE
    seen = np.sum([twin.changed for twin in twins], axis=0)[len(PAGES) :]
    scale = 1 / (np.sqrt(alone.max(axis=0) + seen) + LEAST[len(PAGES) :])
    rates = np.full(len(parts), _PROBE)
    share_of_seen = nnls((alone * scale).T, seen * scale)[0]
    for _ in range(_TURNS):
        share_of_mixture = nnls((alone * scale).T, _total(twins, _mixture(noise, rates), float(rates.max())) * scale)[0]
        rates = np.clip(rates * (share_of_seen + 1e-6) / (share_of_mixture + 1e-6), 0, 1)
        amounts = rates * (alone * scale).sum(axis=1)
        # a part with few units says little about its rate, and is not what the others are measured by
        rates = np.minimum(rates, rates[amounts >= _SUBSTANTIAL * amounts.sum()].max(initial=0))
        rates[rates < _OFF * rates.max()] = 0
        if not rates.any():
            return None
    return _mixture(noise, rates)


def _pruned(twins: Sequence[Twin], noise: Any) -> Treatment:
    """Leave out each part, the weakest first, without which the noise is as near."""
    rates = np.array([noise.model_dump()["rules"][part] for part in noise.parts()]) * noise.rate
    best = _Curve.of(twins, noise, (noise.rate,)).at_last
    for place in np.argsort(rates):
        less = np.where(np.arange(len(rates)) == place, 0, rates)
        if less.any():
            away = _Curve.of(twins, _mixture(noise, less), (float(less.max()),)).at_last
            if away < best + _AS_NEAR:
                rates, best = less, min(away, best)
    return _mixture(noise, rates)


def _mixture(noise: Any, rates: Floats) -> Treatment:
    """Return a noise with these rates of its parts, at the largest of them."""
    weights = dict(zip(noise.parts(), (rates / rates.max()).round(2).tolist(), strict=True))
    fields = {**noise.model_dump(), "rules": {name: weight for name, weight in weights.items() if weight}}
    mixed: Treatment = type(noise).model_validate({**fields, noise.knob: float(rates.max())})
    return mixed


def _total(twins: Sequence[Twin], noise: Treatment, strength: float) -> Floats:
    return np.asarray(_counts(twins, noise, strength, _SEEDS[:1])[0].sum(axis=0)[len(PAGES) :])


def _counts(twins: Sequence[Twin], noise: Treatment, strength: float, drawn: Sequence[int]) -> Floats:
    """Count what a noise changes at a strength: (seeds, documents, features)."""
    stage = _at(noise, strength)
    return np.array([[twin.changed_by(stage, seed) for twin in twins] for seed in drawn])


def _between_seeds(counts: Floats) -> Floats:
    """Return the variances over (..., seeds, documents, features): (..., documents, features)."""
    return np.asarray(counts.var(axis=-3, ddof=1))


def _at(noise: Treatment, strength: float) -> Treatment:
    return noise.model_copy(update={noise.knob: strength})


def twins_of(clean: Mapping[str, Sequence[Page]], noisy: Mapping[str, Sequence[Page]]) -> Iterator[Twin]:
    """Pair the documents of two sides by name; one that either side lacks, or that has no clean text, is left out."""
    for name in sorted(clean.keys() & noisy.keys()):
        pages = clean_pages(clean[name])
        if any(page.text.strip() for page in pages):
            yield Twin(name, pages, {page.index: page.text for page in noisy[name] if page.error is None})
