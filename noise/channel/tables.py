"""A level as arrays, made once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .page import CLASSES, KINDS
from .profile import OPERATIONS, SIZES, Histogram, Level

Values = NDArray[np.float64]
LEAST_SPREAD = 1e-6
_MOST_HAZARD = 50.0


@dataclass(frozen=True, slots=True)
class Lengths:
    """A distribution of whole numbers."""

    value: NDArray[np.int64]
    upto: Values

    @classmethod
    def of(cls, histogram: Histogram) -> "Lengths":
        """Read a histogram; always 1 where nothing was counted."""
        value, count = np.array(histogram or ((1.0, 1),), dtype=float).T
        return cls(np.maximum(np.rint(value), 1).astype(np.int64), np.cumsum(count) / count.sum())

    def draw(self, draws: Values) -> NDArray[np.int64]:
        """Give lengths by inverse distribution."""
        place = np.searchsorted(self.upto, draws, side="right")
        made: NDArray[np.int64] = self.value[np.minimum(place, len(self.value) - 1)]
        return made


@dataclass(frozen=True, slots=True)
class Tables:
    """Rates of events, and what else a level says, as arrays.

    Args:
        lines: (KINDS, LINE_BINS) rates; `next_lines` chances of the same shape.
        units: (KINDS,) rates; `words` (CLASSES,) rates; `insertions` at the heads of lines and within them.
        place_spread: of lines, stretches and different words.
        page_spread: of lines, units by kind, and words by class.
        operations: (SIZES, OPERATIONS) running sums.
    """

    lines: Values
    next_lines: Values
    units: Values
    words: Values
    insertions: tuple[float, float]
    lengths: Values
    place_spread: Values
    page_spread: Values
    operations: Values
    word_runs: Lengths
    inserted: Lengths


_KNOWN: dict[int, tuple[Level, Tables]] = {}
_MOST_KNOWN = 2000


def tables(level: Level) -> Tables:
    """Give a level's arrays; they are kept by the level's identity, since it cannot be hashed."""
    found = _KNOWN.get(id(level))
    if found is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[id(level)] = (level, _made(level))  # holding the level keeps its identity its own
    return found[1]


def _made(level: Level) -> Tables:
    spread = level.spread
    units = np.array([spread.get(f"{kind}_units", 0.0) for kind in KINDS])
    classes = np.array([spread.get(name, 0.0) for name in CLASSES])
    places = np.array([spread[name] for name in ("line", "stretch", "type")])
    at_head, within = _rate(np.array(level.insertions)).tolist()
    return Tables(
        lines=_rate(np.array([level.lines[kind] for kind in KINDS]), spread["lines"]),
        next_lines=np.array([level.next_lines[kind] for kind in KINDS]),
        units=_rate(np.array([level.units.get(kind, 0.0) for kind in KINDS]), units),
        words=_rate(
            np.array([level.words.get(name, 0.0) for name in CLASSES]), (1 + classes) * np.prod(1 + places) - 1
        ),
        insertions=(at_head, within),
        lengths=np.array(level.lengths),
        place_spread=places,
        page_spread=np.concatenate([[spread["lines"]], units, classes]),
        operations=np.cumsum([[level.operations[size][name] for name in OPERATIONS] for size in SIZES], axis=1),
        word_runs=Lengths.of(level.word_runs),
        inserted=Lengths.of(level.inserted),
    )


def _rate(chance: Values, spread: Values | float = 0.0) -> Values:
    """Give the rate that has this chance when a gamma variable of mean 1 and variance `spread` multiplies it."""
    wide = np.maximum(spread, LEAST_SPREAD)
    made: Values = np.expm1(-wide * np.log1p(-chance)) / wide
    return np.minimum(made, _MOST_HAZARD)
