"""The table of attribution: from the scores of levels with some parts of a noise to the cost of each part."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from ohr.results.derived.doses import Counts, dose_rows
from ohr.results.run import Run
from ohr.results.score_arrays import CellScores, Floats, Part, Place, Questions, ScoreTable, over_draws
from ohr.results.tables.groups import GROUPS
from ohr.results.tables.table_files import Tables, export_csv
from ohr.runner.attribution.levels import Trial, weights, weights_by_pair
from ohr.spec.file_keys import Attribution
from ohr.spec.model import KnowledgeBase, Spec
from ohr.spec.noise_chain import Parts, parts
from ohr.statistics.estimate import Estimate, quantile
from ohr.statistics.intervals import differences
from ohr.statistics.variance import order_error

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
    wanted = spec.attribution
    if wanted is None:
        return
    whole = ScoreTable.of(Run(folder))
    partial = ScoreTable(folder / "attribution_scores.parquet", whole.questions)
    about = {place: trials[partial.bases(place)[0][0]] for place in partial.places}
    with Tables(folder, DERIVED) as tables:
        tables.append_rows("attribution_doses", dose_rows(partial, folder / "attribution_pages.parquet", counts))
        for level, method in product(wanted.of, wanted.methods):
            terms = _terms(wanted, method, tuple(part.name for part in parts(levels[level])), spec.seed)
            for place in (place for place in whole.places if place.condition == level):
                others = ((about[other], other) for other in partial.pipelines.get(place.pipeline, ()))
                tried = {t.kept: other for t, other in others if (t.of, t.method) == (level, method)}
                cells = {kept: partial.read(other) for kept, other in tried.items()}
                pairs = _pairs(wanted, method, terms, spec.seed)
                rows = _costs(whole.questions, place, {frozenset(terms): whole.read(place)} | cells, terms, pairs)
                tables.append_rows("attribution", [{"method": method, **row} for row in rows])
    for table in DERIVED:
        export_csv(folder, table)


def _terms(wanted: Attribution, method: str, names: tuple[str, ...], seed: int) -> Terms:
    """Write each part's cost as a weighted sum of the worth of sets of parts.

    By `leave_one_out`: the score without the part less that with all parts. By `shapley`: the part's mean contribution
    over the orders in which parts can be added, each set of parts at the edits of all.
    """
    if method == "shapley":
        return weights(names, wanted.permutations, seed)
    every = frozenset(names)
    return {name: {every: 1.0, every - {name}: -1.0} for name in names}


def _pairs(wanted: Attribution, method: str, terms: Terms, seed: int) -> list[Terms]:
    """Return the terms by each pair of drawn orders; none where nothing is drawn."""
    return [*weights_by_pair(tuple(terms), wanted.permutations, seed)] if method == "shapley" else []


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
        made = _estimated(table, drawn, held) if held.places.size else []
        for (part, metric), cost in zip(rows if made else (), made, strict=True):
            about = {name: getattr(place, name) for name in ("condition", "stage", "chunker", "retriever", "generator")}
            about |= {"part": part, "metric": metric, "evidence_source": group, "cost": cost.mean}
            about |= {name: getattr(cost, name) for name in ("low", "high", "se", "n", "documents", "note")}
            rows[part, metric].append(about)
    return [row for metric in metrics for part in terms for row in rows[part, metric]]


def _table(terms: Terms, worth: Mapping[Parts, Floats], signs: Floats) -> Floats:
    """Return the costs of each question, (parts x metrics, questions)."""
    sums = [sum((weight * worth[kept] for kept, weight in found.items()), np.zeros(1)) for found in terms.values()]
    table = signs[:, None] * np.stack(sums)
    return table.reshape(-1, table.shape[-1])


def _estimated(table: Floats, drawn: Sequence[Floats], part: Part) -> list[Estimate]:
    made = differences(np.take(table, part.places, axis=1), part.clusters)
    if not drawn:
        return made
    by_pair = np.stack([over_draws(np.take(pair, part.places, axis=1).T) for pair in drawn])
    return [_widened(one, error, len(drawn)) for one, error in zip(made, order_error(by_pair).tolist(), strict=True)]


def _widened(one: Estimate, error: float, pairs: int) -> Estimate:
    """Add the error of drawn orders to an interval, with Satterthwaite's degrees of freedom."""
    if isnan(one.se) or isnan(error) or error == 0:
        return one
    variance = one.se**2 + error**2
    df = variance**2 / (one.se**4 / one.df + error**4 / (pairs - 1))
    reach = float(quantile(0.975, df)) * sqrt(variance)
    low, high = min(one.low, one.mean - reach), max(one.high, one.mean + reach)
    return replace(one, se=sqrt(variance), df=df, low=max(low, -1.0), high=min(high, 1.0))
