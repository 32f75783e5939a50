"""Do ranks survive? Systems by each version and conversion of a number, and the pairs that change places."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import isnan, nan

from ohr.contracts import Aggregate
from ohr.engine.ledger import Failure
from ohr.report.leaderboard.result_folders import failures_of
from ohr.report.views.view import Interval, View
from ohr.results.derived.aggregate_rows import difference
from ohr.results.run import Run
from ohr.results.score_arrays import CellScores, Questions, ScoreTable

_SMALLER_IS_BETTER = "_edit"
"""End of the names of distances."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A number of all systems by one version.

    Args:
        number, version: `teds` and `1.5`, of `teds@1.5`.
        values: by system, with intervals; those for which the number is undefined are missing.
        ranks: by system, from 1; equal values share the mean of their ranks.
    """

    number: str
    version: str
    values: dict[str, Interval]
    ranks: dict[str, float]


@dataclass(frozen=True, slots=True)
class Survival:
    """The agreement of two orders of systems, by the newest version and by another version or conversion.

    Args:
        tau: Kendall's tau-b of the two orders; nan with fewer than two systems.
        pairs: pairs of systems.
        swapped: those that change places.
        shown: those of them whose differences have intervals without 0 by both versions.
    """

    number: str
    versions: tuple[str, str]
    tau: float
    pairs: int
    swapped: tuple[tuple[str, str], ...]
    shown: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Ranks:
    """The orders of systems by each version, how each agrees with that of the newest one, and what failed."""

    ranked: Sequence[Ranked]
    survival: Sequence[Survival]
    failures: Sequence[Failure]


def ranks(run: Run, aggregates: Sequence[Aggregate]) -> Ranks:
    """Rank the systems of a run by each of a benchmark's numbers on pages that has a version."""
    scores, by_version = ScoreTable.of(run), {each.name: each for each in aggregates if "@" in each.name}
    cells = {place.condition: scores.read(place) for place in scores.of_stage("page")}
    ranked: dict[str, Ranked] = {}
    for row in run.rows("aggregates", stage="page"):
        number, _, version = row["name"].partition("@")
        if row["name"] in by_version and not isnan(row["value"]):
            mine = ranked.setdefault(row["name"], Ranked(number, version, {}, {}))
            mine.values[row["condition"]] = Interval.of(row, "value")
    for each in ranked.values():
        each.ranks.update(_order(each))
    same = defaultdict(list)
    for name, each in ranked.items():
        same[each.number].append((each, partial(_is_shown, by_version[name], cells, scores.questions)))
    return Ranks(
        [each for of in same.values() for each, _ in of],
        [_survival(_newest(of), other) for of in same.values() for other in of if other is not _newest(of)],
        failures_of(run),
    )


def _order(ranked: Ranked) -> dict[str, float]:
    from scipy.stats import rankdata

    sign = 1 if ranked.number.endswith(_SMALLER_IS_BETTER) else -1
    values = [sign * each.value for each in ranked.values.values()]
    return dict(zip(ranked.values, map(float, rankdata(values)), strict=True))


_Versioned = tuple[Ranked, Callable[[str, str], bool]]
"""A number by a version, and whether the difference of two systems is shown by it."""


def _newest(of: Sequence[_Versioned]) -> _Versioned:
    """Return the last version that is as published, with which all others are compared."""
    return max((each for each in of if "-" not in each[0].version), key=lambda each: each[0].version)


def _survival(first: _Versioned, second: _Versioned) -> Survival:
    from scipy.stats import kendalltau

    (one, is_shown), (other, is_shown_too) = first, second
    systems = [system for system in one.ranks if system in other.ranks]
    orders = [[ranked.ranks[system] for system in systems] for ranked in (one, other)]
    pairs = list(combinations(systems, 2))
    swapped = tuple((a, b) for a, b in pairs if (one.ranks[a] - one.ranks[b]) * (other.ranks[a] - other.ranks[b]) < 0)
    shown = tuple(pair for pair in swapped if is_shown(*pair) and is_shown_too(*pair))
    tau = float(kendalltau(*orders).statistic) if len(systems) > 1 else nan
    return Survival(one.number, (one.version, other.version), tau, len(pairs), swapped, shown)


def _is_shown(
    aggregate: Aggregate, cells: Mapping[str, CellScores], questions: Questions, first: str, second: str
) -> bool:
    """Report whether the interval of the difference of two systems leaves 0 out."""
    values = {system: dict(zip(cells[system].metrics, cells[system].values, strict=True)) for system in (first, second)}
    found = difference(aggregate, values[first], values[second], questions)
    return found.low > 0 or found.high < 0


def views(found: Ranks) -> list[View]:
    """Return the numbers of all systems with their ranks, and what is left of each order."""
    systems = list(dict.fromkeys(system for each in found.ranked for system in each.values))
    lines = [
        {"number": each.number, "version": each.version}
        | {
            system: f"{each.values[system].long()} ({each.ranks[system]:g})" if system in each.values else ""
            for system in systems
        }
        for each in found.ranked
    ]
    how = "With 95% intervals over documents, and the rank in parentheses; of an edit distance, the smaller is better."
    survived = [
        {
            "number": each.number,
            "versions": " and ".join(each.versions),
            "Kendall's tau": Interval(each.tau),
            "pairs swapped": f"{len(each.swapped)} of {each.pairs}",
            "shown by both": str(len(each.shown)),
            "which": "; ".join(f"{a}, {b}" for a, b in each.swapped),
        }
        for each in found.survival
    ]
    about = (
        "1 is the same order, -1 the reverse. A swap is shown where the paired difference has an interval without 0 by "
        "both versions, each by itself."
    )
    return [View.of("Ranks", how, lines), *([View.of("Do ranks survive?", about, survived)] if survived else [])]
