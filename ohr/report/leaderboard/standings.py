"""A system's row among the published ones."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, isnan, nan

from ohr.contracts import SOURCES, Benchmark, Published, PublishedBenchmark, Tally
from ohr.errors import OhrError
from ohr.messages.wording import counted
from ohr.results.derived.means import Breakdown
from ohr.results.tables.groups import ALL

TRUTH = "Ground truth"
"""The name of the system without errors in the published tables."""


MEAN = "mean"
"""The column of means over the domains that are there."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a system's scores by group.

    Args:
        own: it was measured here, not published.
        is_truth: it is the ground truth, which makes no errors.
        ranked: it has a rank.
        of_truth: its score as a share of the ground truth's in the same table, or the same run; this compares systems
            that were asked different questions better than the score itself.
    """

    system: str
    setting: str
    scores: Mapping[str, float]
    edit_distance: float = nan
    own: bool = True
    is_truth: bool = False
    ranked: bool = True
    of_truth: float = nan


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """One table, best system first.

    Args:
        by: what its columns are: `evidence_source`, `domain`, or `number` for those of the benchmark's protocol.
        groups: the columns; where they are groups, the last one is `all`, or `mean`.
        numbers: columns that are no shares, and are printed as they are.
        warnings: why some published rows must not be compared.
    """

    stage: str
    metric: str
    by: str
    groups: tuple[str, ...]
    rows: tuple[Row, ...]
    table: str
    numbers: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


def published_on(benchmark: Benchmark) -> Sequence[Published]:
    """Return the numbers of others on a benchmark, if there are any."""
    return benchmark.published() if isinstance(benchmark, PublishedBenchmark) else ()


def tallies_of(benchmark: Benchmark) -> Sequence[Tally]:
    """Count the parts of a benchmark's copy, if published counts are known."""
    return benchmark.verify() if isinstance(benchmark, PublishedBenchmark) else ()


CAUTION = (
    "your rows, which have no rank: they are of other questions. Compare `of clean`, the share of the ground truth's "
    "score under the same settings, where it is known"
)
"""The warning where own rows have no rank."""


def fairly_ranked(boards: Iterable[Leaderboard], benchmark: Benchmark, questions: int) -> list[Leaderboard]:
    """Return tables in which own rows have no rank among published ones, unless these are of the same questions.

    Args:
        boards: with published rows, or without any `table`.
        benchmark: whose own count of questions says how many were published.
        questions: that were asked here.
    """
    boards, published = list(boards), [0]
    with suppress(OhrError):  # what cannot be counted is not known to be the same
        published = [tally.published for tally in tallies_of(benchmark) if tally.what == "questions"]
    if published == [questions]:
        return boards
    return [_own_last(board) if board.table and any(row.own for row in board.rows) else board for board in boards]


def _own_last(board: Leaderboard) -> Leaderboard:
    rows = sorted((replace(row, ranked=not row.own) for row in board.rows), key=lambda row: row.own)
    return replace(board, rows=tuple(rows), warnings=(CAUTION, *board.warnings))


def asked(found: Breakdown) -> str:
    """Return the questions of the means, as `676 questions of manual`: a published row has other questions."""
    domains = ", ".join(name for name in found["domain"] if name != ALL)
    return f"{counted(found['domain'][ALL].n, 'question')} of {domains}"


def leaderboards(
    published: Sequence[Published], stage: str, own: Sequence[Row], own_by: Mapping[str, Sequence[str]]
) -> list[Leaderboard]:
    """Place own rows into the published main tables of a stage: by evidence source, and by domain.

    A partial copy of a benchmark lacks domains. The table by domain then has only those that are there, and `mean`,
    the mean of these domains, in place of `all`: for the published rows too, which makes them comparable.

    Args:
        own: rows that were measured here; their scores hold every group of `own_by`.
        own_by: the own groups: `evidence_source` and `domain` to their names.
    """
    made = []
    main = [number for number in published if number.main]
    for table in dict.fromkeys(n.table for n in main if n.stage == stage):
        numbers = [n for n in main if n.table == table]
        if is_of_protocol([number for number in numbers if number.stage == stage]):
            continue
        groups = [group for group in dict.fromkeys(n.group for n in numbers if n.stage == stage) if group != ALL]
        by = "evidence_source" if set(groups) & set(SOURCES) else "domain"
        rows = [*_systems(numbers, stage), *own]
        last = ALL
        if by == "domain" and set(groups) - set(own_by[by]):
            groups, last = [group for group in groups if group in own_by[by]], MEAN
            rows = [_over(row, groups) for row in rows]
        if groups:
            metric = next(n.metric for n in numbers if n.stage == stage)
            made.append(Leaderboard(stage, metric, by, (*groups, last), ranked(rows, last), table))
    return made


def column(metric: str, group: str) -> str:
    """Name a column of a table of the benchmark's own: the metric, and the value of a group."""
    return metric if group == ALL else f"{metric} {group.partition('=')[2] or group}"


def is_of_protocol(numbers: Sequence[Published]) -> bool:
    """Report whether a table has several metrics, or groups of the benchmark's own."""
    metrics = {number.metric for number in numbers if number.metric != "edit_distance"}
    return len(metrics) > 1 or any("=" in number.group for number in numbers) or {n.group for n in numbers} == {ALL}


def protocol_boards(published: Sequence[Published], stage: str, own: Sequence[Row]) -> list[Leaderboard]:
    """Place own rows into the published main tables of a stage whose columns are the protocol's own numbers.

    Args:
        own: rows that were measured here; their scores are by the name that `column` gives.
    """
    made = []
    main = [number for number in published if number.main and number.stage == stage]
    for table in dict.fromkeys(number.table for number in main):
        numbers = [number for number in main if number.table == table]
        columns = {column(number.metric, number.group): number for number in numbers}
        mine = [row for row in own if set(columns) & {name for name, value in row.scores.items() if not isnan(value)}]
        if not (is_of_protocol(numbers) and mine):
            continue
        headline = [name for name, number in columns.items() if number.group == ALL][-1:] or list(columns)[-1:]
        rows = ranked([*_placed(numbers), *mine], headline[0])
        plain = frozenset(name for name, number in columns.items() if number.unit == "number")
        made.append(Leaderboard(stage, headline[0], "number", tuple(columns), rows, table, plain, _warnings(numbers)))
    return made


def _warnings(numbers: Sequence[Published]) -> tuple[str, ...]:
    """Return each reason not to compare published rows of a table, with their systems."""
    systems: dict[str, dict[str, None]] = {}
    for number in numbers:
        if number.warning:
            systems.setdefault(number.warning, {})[number.system] = None
    every = {number.system for number in numbers}
    return tuple(
        f"{'all published rows' if every == found.keys() else ', '.join(found)}: {reason}"
        for reason, found in systems.items()
    )


def _placed(numbers: Sequence[Published]) -> Iterable[Row]:
    """Yield the published rows of a table of the benchmark's own; a system has one for each setting."""
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for number in numbers:
        scores.setdefault((number.system, number.setting), {})[column(number.metric, number.group)] = number.value
    settings = Counter(system for system, _ in scores)
    return (
        Row(system if settings[system] == 1 else f"{system} ({setting})", setting, found, own=False)
        for (system, setting), found in scores.items()
    )


def _over(row: Row, groups: Sequence[str]) -> Row:
    """Add to a row the mean of some groups, each with the same weight."""
    values = [row.scores.get(group, nan) for group in groups]
    return replace(row, scores={**row.scores, MEAN: sum(values) / len(values)})


def ranked(rows: Sequence[Row], column: str) -> tuple[Row, ...]:
    """Return rows, the best first, each with its share of the ground truth's score, the published or the own one's."""
    truths = {row.own: row.scores.get(column, nan) for row in rows if row.is_truth}
    shares = (
        replace(row, of_truth=row.scores.get(column, nan) / truth if (truth := truths.get(row.own, nan)) else nan)
        for row in rows
    )

    def worst_last(row: Row) -> float:
        value = row.scores.get(column, nan)
        return inf if isnan(value) else -value

    return tuple(sorted(shares, key=worst_last))


def _systems(numbers: Sequence[Published], stage: str) -> Iterable[Row]:
    scores: dict[str, dict[str, float]] = {}
    for number in (n for n in numbers if n.stage == stage):
        scores.setdefault(number.system, {})[number.group] = number.value
    distances = {n.system: n.value for n in numbers if n.metric == "edit_distance"}
    setting = next(n.setting for n in numbers if n.stage == stage)
    for system, found in scores.items():
        yield Row(system, setting, found, distances.get(system, nan), own=False, is_truth=system == TRUTH)
