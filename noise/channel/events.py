"""What may happen to a page: events in a random order that no rate changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .page import CLASSES, KINDS, PageWords
from .profile import OPERATIONS, SIZES, Histogram, Level

Model = Literal["channel", "independent", "scatter", "block"]
LINES, UNIT, RUN, INSERTION = range(4)
_MOST_HAZARD = 50.0
DELETE, GARBLE, RESPACE, REWRITE, MOVE = range(len(OPERATIONS))


@dataclass(frozen=True, slots=True)
class Events:
    """Candidates in the order in which they happen.

    Args:
        first: (events,) first word; `last` the one after the last, equal to `first` for an insertion.
        source: (events,) LINES, UNIT, RUN or INSERTION.
        operation: (events,) index into OPERATIONS; of no meaning for an insertion.
        draw: (events, 2) uniform draws for what the operation needs.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    source: NDArray[np.int64]
    operation: NDArray[np.int64]
    draw: NDArray[np.float64]


_Part = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]


def candidates(page: PageWords, level: Level, model: Model, silent: bool, rng: np.random.Generator) -> Events:
    """List all that may happen; every chance becomes a waiting time, and the shortest comes first.

    Args:
        silent: nothing is read in place of what is lost.
    """
    parts = list(_channel(page, level, rng) if model == "channel" else _baseline(page, model))
    first, last, hazard = (np.concatenate([part[column] for part in parts]) for column in range(3))
    source = np.repeat([part[3] for part in parts], [len(part[0]) for part in parts])
    clock, draw = rng.standard_exponential(len(first)), rng.random((len(first), 3))
    possible = np.flatnonzero(hazard > 0 if not silent else (hazard > 0) & (source != INSERTION))
    order = possible[np.argsort(clock[possible] / hazard[possible], kind="stable")]
    first, last = first[order], last[order]
    if silent or model != "channel":
        operation = np.full(len(order), DELETE)
    else:
        words = np.concatenate([[0], np.cumsum(page.counted)])
        operation = _operations(level, words[last] - words[first], source[order], draw[order, 2])
    return Events(first, last, source[order], operation, draw[order, :2])


def _baseline(page: PageWords, model: Model) -> Iterator[_Part]:
    if model == "block":
        yield page.line_start[:-1], page.line_start[1:], np.ones(len(page.line_kind)), LINES
    else:
        places = np.flatnonzero(page.counted)
        yield places, places + 1, np.ones(len(places)), RUN


def _channel(page: PageWords, level: Level, rng: np.random.Generator) -> Iterator[_Part]:
    places, heads = np.flatnonzero(page.counted), page.line_start[:-1]
    size = np.add.reduceat(page.counted.astype(np.int64), heads)
    begin, follow = (np.array([table[kind] for kind in KINDS]) for table in (level.lines, level.next_lines))
    hazard = np.where(size > 0, _hazard(begin, level.spread["lines"])[page.line_kind, page.line_bin], 0.0)
    hazard *= _gamma(level.spread["lines"], 1, rng)
    stops = np.flatnonzero(rng.random(len(size)) >= np.where(size > 0, follow[page.line_kind, page.line_bin], 0.98))
    stops = np.append(stops, len(size))
    reach = stops[np.searchsorted(stops, np.arange(len(size)), side="right")]  # the next line with which no run goes on
    yield heads, page.line_start[reach], hazard, LINES
    spread = np.array([level.spread.get(f"{kind}_units", 0.0) for kind in KINDS])
    by_kind = _hazard(np.array([level.units.get(kind, 0.0) for kind in KINDS]), spread)
    by_kind *= [_gamma(one, 1, rng)[0] for one in spread.tolist()]
    yield page.units[:, 0], page.units[:, 1], by_kind[page.units[:, 2]], UNIT
    by_class = _hazard(np.array([level.words.get(name, 0.0) for name in CLASSES]), _word_spread(level))
    reach = np.arange(len(places)) + _lengths(level.word_runs, rng.random(len(places)))
    line = page.line[places]
    ends = np.minimum(reach, np.searchsorted(line, line, side="right"))  # no run goes beyond its line
    yield places, places[ends - 1] + 1, by_class[page.cls[places]] * _local(page, level, rng)[places], RUN
    at_head, within = _hazard(np.array(level.insertions)).tolist()
    first_of_line = np.concatenate([[True], line[1:] != line[:-1]])
    yield places, places, np.where(first_of_line, at_head, within), INSERTION


def _local(page: PageWords, level: Level, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw how much likelier than usual each word is to be lost: by its line, its stretch, the word and its class."""
    stretch = page.stretch
    lines = _gamma(level.spread["line"], len(page.line_kind), rng)
    stretches = _gamma(level.spread["stretch"], int(stretch[-1]) + 1, rng)
    classes = np.array([_gamma(level.spread.get(name, 0.0), 1, rng)[0] for name in CLASSES])
    types = _gamma(level.spread["type"], int(page.type.max()) + 1, rng)
    lines *= np.array(level.lengths)[page.line_bin]
    made: NDArray[np.float64] = lines[page.line] * stretches[stretch] * types[page.type] * classes[page.cls]
    return made


def _gamma(spread: float, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from a gamma distribution of mean 1 and variance `spread`."""
    return rng.standard_gamma(1 / spread, count) * spread if spread > 0 else np.ones(count)


def _word_spread(level: Level) -> NDArray[np.float64]:
    """Give the variance of the factor of `_local`, by class."""
    places = np.prod([1 + level.spread[name] for name in ("line", "stretch", "type")])
    made: NDArray[np.float64] = np.array([(1 + level.spread.get(name, 0.0)) * places - 1 for name in CLASSES])
    return made


def _hazard(chance: NDArray[np.float64], spread: NDArray[np.float64] | float = 0.0) -> NDArray[np.float64]:
    """Give the rate that has this chance when a gamma variable of mean 1 and variance `spread` multiplies it."""
    wide = np.maximum(spread, 1e-6)
    made: NDArray[np.float64] = np.expm1(-wide * np.log1p(-chance)) / wide
    return np.minimum(made, _MOST_HAZARD)


def _lengths(histogram: Histogram, draws: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give lengths by inverse distribution; 1 where nothing was counted."""
    if not histogram:
        return np.ones(len(draws), dtype=np.int64)
    value, count = np.array(histogram, dtype=float).T
    place = np.searchsorted(np.cumsum(count) / count.sum(), draws, side="right")
    made: NDArray[np.int64] = np.rint(value[np.minimum(place, len(value) - 1)]).astype(np.int64)
    return np.maximum(made, 1)


def _operations(
    level: Level, words: NDArray[np.int64], source: NDArray[np.int64], draws: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Choose an operation for each event by its size."""
    shares = np.array([[level.operations[size][name] for name in OPERATIONS] for size in SIZES])
    row = np.where(source == LINES, SIZES.index("lines"), np.searchsorted((2, 10), words, side="right"))
    upto = np.cumsum(shares, axis=1)
    chosen: NDArray[np.int64] = (draws[:, None] * upto[row, -1:] >= upto[row]).sum(axis=1)
    return np.minimum(chosen, len(OPERATIONS) - 1)


def inserted(level: Level, draw: float) -> int:
    """Give how many words an insertion adds."""
    return int(_lengths(level.inserted, np.array([draw]))[0])
