"""Doses that conditions are to have in place of a strength, and how their strengths were found."""

from dataclasses import dataclass
from typing import Literal

Measure = Literal["r_noise", "evidence_loss"]


@dataclass(frozen=True, slots=True)
class Target:
    """The dose that a condition is to have, in place of a strength.

    Args:
        source: the questions that count: `all`, an evidence source, or `multimodal`.
        family: `image_noise` or `text_noise`: the chain with the noise whose strength is looked for.
        place: its place there.
    """

    measure: Measure
    value: float
    source: str
    family: str
    place: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the strength of a condition was found.

    Args:
        noise: name of the entry.
        value: the strength, of field `knob`.
        achieved: the mean dose over `seeds` at that strength.
        questions: how many were counted.
        tolerance: how far from the target the dose may be.
        met: it is not farther.
        passes: (strength, dose) of each measurement, in order.
    """

    noise: str
    target: Target
    knob: str
    value: float
    achieved: float
    seeds: tuple[int, ...]
    questions: int
    tolerance: float
    met: bool
    passes: tuple[tuple[float, float], ...]
