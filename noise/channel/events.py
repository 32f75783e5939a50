"""What may happen to a page: events in a random order that no rate changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .page import KINDS, PageWords
from .profile import OPERATIONS, SIZES, Level
from .tables import LEAST_SPREAD as _LEAST_SPREAD
from .tables import Tables, tables

Model = Literal["channel", "independent", "scatter", "block"]
LINES, UNIT, RUN, INSERTION = range(4)
_MOST_CHANCE = 0.98
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

    A waiting time of 1 is what the chances were counted over. Losses go on beyond it until the page has lost its share;
    insertions do not, or a page that waits for its last words would fill with copies of those it has lost.

    Args:
        silent: nothing is read in place of what is lost.
    """
    parts = list(_channel(page, level, rng) if model == "channel" else _baseline(page, model))
    first, last, hazard = (np.concatenate([part[column] for part in parts]) for column in range(3))
    source = np.repeat([part[3] for part in parts], [len(part[0]) for part in parts])
    clock, draw = rng.standard_exponential(len(first)), rng.random((len(first), 3))
    added = (source == INSERTION) & (silent | (clock >= hazard))
    possible = np.flatnonzero((hazard > 0) & ~added)
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
    known, places, heads = tables(level), np.flatnonzero(page.counted), page.line_start[:-1]
    worded = np.add.reduceat(page.counted.astype(np.int64), heads) > 0
    page_factor = _gamma(known.page_spread, rng)
    by_line, by_kind, by_class = np.split(page_factor, [1, 1 + len(KINDS)])
    hazard = np.where(worded, known.lines[page.line_kind, page.line_bin], 0.0) * by_line
    goes_on = np.where(worded, known.next_lines[page.line_kind, page.line_bin], _MOST_CHANCE)
    stops = np.append(np.flatnonzero(rng.random(len(heads)) >= goes_on), len(heads))
    reach = stops[np.searchsorted(stops, np.arange(len(heads)), side="right")]  # the next line that ends a run
    yield heads, page.line_start[reach], hazard, LINES
    yield page.units[:, 0], page.units[:, 1], (known.units * by_kind)[page.units[:, 2]], UNIT
    reach = np.arange(len(places)) + known.word_runs.draw(rng.random(len(places)))
    line = page.line[places]
    ends = np.minimum(reach, np.searchsorted(line, line, side="right"))  # no run goes beyond its line
    hazard = ((known.words * by_class)[page.cls] * _local(page, known, rng))[places]
    yield places, places[ends - 1] + 1, hazard, RUN
    first_of_line = np.concatenate([[True], line[1:] != line[:-1]])
    yield places, places, np.where(first_of_line, *known.insertions), INSERTION


def _local(page: PageWords, known: Tables, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw how much likelier than usual each word is to be lost: by its line, its stretch, and the word."""
    stretch = page.stretch
    counts = (len(page.line_kind), int(stretch[-1]) + 1, int(page.type.max()) + 1)
    drawn = _gamma(np.repeat(known.place_spread, counts), rng)
    lines, stretches, types = np.split(drawn, np.cumsum(counts)[:-1])
    made: NDArray[np.float64] = (
        (lines * known.lengths[page.line_bin])[page.line] * stretches[stretch] * types[page.type]
    )
    return made


def _gamma(spread: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from gamma distributions of mean 1 and these variances."""
    wide = np.maximum(spread, _LEAST_SPREAD)
    return rng.standard_gamma(1 / wide) * wide


def _operations(
    level: Level, words: NDArray[np.int64], source: NDArray[np.int64], draws: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Choose an operation for each event by its size."""
    upto = tables(level).operations
    row = np.where(source == LINES, SIZES.index("lines"), np.searchsorted((2, 10), words, side="right"))
    chosen: NDArray[np.int64] = (draws[:, None] * upto[row, -1:] >= upto[row]).sum(axis=1)
    return np.minimum(chosen, len(OPERATIONS) - 1)


def inserted(level: Level, draw: float) -> int:
    """Give how many words an insertion adds."""
    return int(tables(level).inserted.draw(np.array([draw]))[0])
