"""A system's row among the published ones: of a run, and of results from elsewhere; as tables for readers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import Any

from ohr.contracts import SOURCES, Benchmark, Published, PublishedBenchmark, Tally
from ohr.errors import OhrError
from ohr.messages.wording import counted
from ohr.report.views.view import Cell, Interval, View
from ohr.results.derived.means import Breakdown
from ohr.results.run import Run
from ohr.results.tables.groups import ALL, STAGES, pipeline_names

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


CAUTION = "your rows, which have no rank: they are of other questions"
"""The warning where own rows have no rank."""
_OF_CLEAN = ". Compare `of clean`, the share of the ground truth's score under the same settings, where it is known"


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
    caution = CAUTION + (_OF_CLEAN if _has_truth(rows) else "")
    return replace(board, rows=tuple(rows), warnings=(caution, *board.warnings))


def _has_truth(rows: Iterable[Row]) -> bool:
    """Report whether own rows are shown as shares of the ground truth's."""
    return any(row.own and row.is_truth for row in rows)


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
    boards = []
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
            boards.append(Leaderboard(stage, metric, by, (*groups, last), ranked(rows, last), table))
    return boards


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
    boards = []
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
        boards.append(Leaderboard(stage, headline[0], "number", tuple(columns), rows, table, plain, _warnings(numbers)))
    return boards


def _warnings(numbers: Sequence[Published]) -> tuple[str, ...]:
    systems: dict[str, dict[str, None]] = {}
    for number in numbers:
        if number.warning:
            systems.setdefault(number.warning, {})[number.system] = None
    every = {number.system for number in numbers}
    return tuple(
        f"{'all published rows' if every == named_systems.keys() else ', '.join(named_systems)}: {reason}"
        for reason, named_systems in systems.items()
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


_COLUMNS = (
    "stage", "condition", "noise_type", "chunker", "retriever", "generator", "metric", "by", "group", "mean", "n",
    "documents",
)  # fmt: skip
_DIVIDED = ("evidence_source", "domain")


def run_leaderboards(run: Run, published: Sequence[Published]) -> list[Leaderboard]:
    """Rank the conditions of a run for every stage and pipeline.

    Args:
        published: what others published for its benchmark; their rows are in the tables of their stage.
    """
    headline = run.headlines
    rows = run.once(run.rows("summary", _COLUMNS))
    pipeline = pipeline_names(rows)
    scored = [row for row in rows if row["by"] in _DIVIDED and row["metric"] == headline.get(row["stage"])]
    scored += _lone_domain(run, scored)
    boards: list[Leaderboard] = []
    for stage in ("page", *STAGES):
        boards += protocol_boards(published, stage, protocol_rows(run, stage))
    for stage in STAGES:
        pipelines: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in scored:
            if row["stage"] == stage:
                pipelines[pipeline(row)].append(row)
        for setting, held in pipelines.items():
            boards += _tables(stage, headline[stage], setting, held, published)
    return boards


def protocol_rows(run: Run, stage: str) -> list[Row]:
    """Return a row for each condition and pipeline of a stage, with its means and aggregates by column."""
    scores: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    counted_in, unit = ("documents", "document") if stage == "page" else ("n", "question")
    rows = run.once(run.rows("summary", _COLUMNS, stage=stage))
    pipeline = pipeline_names(rows)
    for row in rows:
        place = row["condition"], pipeline(row)
        counts[place] = max(counts[place], row[counted_in])
        group = ALL if row["group"] == ALL else f"{row['by']}={row['group']}"
        scores[place][column(row["metric"], group)] = row["mean"]
    for row in run.once(run.rows_if_any("aggregates", stage=stage)):
        scores[row["condition"], pipeline(row)][column(row["name"], ALL)] = row["value"]
    return [
        Row(
            condition,
            f"{setting or 'the text of the pages'}; {counted(counts[condition, setting], unit)}",
            by_column,
        )
        for (condition, setting), by_column in scores.items()
    ]


def _lone_domain(run: Run, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows by domain where all questions have one, which has no rows of its own."""
    domains = {row["domain"] for row in run.rows("questions", ["domain"])}
    if len(domains) != 1:
        return []
    (domain,) = domains
    return [{**row, "by": "domain", "group": domain} for row in rows if row["group"] == ALL]


def _tables(
    stage: str, metric: str, setting: str, rows: Sequence[Mapping[str, Any]], published: Sequence[Published]
) -> list[Leaderboard]:
    """Rank the conditions of one pipeline; a table of its own where nothing is published for the stage."""
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        scores[row["condition"]][row["group"]] = row["mean"]
    truths = {row["condition"] for row in rows if row["noise_type"] == "none"}
    own = [Row(condition, setting, by_group, is_truth=condition in truths) for condition, by_group in scores.items()]
    groups = {by: list(dict.fromkeys(row["group"] for row in rows if row["by"] == by and row["n"])) for by in _DIVIDED}
    if placed := leaderboards(published, stage, own, groups):
        return placed
    sources = [group for group in groups["evidence_source"] if group not in ("multimodal", ALL)]
    return [
        Leaderboard(stage, metric, "evidence_source", (*(sources if sources[1:] else ()), ALL), ranked(own, ALL), "")
    ]


def leaderboard(boards: Iterable[Leaderboard]) -> list[View]:
    """Arrange leaderboards, best system first."""
    return [_view(board) for board in boards]


def _view(board: Leaderboard) -> View:
    own, published = ([row for row in board.rows if row.own is is_own] for is_own in (True, False))
    settings = [list(dict.fromkeys(row.setting for row in rows)) for rows in (own, published)]
    columns = {
        "#": True,
        (system := "system" if board.table else "condition"): True,
        "setting": max(map(len, settings)) > 1,
        "edit\ndistance": any(not isnan(row.edit_distance) for row in published),
        **dict.fromkeys(board.groups, True),
        "of clean": _has_truth(own),
    }
    lines = [
        {"#": str(rank) if row.ranked else "", system: row.system, "setting": row.setting}
        | {"edit\ndistance": row.edit_distance, **{group: _score(board, row, group) for group in board.groups}}
        | {"of clean": "" if isnan(row.of_truth) else f"{100 * row.of_truth:.0f}%"}
        for rank, row in enumerate(board.rows, 1)
    ]
    title = f"{board.stage.capitalize()}: {settings[0][0]}" if own and settings[0][0] else board.stage.capitalize()
    view = View.whole(title, " ".join(_notes(board, columns)), lines, [name for name in columns if columns[name]])
    marked = {place for place, row in enumerate(board.rows) if row.own} if own and published else ()
    return replace(view, marked=frozenset(marked))


def _score(board: Leaderboard, row: Row, group: str) -> Cell:
    value = row.scores.get(group, nan)
    return value if group in board.numbers else Interval(value, is_share=True, digits=1)


def _notes(board: Leaderboard, columns: Mapping[str, bool]) -> Iterator[str]:
    by = "the benchmark's own numbers" if board.by == "number" else f"mean {board.metric} by {board.by}"
    best = f"{by[0].upper()}{by[1:].replace('_', ' ')}, best first"
    yield f"{best}; published rows from {board.table}; yours are marked." if board.table else f"{best}."
    if board.table:
        setting = next((row.setting for row in board.rows if not row.own), "")
        if setting and not columns["setting"]:
            yield f"Published: {setting}."
        yield "Rows compare only where questions, retrievers and generators are the same."
    yield from (f"Not to be compared: {warning}." for warning in board.warnings)
    if columns["of clean"]:
        yield "`of clean` is a row's share of the ground truth's score under its own settings."
    if MEAN in board.groups:
        yield "`mean` is that of the domains shown, in published rows too."
