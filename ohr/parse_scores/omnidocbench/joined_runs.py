"""Consecutive lines of a prediction that together are one block of the truth, as OmniDocBench joins them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from .edit_windows import has_similar_part, most_edits

_MATCHED = 0.25
"""A normalized distance below which a block and a line are a pair already, and are not joined with others."""

_CONTAINED_TENTHS = 6
"""Tenths of its length by which a line may differ from a part of the block that it is joined for."""

_MOST_CELLS = 2 * 10**11
"""Work to join the lines of one page, some ten seconds of a core, after which no more are joined; in characters times
characters. The published code stops after 30 seconds on far smaller pages, and matches those in a simpler way."""

_CELLS_OF_PARTS = 50
_CELLS_OF_STEP = 10**5
"""Work of looking for a similar part, and of each comparison, as measured on pages of short lines."""

_MOST_PAIRS = 2 * 10**8
"""Blocks times lines of one document: their costs are 1.6 GB, and are assigned in some ten seconds. 400 pages have some
14,000 blocks; the published code compares every pair, too."""

Costs = np.ndarray[Any, np.dtype[np.float64]]


class Run(NamedTuple):
    """Lines [start, end) of a prediction, and the normalized distance of their text from a block of the truth."""

    start: int
    end: int
    cost: float


def distances(truth: Sequence[str], predicted: Sequence[str], *, relative: bool = True) -> Costs:
    """Return the edit distance of each block (row) and each line (column), none of them empty; relative to the longer.

    Shape (blocks, lines).

    Raises:
        ValueError: there are too many pairs.
    """
    if not truth or not predicted:
        return np.zeros((len(truth), len(predicted)))
    if len(truth) * len(predicted) > _MOST_PAIRS:
        raise ValueError(
            f"a text of {len(predicted):,} blocks for one of {len(truth):,} is not scored: {_MOST_PAIRS:,} pairs are "
            "the most"
        )
    # each text once: engines that loop repeat a line thousands of times
    (rows, row_of), (columns, column_of) = (_different(texts) for texts in (truth, predicted))
    costs = cdist(rows, columns, scorer=Levenshtein.distance, dtype=np.int32).astype(float)
    if relative:
        costs /= np.maximum.outer([len(line) for line in rows], [len(line) for line in columns])
    return costs[np.ix_(row_of, column_of)]


def _different(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the different ones of some texts, and the number of each text among them."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return list(numbers), [numbers[text] for text in texts]


def joined_runs(truth: Sequence[str], predicted: Sequence[str], costs: Costs) -> list[tuple[int, ...]]:
    """Divide the lines of a prediction into runs that are matched as one; most are of a single line.

    For each block without a line close to it, the best run of lines that are no block's is a candidate; of candidates
    that overlap, those are taken whose mean cost is the least.
    """
    close = costs < _MATCHED
    search = _Search(predicted, set(np.flatnonzero(close.any(axis=0)).tolist()))
    candidates = [search.best(truth[row], costs[row]) for row in np.flatnonzero(~close.any(axis=1)).tolist()]
    ends = {run.start: run.end for run in _disjoint(filter(None, candidates))}
    divided, place = [], 0
    while place < len(predicted):
        end = ends.get(place, place + 1)
        divided.append(tuple(range(place, end)))
        place = end
    return divided


class _Search:
    """A search for the runs of lines that are closest to blocks.

    Args:
        predicted: All lines.
        taken: The numbers of those that no run may have.
    """

    def __init__(self, predicted: Sequence[str], taken: set[int]) -> None:
        self._predicted = predicted
        self._taken = taken
        self._cells_left = _MOST_CELLS
        self._lengths = [0] * len(predicted)
        """The length of the longest run that begins with each line, with the spaces between lines; 0 if taken."""
        length = -1
        for number in reversed(range(len(predicted))):
            length = -1 if number in taken else length + 1 + len(predicted[number])
            self._lengths[number] = max(length, 0)

    def best(self, block: str, costs: Costs) -> Run | None:
        """Return the first of the runs with the least cost; runs that are too short to be better are left out."""
        best = None
        for first, longest in enumerate(self._lengths):
            if longest and (best is None or 1 - longest / len(block) < best.cost):
                run = self._longest(block, first, float(costs[first]))
                best = run if best is None or run.cost < best.cost else best
        return best

    def _longest(self, block: str, first: int, cost: float) -> Run:
        """Join further lines while each is similar to a part of the block, and the text comes closer to it."""
        run = Run(first, first + 1, cost)
        text = self._predicted[first]
        while run.end < len(self._predicted) and run.end not in self._taken and len(text) <= len(block):
            added = self._predicted[run.end]
            text = f"{text} {added}"
            self._cells_left -= len(block) * (len(text) + _CELLS_OF_PARTS * len(added)) + _CELLS_OF_STEP
            if len(added) > len(block) or self._cells_left < 0:
                break
            cost = Levenshtein.distance(block, text) / max(len(block), len(text))
            if cost > run.cost or (
                run.end == first + 1 and not _contained(block, self._predicted[first], inclusive=True)
            ):
                break
            if not _contained(block, added, inclusive=False):
                break
            run = Run(first, run.end + 1, cost)
        return run


def _contained(block: str, line: str, *, inclusive: bool) -> bool:
    return has_similar_part(block, line, most_edits(len(line), _CONTAINED_TENTHS, inclusive=inclusive))


def _disjoint(candidates: Iterable[Run]) -> Iterator[Run]:
    """Yield the candidates to join: of each group in which each overlaps an earlier one, the cheapest disjoint ones."""
    end = group = 0
    numbered = []
    for run in sorted(candidates, key=lambda run: run.start):
        group += run.start >= end
        end = run.end if run.start >= end else max(end, run.end)
        numbered.append((group, run))
    for _, members in groupby(numbered, key=lambda member: member[0]):
        yield from _cheapest([run for _, run in members])


def _cheapest(group: Sequence[Run]) -> list[Run]:
    """Return the disjoint candidates with the least mean cost, among the sets that a greedy pass builds.

    Each candidate joins all sets that it does not overlap, or takes the place of the same lines at a higher cost;
    if there is none, it begins a set. Candidates are in the order of their first lines.
    """
    paths = [[group[0]]]
    for run in group[1:]:
        placed = False
        for path in paths:
            last = path[-1]
            if last[:2] == run[:2]:
                path[-1] = min(last, run, key=lambda each: each.cost)
                placed = True
            elif last.end <= run.start:
                path.append(run)
                placed = True
        if not placed:
            paths.append([run])
    return min(paths, key=lambda path: sum(run.cost for run in path) / len(path))
