"""Which lines of a prediction are which blocks of the truth: OmniDocBench's quick match, and its match of tables."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ohr.text.distance import edits_between

from ..versions import Version
from .edit_windows import has_similar_part, most_edits
from .joined_runs import Costs, distances, joined_runs

_WORST = 0.7
"""A normalized distance above which what the assignment pairs is no pair."""

_CONTAINED_TENTHS = 4
_SURELY_IGNORED = 0.25
"""A normalized distance below which version 1.5 takes a line for a block that is not scored, such as a header."""


class Pair(NamedTuple):
    """Blocks of the truth and lines of the prediction that belong together; one side may be empty.

    `distance` is what the published code stores with a pair; 1 for what is left over, whatever its text. Scores are
    computed from the texts again.
    """

    truth: tuple[int, ...]
    predicted: tuple[int, ...]
    distance: float


Groups = dict[tuple[int, ...], list[int]]
"""Lines of a prediction -> blocks of the truth."""


def match(truth: Sequence[str], predicted: Sequence[str], version: Version) -> list[Pair]:
    """Match normalized texts, none of them empty.

    Blocks and lines are assigned to each other at the least total distance, lines that one block was split into
    joined before. A block without a line is looked for within all lines. What remains is paired as well as possible.
    """
    if list(truth) == list(predicted):  # as a ground truth that is scored itself: no cost is less than 0
        return [Pair((number,), (number,), 0) for number in range(len(truth))]
    simple = _simple(truth, predicted)
    return _matched(truth, predicted, version) if simple is None else simple


def match_beside_ignored(truth: Sequence[str], predicted: Sequence[str], ignored: Iterable[int]) -> list[Pair]:
    """Match as version 1.5 does: lines that are surely of ignored blocks are no candidates for the others."""
    if (simple := _simple(truth, predicted)) is not None:
        return simple
    aside = sorted(ignored)
    scored = sorted(set(range(len(truth))) - set(aside))
    blocks = [truth[number] for number in aside]
    rows, columns = (distances(blocks, predicted) < _SURELY_IGNORED).nonzero()
    taken = columns.tolist()  # a line may be close to several blocks, and is then listed several times
    last = {row: (place,) for place, row in enumerate(rows.tolist())}
    groups: Groups = {place: [row] for row, place in last.items()}
    pairs_aside = _completed(groups, blocks, [predicted[number] for number in taken], "1.5")
    rest = [number for number in range(len(predicted)) if number not in set(taken)]
    pairs = _matched([truth[number] for number in scored], [predicted[number] for number in rest], "1.5")
    return [*_renumbered(pairs, scored, rest), *_renumbered(pairs_aside, aside, taken)]


def assign(truth: Sequence[str], predicted: Sequence[str]) -> list[int | None]:
    """Return the line of each block at the least total normalized distance, or nothing: each line at most once."""
    return _assigned(distances(truth, predicted))


def _simple(truth: Sequence[str], predicted: Sequence[str]) -> list[Pair] | None:
    """Return the pairs where nothing is to be decided: one side is empty, or each has one text."""
    if not truth:
        return [Pair((), (number,), 1) for number in range(len(predicted))]
    if not predicted:
        return [Pair((number,), (), 1) for number in range(len(truth))]
    if len(truth) == len(predicted) == 1:
        return [Pair((0,), (0,), _distance(truth[0], predicted[0]))]
    return None


def _matched(truth: Sequence[str], predicted: Sequence[str], version: Version) -> list[Pair]:
    groups: Groups = {}
    costs = distances(truth, predicted)
    runs = joined_runs(truth, predicted, costs)
    joined = [" ".join(predicted[number] for number in run) for run in runs]
    if len(runs) < len(predicted):
        costs = distances(truth, joined)
    free = []
    for number, run in enumerate(_assigned(costs)):
        if run is None or costs[number, run] > _WORST:
            free.append(number)
        else:
            groups[runs[run]] = [number]
    placed: set[int] = set()
    for number, line in enumerate(predicted):
        inside = [block for block in free if _contained(truth[block], line)]
        if inside:
            groups.setdefault((number,), []).extend(block for block in inside if block not in placed)
            placed.update(inside)
    return _completed(groups, truth, predicted, version)


def _contained(block: str, line: str) -> bool:
    return has_similar_part(line, block, most_edits(len(block), _CONTAINED_TENTHS, inclusive=False))


def _assigned(costs: Costs) -> list[int | None]:
    """Return the column of each row at the least total cost, or nothing."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(costs)
    column_of = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    return [column_of.get(row) for row in range(len(costs))]


def _completed(groups: Groups, truth: Sequence[str], predicted: Sequence[str], version: Version) -> list[Pair]:
    """Return groups as pairs, and pair what is in none of them.

    Of lines that are left over, as many are paired as there are blocks; only where no block is left are all others
    together a pair of their own.
    """
    pairs = [_pair(tuple(sorted(blocks)), lines, truth, predicted) for lines, blocks in groups.items() if blocks]
    # The order of these sets decides ties: it is CPython's, by hash, as in the published code.
    blocks = list(set(range(len(truth))) - set().union(*groups.values()))
    lines = list(set(range(len(predicted))) - set().union(*groups))
    if not lines:
        # The old code lists a block without a line twice if every line has a block, so that it counts twice.
        twice = blocks if version == "1.0" else []
        return [*pairs, *(Pair((block,), (), 1) for block in (*twice, *sorted(blocks)))]
    if not blocks:
        return [*pairs, Pair((), tuple(lines), 1)]
    costs = distances(
        [truth[block] for block in blocks], [predicted[line] for line in lines], relative=version != "1.0"
    )
    line_of = {
        block: lines[column] for block, column in zip(blocks, _assigned(costs), strict=True) if column is not None
    }
    pairs += [Pair((block,), (line,), 1) for block, line in line_of.items()]
    return [*pairs, *(Pair((block,), (), 1) for block in sorted(blocks) if block not in line_of)]


def _pair(blocks: tuple[int, ...], lines: tuple[int, ...], truth: Sequence[str], predicted: Sequence[str]) -> Pair:
    joined = "".join(truth[block] for block in blocks)
    text = " ".join(predicted[line] for line in lines) if len(blocks) == 1 else predicted[lines[0]]
    return Pair(blocks, lines, _distance(joined, text))


def _distance(truth: str, predicted: str) -> float:
    return edits_between(truth, predicted) / max(len(truth), len(predicted))


def _renumbered(pairs: Iterable[Pair], blocks: Sequence[int], lines: Sequence[int]) -> list[Pair]:
    return [
        Pair(tuple(blocks[number] for number in truth), tuple(lines[number] for number in predicted), distance)
        for truth, predicted, distance in pairs
    ]
