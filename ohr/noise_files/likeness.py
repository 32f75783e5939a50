"""Which noise two texts of the same pages look like: analysis by synthesis.

A noise that ohr has is put on the clean pages at several strengths, and what it changed is compared with what the
noisy side has changed, by the counts of `page_changes`. The strength is fitted on one half of the documents and judged
on the other; that of a noise which is matched, or nearly, is then fitted again on all documents. The pages are the same
on both sides, so that a noise which is the right one differs by its draws alone: their spread, over seeds and within
documents, is the unit of the distance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ohr.contracts import PageOrder, Treatment
from ohr.noise_files.noise_parts import simplest, weighted
from ohr.noise_files.page_changes import FEATURES, LEAST
from ohr.noise_files.strength_curve import Curve, counts_under
from ohr.noise_files.text_twins import Twin
from ohr.registry import Registry
from ohr.statistics.clusters import pooled
from ohr.statistics.estimate import Estimate, quantile

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

_JUDGES = range(70_011, 70_027)
"""Seeds of the test. The first _FEW of them judge; all do where no more than _OFF features are off: four draws may all
miss what is rare, as the one table with a sign that its other notation must escape."""
_FEW, _OFF = 4, 2
_FIRST_PAGES = 60
"""Pages of the first look, which leaves out variants of a kind that are too far away."""
_NEAR = 1.5
"""Times the distance of the nearest variant. In six draws of channel noise on 60 pages the right profile was up to 1.1
times as far away as the wrong one, and after the fit on all pages always nearer, by a factor of two or three."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """One noise, held against the noisy side.

    Args:
        noise: at the fitted strength.
        severity: the fitted strength with its 95% interval over documents; without one where they are fewer than 5. It
            is that of all documents where the noise is matched, or nearly, of half of them elsewhere and in what
            follows.
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
        """Whether the noise looks like the noisy side; at severity 0 it is no noise, and pages have changed."""
        return self.distance <= self.limit and round(self.severity.mean, 3) > 0


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
    curves = (Curve.of(fit, noise).refined() for noise in _near(first, variants))
    likeness = _judged(min(curves, key=lambda curve: curve.best[1]), test)
    if not likeness.matched:  # perhaps only some of its parts are on
        mixed = (weighted(first, noise) for noise in variants if getattr(noise, "parts", tuple)())
        if mixtures := [noise for noise in mixed if noise is not None]:
            mixture = simplest(first, _near(first, mixtures)[0])
            likeness = min(likeness, _judged(Curve.of(fit, mixture).refined(), test), key=_order)
    return _on_all(likeness, twins) if likeness.off <= _OFF else likeness


def _on_all(likeness: Likeness, twins: Sequence[Twin]) -> Likeness:
    """Fit the strength of a noise that is matched, or nearly, on all documents; the verdict stays."""
    severity = Curve.near(twins, likeness.noise, likeness.severity).severity()
    noise = likeness.noise.model_copy(update={likeness.noise.knob: severity.mean})
    return replace(likeness, severity=severity, noise=noise)


def _near(twins: Sequence[Twin], variants: Sequence[Treatment]) -> list[Treatment]:
    """Return the variants between which a first look at some pages cannot decide, the nearest first."""
    if len(variants) == 1:
        return list(variants)
    distances = [Curve.of(twins, noise).best[1] for noise in variants]
    order = sorted(range(len(variants)), key=distances.__getitem__)
    return [variants[place] for place in order if distances[place] <= _NEAR * distances[order[0]]]


def _order(likeness: Likeness) -> tuple[int, float]:
    return likeness.off, likeness.distance / likeness.limit


def _judged(curve: Curve, test: Sequence[Twin]) -> Likeness:
    """Hold a noise at its fitted strength against documents that it was not fitted on."""
    severity = curve.severity()
    likeness = _held(curve, severity, test, _JUDGES[:_FEW])
    return _held(curve, severity, test, _JUDGES) if 0 < likeness.off <= _OFF else likeness


def _held(curve: Curve, severity: Estimate, test: Sequence[Twin], judges: Sequence[int]) -> Likeness:
    counts = counts_under(test, curve.noise, severity.mean, judges)
    size = np.maximum(np.sum([twin.size for twin in test], axis=0), 1)
    seen = np.sum([twin.changed for twin in test], axis=0) / size
    under = counts.mean(axis=0).sum(axis=0) / size
    variance, df = pooled(list(counts.var(axis=0, ddof=1)), np.full(len(test), len(judges) - 1.0))
    error = np.nan_to_num(severity.se)  # what the fitted strength may be wrong by
    drawn = (variance * (1 + 1 / len(judges)) + LEAST**2) / size**2
    total = drawn + (curve.slope(severity.mean) * error) ** 2
    away = np.abs(seen - under) / np.sqrt(total)
    limit = quantile(1 - FALSE / 2 / len(FEATURES), df)
    place = int(np.argmax(away / limit))
    noise, off = curve.noise.model_copy(update={curve.noise.knob: severity.mean}), int((away > limit).sum())
    distance, bound, *values = (float(each[place]) for each in (away, limit, seen, under))
    return Likeness(noise, severity, distance, bound, off, FEATURES[place], *values)
