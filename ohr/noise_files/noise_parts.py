"""Which parts of a noise are on, and at which rates, where the whole noise does not look like the noisy side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ohr.contracts import Treatment
from ohr.metrics.dose import Floats
from ohr.noise_files.page_changes import LEAST, PAGES
from ohr.noise_files.strength_curve import SEEDS, Curve, counts_under
from ohr.noise_files.text_twins import Twin

_PROBE, _OFF, _TURNS = 0.3, 0.05, 3
"""Rate at which parts are tried alone, share of the largest rate below which a part is off, and turns of mixing."""
_SUBSTANTIAL = 0.1
"""Share of all that has changed, from which on a part's rate is known well."""
_AS_NEAR = 2.0
"""Distance by which a part must bring the noise nearer to be kept: two features off by 1.3 standard deviations."""


def weighted(twins: Sequence[Twin], noise: Any) -> Treatment | None:
    """Find the weights of a noise's parts: what each changes alone is mixed until it is what has changed.

    Parts may share their units, so that weights do not add up: they are corrected by what the mixture changes.
    """
    from scipy.optimize import nnls

    alone, seen, scale = _alone(twins, noise)
    rates = np.full(len(alone), _PROBE)
    share_of_seen = nnls(alone.T, seen)[0]
    for _ in range(_TURNS):
        share_of_mixture = nnls(alone.T, _total(twins, _mixture(noise, rates), float(rates.max())) * scale)[0]
        rates = np.clip(rates * (share_of_seen + 1e-6) / (share_of_mixture + 1e-6), 0, 1)
        amounts = rates * alone.sum(axis=1)
        # a part with few units says little about its rate, and is not what the others are measured by
        rates = np.minimum(rates, rates[amounts >= _SUBSTANTIAL * amounts.sum()].max(initial=0))
        rates[rates < _OFF * rates.max()] = 0
        if not rates.any():
            return None
    return _mixture(noise, rates)


def simplest(twins: Sequence[Twin], noise: Any) -> Treatment:
    """Leave out each part, the weakest first, without which the noise is as near; then level what is left.

    The strength is the largest rate of a part, and one with few units may be too large by chance. So a part gets the
    rate of the one that changes most where the noise is as near with it.
    """
    rates = np.array([noise.model_dump()["rules"][part] for part in noise.parts()]) * noise.rate
    best = Curve.of(twins, noise, (noise.rate,)).at_last
    amounts = rates * _alone(twins, noise)[0].sum(axis=1)
    for value, order in ((0.0, np.argsort(rates)), (rates[amounts.argmax()], np.argsort(amounts))):
        for place in order:
            other = np.where(np.arange(len(rates)) == place, value, rates)
            if rates[place] not in (0, value) and other.any():
                away = Curve.of(twins, _mixture(noise, other), (float(other.max()),)).at_last
                if away < best + _AS_NEAR:
                    rates, best = other, min(away, best)
    return _mixture(noise, rates)


def _alone(twins: Sequence[Twin], noise: Any) -> tuple[Floats, Floats, Floats]:
    """Return what parts change alone, by their rate (parts, features), and what has changed; and what scales both."""
    alone = np.array([_total(twins, noise.only([part]), _PROBE) for part in noise.parts()]) / _PROBE
    seen = np.sum([twin.changed for twin in twins], axis=0)[len(PAGES) :]
    scale = 1 / (np.sqrt(alone.max(axis=0) + seen) + LEAST[len(PAGES) :])
    return alone * scale, seen * scale, scale


def _mixture(noise: Any, rates: Floats) -> Treatment:
    """Return a noise with these rates of its parts, at the largest of them."""
    weights = dict(zip(noise.parts(), (rates / rates.max()).round(2).tolist(), strict=True))
    fields = {**noise.model_dump(), "rules": {name: weight for name, weight in weights.items() if weight}}
    mixed: Treatment = type(noise).model_validate({**fields, noise.knob: float(rates.max())})
    return mixed


def _total(twins: Sequence[Twin], noise: Treatment, strength: float) -> Floats:
    return np.asarray(counts_under(twins, noise, strength, SEEDS[:1])[0].sum(axis=0)[len(PAGES) :])
