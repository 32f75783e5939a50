"""Attribution: what each part of a noise costs, found by leaving it out, or as its Shapley share at an equal dose.

Levels with some of the parts are knowledge bases like any other: they are made, searched and answered as the rest of
the run is. A table has the cost of each part, from the scores of these levels.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import factorial, isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from ohr import seeds
from ohr.results.derived.dose_rows import Counts, dose_rows
from ohr.results.run import Run
from ohr.results.score_arrays import CellScores, Floats, Part, Place, Questions, ScoreTable, over_draws
from ohr.results.tables.groups import GROUPS
from ohr.results.tables.table_files import Tables, export_csv
from ohr.spec.file_keys import Attribution
from ohr.spec.model import KnowledgeBase, Parts, Spec, parts, with_only
from ohr.statistics.estimate import Estimate, quantile
from ohr.statistics.intervals import differences
from ohr.statistics.variance import order_error

EXACT = 7
"""So many rules have at most 128 coalitions; of more a sample of orders is taken, and its error is reported."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A knowledge base with some parts of another one's noise.

    Args:
        of: the level that it is a part of, without the replicate's number.
        kept: names of the parts that it has.
        method: what it is made for.
    """

    of: str
    kept: Parts
    method: str


def with_trials(spec: Spec) -> tuple[Spec, dict[str, Trial]]:
    """Add the knowledge bases that a spec's attribution needs; gives them by name."""
    asked = spec.attribution
    if asked is None:
        return spec, {}
    bases = list(spec.knowledge_bases)
    trials: dict[str, Trial] = {}
    for base in spec.knowledge_bases:
        level = base.condition
        if level in asked.of:
            for method, kept in _needed(spec, asked, base):
                trial = with_only(base, kept, equal_dose=method == "shapley")
                name = f"{level} {method} {'+'.join(sorted(kept)) or 'nothing'}"
                trial = replace(trial, condition=name, noise=name, retrievers=base.retrievers)
                if trial.name not in trials:
                    trials[trial.name] = Trial(level, kept, method)
                    bases.append(trial)
    return replace(spec, knowledge_bases=tuple(bases)), trials


def _needed(spec: Spec, asked: Attribution, base: KnowledgeBase) -> Iterator[tuple[str, Parts]]:
    names = tuple(part.name for part in parts(base))
    if "leave_one_out" in asked.methods:
        for name in names:
            yield "leave_one_out", frozenset(names) - {name}
    if "shapley" in asked.methods:
        for coalition in coalitions(names, asked.permutations, spec.seed):
            if coalition != frozenset(names):
                yield "shapley", coalition


def coalitions(names: Sequence[str], permutations: int, seed: int) -> list[Parts]:
    """List the sets of parts whose worth is needed: all of them, or those along some orders."""
    if len(names) <= EXACT:
        return [frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size)]
    along = {frozenset(order[:size]) for order in orders(names, permutations, seed) for size in range(len(order) + 1)}
    return sorted(along, key=lambda chosen: (len(chosen), sorted(chosen)))


def orders(names: Sequence[str], permutations: int, seed: int) -> list[tuple[str, ...]]:
    """Draw orders of the parts in pairs, each with its reverse, which halves the error and more."""
    rng, drawn = seeds.generator(seed, "shapley", *names), []
    for _ in range((permutations + 1) // 2):
        order = tuple(names[place] for place in rng.permutation(len(names)))
        drawn += [order, order[::-1]]
    return drawn[:permutations]


def weights(names: Sequence[str], permutations: int, seed: int) -> dict[str, dict[Parts, float]]:
    """Return each part's share as a weighted sum of the worth of coalitions."""
    shares: dict[str, dict[Parts, float]] = {name: defaultdict(float) for name in names}
    if len(names) <= EXACT:
        n = len(names)
        for name in names:
            others = [other for other in names if other != name]
            for size in range(n):
                share = factorial(size) * factorial(n - size - 1) / factorial(n)
                for chosen in combinations(others, size):
                    shares[name][frozenset(chosen) | {name}] += share
                    shares[name][frozenset(chosen)] -= share
        return shares
    return _along(names, orders(names, permutations, seed))


def weights_by_pair(names: Sequence[str], permutations: int, seed: int) -> list[dict[str, dict[Parts, float]]]:
    """Return `weights` by each pair of an order and its reverse, from which their error is estimated.

    Edge cases: none where the shares are exact.
    """
    if len(names) <= EXACT:
        return []
    drawn = orders(names, permutations, seed)
    return [_along(names, drawn[place : place + 2]) for place in range(0, len(drawn) - 1, 2)]


def _along(names: Sequence[str], drawn: Sequence[tuple[str, ...]]) -> dict[str, dict[Parts, float]]:
    """Return each part's mean contribution along some orders, as a weighted sum of the worth of coalitions."""
    shares: dict[str, dict[Parts, float]] = {name: defaultdict(float) for name in names}
    for order in drawn:
        for size, name in enumerate(order):
            shares[name][frozenset(order[: size + 1])] += 1 / len(drawn)
            shares[name][frozenset(order[:size])] -= 1 / len(drawn)
    return shares


MEASURED = ("attribution_scores", "attribution_pages")
"""Tables that a run with attribution writes beside those of every run."""
DERIVED = ("attribution", "attribution_doses")
"""Tables that follow from these; each has a copy as CSV."""

_MORE_IS_WORSE = ("damaged", "damaged_content")

Terms = Mapping[str, Mapping[Parts, float]]
"""Part to the weight of each set of parts in its cost."""


def derive(
    folder: Path,
    spec: Spec,
    levels: Mapping[str, KnowledgeBase],
    trials: Mapping[str, Trial],
    counts: Mapping[str, Counts],
) -> None:
    """Make the tables of attribution from the measured ones of a folder, also as CSV.

    Args:
        folder: of the run.
        spec: what `attribution` asks for.
        levels: a knowledge base of each level, by condition.
        trials: by the name of the knowledge base.
        counts: of the trials' knowledge bases, by name.

    Raises:
        DataError: a table cannot be read or written.
    """
    asked = spec.attribution
    if asked is None:
        return
    whole = ScoreTable.of(Run(folder))
    partial = ScoreTable(folder / "attribution_scores.parquet", whole.questions)
    about = {place: trials[partial.bases(place)[0][0]] for place in partial.places}
    with Tables(folder, DERIVED) as tables:
        tables.append_rows("attribution_doses", dose_rows(partial, folder / "attribution_pages.parquet", counts))
        for level, method in product(asked.of, asked.methods):
            terms = _terms(asked, method, tuple(part.name for part in parts(levels[level])), spec.seed)
            for place in (place for place in whole.places if place.condition == level):
                others = ((about[other], other) for other in partial.pipelines.get(place.pipeline, ()))
                tried = {t.kept: other for t, other in others if (t.of, t.method) == (level, method)}
                cells = {kept: partial.read(other) for kept, other in tried.items()}
                pairs = _pairs(asked, method, terms, spec.seed)
                rows = _costs(whole.questions, place, {frozenset(terms): whole.read(place)} | cells, terms, pairs)
                tables.append_rows("attribution", [{"method": method, **row} for row in rows])
    for table in DERIVED:
        export_csv(folder, table)


def _terms(asked: Attribution, method: str, names: tuple[str, ...], seed: int) -> Terms:
    """Write each part's cost as a weighted sum of the worth of sets of parts.

    By `leave_one_out`: the score without the part less that with all parts. By `shapley`: the part's mean contribution
    over the orders in which parts can be added, each set of parts at the edits of all.
    """
    if method == "shapley":
        return weights(names, asked.permutations, seed)
    every = frozenset(names)
    return {name: {every: 1.0, every - {name}: -1.0} for name in names}


def _pairs(asked: Attribution, method: str, terms: Terms, seed: int) -> list[Terms]:
    """Return the terms by each pair of drawn orders; none where nothing is drawn."""
    return [*weights_by_pair(tuple(terms), asked.permutations, seed)] if method == "shapley" else []


def _costs(
    questions: Questions, place: Place, cells: Mapping[Parts, CellScores], terms: Terms, pairs: Sequence[Terms]
) -> list[dict[str, Any]]:
    """Return the cost of each part in one cell, by metric, part and group of evidence sources.

    A cost is what the part takes from a score (or adds to the damage), paired on the questions, with the interval of
    the other tables.

    Args:
        cells: the scores of the cell's pipeline, by the parts of the noise.
        terms: by part.
        pairs: the same by pair of drawn orders, whose error is added.
    """
    whole = cells[frozenset(terms)]
    metrics = [metric for metric in whole.metrics if not metric.endswith("_floor") and metric != "lcs_gt"]
    signs = np.array([1.0 if metric in _MORE_IS_WORSE else -1.0 for metric in metrics])
    worth = {kept: cell.only(metrics).values for kept, cell in cells.items()}
    table, *drawn = (_table(one, worth, signs) for one in (terms, *pairs))
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {(part, metric): [] for part in terms for metric in metrics}
    for group in GROUPS:
        held = questions.part("evidence_source", group)
        costs = _estimated(table, drawn, held) if held.places.size else []
        for (part, metric), cost in zip(rows if costs else (), costs, strict=True):
            about = {name: getattr(place, name) for name in ("condition", "stage", "chunker", "retriever", "generator")}
            about |= {"part": part, "metric": metric, "evidence_source": group, "cost": cost.mean}
            about |= {name: getattr(cost, name) for name in ("low", "high", "se", "n", "documents", "note")}
            rows[part, metric].append(about)
    return [row for metric in metrics for part in terms for row in rows[part, metric]]


def _table(terms: Terms, worth: Mapping[Parts, Floats], signs: Floats) -> Floats:
    """Return the costs of each question, (parts x metrics, questions)."""
    sums = [sum((weight * worth[kept] for kept, weight in sets.items()), np.zeros(1)) for sets in terms.values()]
    table = signs[:, None] * np.stack(sums)
    return table.reshape(-1, table.shape[-1])


def _estimated(table: Floats, drawn: Sequence[Floats], part: Part) -> list[Estimate]:
    costs = differences(np.take(table, part.places, axis=1), part.clusters)
    if not drawn:
        return costs
    by_pair = np.stack([over_draws(np.take(pair, part.places, axis=1).T) for pair in drawn])
    return [_widened(one, error, len(drawn)) for one, error in zip(costs, order_error(by_pair).tolist(), strict=True)]


def _widened(cost: Estimate, error: float, pairs: int) -> Estimate:
    """Add the error of drawn orders to an interval, with Satterthwaite's degrees of freedom."""
    if isnan(cost.se) or isnan(error) or error == 0:
        return cost
    variance = cost.se**2 + error**2
    df = variance**2 / (cost.se**4 / cost.df + error**4 / (pairs - 1))
    reach = float(quantile(0.975, df)) * sqrt(variance)
    low, high = min(cost.low, cost.mean - reach), max(cost.high, cost.mean + reach)
    return replace(cost, se=sqrt(variance), df=df, low=max(low, -1.0), high=min(high, 1.0))
