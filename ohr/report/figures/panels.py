"""Panels, curves and marks of a figure; nothing here draws or reads."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal

from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.report.headlines import METRICS
from ohr.results.derived.losses import Point
from ohr.results.tables.groups import ALL, STAGES
from ohr.statistics.estimate import FEW, rescaled

Axis = Literal["r_noise", "evidence_loss", "condition"]
"""The x axis of a figure: a dose; or, where there is none, the conditions one after the other."""
Which = Literal["floor", "ceiling"]

FOUND = "pages found"
ROWS = (STAGES[0], FOUND, *STAGES[1:])
"""Rows of a figure.

Where a retriever looks at page images, the pages found have a row of their own: the retrieval score is that of the text
handed on, which an OCR engine read from those pages, and says nothing about looking.
"""
COLUMNS = ("text", "multimodal", "reading_order", ALL)
"""Columns of a figure: evidence sources as the paper's Fig. 3 groups them."""
GROUP_NAMES = {"text": "Text", "multimodal": "Multimodal", "reading_order": "Reading order", "all": "All"}
METRIC_NAMES = {metric: name[0].upper() + name[1:] for metric, name in METRICS.items()}


@dataclass(frozen=True, slots=True, order=True)
class System:
    """The parts of the pipeline that a curve shows; empty where a stage has no such part.

    Args:
        is_agent: the retriever is an agent, which also answers: it looks the same in every stage.
    """

    chunker: str
    retriever: str
    generator: str
    is_agent: bool = False

    @classmethod
    def of(cls, point: Point, labels: Mapping[str, str], *, chunker: bool) -> "System":
        """Return the system of a point.

        Args:
            labels: of agents, by name.
            chunker: there are several, so that it is named.
        """
        named = point.chunker if chunker else ""
        if agent := labels.get(point.generator) or labels.get(point.retriever):
            return cls(named, agent, "", is_agent=True)
        return cls(named, point.retriever, point.generator)

    @property
    def search(self) -> str:
        """How passages are found: chunker and retriever, where there are several chunkers."""
        return " + ".join(part for part in (self.chunker, self.retriever) if part)


@dataclass(frozen=True, slots=True)
class Mark:
    """A point in a panel; scores in percent, nan where there is none.

    Args:
        point: what it shows.
        x: amount of noise, pooled over replicates.
        least: smallest amount of a single replicate, as `most` is the largest.
    """

    point: Point
    x: float
    least: float
    most: float

    @property
    def mean(self) -> float:
        """The mean score."""
        return 100 * self.point.mean

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the mean's interval; scores are within 0 and 100, and so is their interval."""
        return self._within(self.point.low, self.point.high)

    def joint(self, critical: float) -> tuple[float, float]:
        """Return the interval with a curve's critical value; nan where there is none."""
        point = self.point
        return self._within(*rescaled(point.mean, (point.low, point.high), point.df, point.interval, critical))

    def _within(self, low: float, high: float) -> tuple[float, float]:
        return max(100 * low, min(0.0, self.mean)), min(100 * high, max(100.0, self.mean))

    @property
    def has_interval(self) -> bool:
        """Report whether the documents were enough for an interval."""
        return not any(map(isnan, self.interval))

    @property
    def few(self) -> bool:
        """Report whether the documents are few."""
        return self.point.documents < FEW

    def bound(self, which: Which) -> float:
        """Return the floor or the ceiling."""
        return 100 * (self.point.floor if which == "floor" else self.point.ceiling)


@dataclass(frozen=True, slots=True)
class Curve:
    """One system under the levels of one noise; its marks by rising amount of noise.

    Args:
        critical: how many standard errors wide the band is that holds at all levels together; nan where unknown.
    """

    noise: str
    noise_type: str
    system: System
    marks: tuple[Mark, ...]
    critical: float = nan

    @property
    def joint(self) -> list[tuple[float, float]]:
        """The ends of the band that holds at all marks together."""
        return [mark.joint(self.critical) for mark in self.marks]

    @property
    def has_joint(self) -> bool:
        """Report whether there is such a band anywhere."""
        return not all(isnan(low) for low, _ in self.joint)


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything in one set of axes; curves of noise_type `none` are single marks on the clean text."""

    stage: str
    group: str
    metric: str
    curves: tuple[Curve, ...]

    @property
    def systems(self) -> list[System]:
        """The systems of the curves, in order of first appearance."""
        return list(dict.fromkeys(curve.system for curve in self.curves))

    @property
    def marks(self) -> list[Mark]:
        """Every mark of every curve."""
        return [mark for curve in self.curves for mark in curve.marks]


@dataclass(frozen=True, slots=True)
class Bound:
    """A floor or a ceiling in a panel.

    Args:
        x: amounts of noise; empty where it is the same at all of them, and `y` is one number.
        system: whose it is; None if it is that of every system in the panel, without a retriever if it is that of all
            systems with one generator.
    """

    which: Which
    system: System | None
    x: tuple[float, ...]
    y: tuple[float, ...]


class NothingToDraw(DataError):
    """A run has nothing that the asked-for figure could show."""


def bounds(panel: Panel, which: Which, step: float = 2.0) -> list[Bound]:
    """Return a panel's floors or ceilings, each once: level, unless a system's are more than `step` percent apart."""
    found: dict[tuple[object, ...], dict[System, Bound]] = defaultdict(dict)
    for system in panel.systems:
        for bound in _bounds(panel, system, which, step):
            found[bound.x, tuple(round(value, 1) for value in bound.y)][system] = bound
    everyone = set[System]().union(*found.values())
    return [replace(next(iter(same.values())), system=_owner(list(same), everyone)) for same in found.values()]


def _owner(systems: Sequence[System], everyone: Set[System]) -> System | None:
    """Name what systems with the same bound have in common: all of one system, only its generator, or nothing."""
    generators = {system.generator for system in systems}
    if set(systems) == everyone:
        return None
    if len(systems) == 1 or len(generators) > 1:
        return systems[0]
    return System("", "", generators.pop())


def _bounds(panel: Panel, system: System, which: Which, step: float) -> list[Bound]:
    curves = [[(mark.x, mark.bound(which)) for mark in curve.marks] for curve in panel.curves if curve.system == system]
    values = [value for curve in curves for _, value in curve if not isnan(value)]
    if not values:
        return []
    if max(values) - min(values) <= step:
        return [Bound(which, system, (), (sum(values) / len(values),))]
    long = [curve for curve in curves if len(curve) > 1] or curves
    return [Bound(which, system, tuple(x for x, _ in curve), tuple(y for _, y in curve)) for curve in long]


def counts(points: Sequence[Point], *, short: bool = False) -> str:
    """Count the questions and documents behind a panel, and how many questions failed at worst."""
    documents = _span([point.documents for point in points], "doc")
    if short:
        return f"n = {_span([point.n for point in points])}, {documents}"
    if failed := max(point.failed for point in points):  # no room is left for a noun
        return f"n = {_span([point.n for point in points])} (≤ {failed:,} failed), {documents}"
    return f"n = {_span([point.n for point in points], 'question')}, {documents}"


def _span(values: Sequence[int], thing: str = "") -> str:
    low, high = min(values), max(values)
    most = counted(high, thing) if thing else f"{high:,}"
    return f"{low:,}–{most}" if low < high else most
