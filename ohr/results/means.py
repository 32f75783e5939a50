"""Means, intervals and doses of a run: the one estimator behind every table, figure and leaderboard.

A question's score in a cell is its mean over the replicates that define it; it is undefined where no replicate defines
it. A level's dose is the mean of its replicates' doses. Both hold everywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from ohr.metrics.dose import PAGE_PARTS, QUESTION_PARTS, Dose, aggregated, mean_dose
from ohr.metrics.floors import CEILINGS, CONSTANT, FLOORS
from ohr.metrics.intervals import DIFFERENCES, SCORES, Estimate, clustered_means, minimum_detectable_effect
from ohr.results.groups import ALL, GROUPS, STAGES, TRAITS
from ohr.results.reading import read_columns
from ohr.results.scores import CellScores, Floats, Part, Place, Questions, ScoreTable, over_draws
from ohr.results.tables import DERIVED, Tables, export_csv

_HELD = 2000  # rows of the summary that are held before they are written

Breakdown = Mapping[str, Mapping[str, Estimate]]
"""Trait (`evidence_source`, `domain`, ...) to group to estimate."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted while a knowledge base was made.

    Args:
        edits: edits of its text noise.
        edits_aimed: how many were to be made.
        failed_pages: pages that failed.
    """

    edits: int = 0
    edits_aimed: int = 0
    failed_pages: int = 0


def derive(folder: Path, counts: Mapping[str, Counts]) -> None:
    """Make the tables that follow from the measured ones of a folder, `doses` and `summary`, also as CSV.

    Args:
        counts: by the name of the knowledge base.

    Raises:
        DataError: a table cannot be read or written.
    """
    scores = ScoreTable(folder / "scores.parquet", Questions.read(folder))
    parts = {group: scores.questions.part("evidence_source", group) for group in GROUPS}
    doses = {
        place.condition: {group: level_dose(scores.read(place), part) for group, part in parts.items()}
        for place in scores.of_stage("page")
    }
    with Tables(folder, DERIVED) as tables:
        write_doses(scores, folder / "pages.parquet", counts, tables, "doses")
        rows: list[dict[str, Any]] = []
        for place in scores.places:
            rows += _summary(scores, place, doses.get(place.condition, {})) if place.stage != "reference" else []
            if len(rows) > _HELD:
                tables.append_rows("summary", rows)
                rows = []
        tables.append_rows("summary", rows)
    for table in DERIVED:
        export_csv(folder, table)


# --- estimates --------------------------------------------------------------------------------------------


def estimates(cell: CellScores, part: Part) -> list[Estimate]:
    """Average every metric of a cell over some of the questions, with intervals over documents."""
    failed = cell.failed[:, part.places].sum(axis=1).tolist()
    return clustered_means(np.take(cell.values, part.places, axis=1), part.clusters, failed)


def breakdown(questions: Questions, cell: CellScores, metric: str) -> Breakdown:
    """Average one metric of a cell by every trait of the questions; each trait also has `all`, of all questions."""
    mine = cell.only([metric])
    (whole,) = estimates(mine, questions.part("evidence_source", ALL))
    return {
        trait: {
            **{group: estimates(mine, questions.part(trait, group))[0] for group in questions.groups(trait)},
            ALL: whole,
        }
        for trait in TRAITS
    }


def macro_over_domains(found: Breakdown) -> float:
    """Average the domains' means, each with the same weight; `all` weighs each question the same."""
    means = [estimate.mean for name, estimate in found["domain"].items() if name != ALL]
    return float(np.mean(means)) if means else nan


def _means(cell: CellScores, part: Part) -> list[float]:
    """Average each metric over the questions that define it."""
    means: list[float] = over_draws(np.take(cell.values, part.places, axis=1).T).tolist()
    return means


def _macro(values: Floats, part: Part) -> list[dict[str, float]]:
    """Average the means of the domains, each with the same weight, of (metrics, n) values; nan is in no mean."""
    defined = ~np.isnan(values)
    size = int(part.domains.max()) + 1
    counts = np.stack([np.bincount(part.domains, row, size) for row in defined])
    sums = np.stack([np.bincount(part.domains, row, size) for row in np.where(defined, values, 0.0)])
    means = over_draws(np.divide(sums, counts, out=np.full(sums.shape, nan), where=counts > 0).T)
    domains = (counts > 0).sum(axis=1)
    return [{"macro_mean": float(mean), "domains": int(found)} for mean, found in zip(means, domains, strict=True)]


# --- doses ------------------------------------------------------------------------------------------------


def level_dose(cell: CellScores, part: Part) -> Dose:
    """Return the dose of a level for some of the questions: the mean over its replicates, without that of its pages."""
    draws, pages = cell.only(QUESTION_PARTS).draws.transpose(1, 0, 2), dict.fromkeys(PAGE_PARTS, np.empty(0))
    return mean_dose(
        [aggregated(dict(zip(QUESTION_PARTS, draw[:, part.places], strict=True)), pages) for draw in draws]
    )


def write_doses(scores: ScoreTable, pages: Path, counts: Mapping[str, Counts], tables: Tables, table: str) -> None:
    """Append the dose of every knowledge base to a table, in the order of the scores.

    Args:
        scores: with those of stage `page`.
        pages: the table of the knowledge bases' pages.
        counts: by the name of the knowledge base.
        tables: to append to.
        table: `doses`, or `attribution_doses`.
    """
    rows = []
    for place in scores.of_stage("page"):
        draws = scores.read(place).only(QUESTION_PARTS).draws.transpose(1, 0, 2)
        for draw, (base, replicate) in zip(draws, scores.bases(place), strict=True):
            held = read_columns(pages, [*PAGE_PARTS, "words"], kb=base)
            seen = {name: np.array(held[name].to_pylist(), dtype=float) for name in held.column_names}
            words, counted = int(seen.pop("words").sum()), counts.get(base, Counts())
            about = {name: getattr(place, name) for name in ("condition", "noise", "knob", "knob_value")}
            made = asdict(aggregated(dict(zip(QUESTION_PARTS, draw, strict=True)), seen))
            density = 100 * counted.edits / words if words else 0.0
            row = {
                "kb": base,
                **about,
                "replicate": replicate,
                **made,
                **asdict(counted),
                "edits_per_100_words": density,
            }
            rows.append(row)
    tables.append_rows(table, rows)


# --- the summary ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Beside:
    """What the scores of a cell are compared with, metric by metric.

    Args:
        clean: the same pipeline on the knowledge base without noise; None where this is the cell itself, or absent.
        floors: cells whose best mean is the floor.
        ceiling: the cell whose mean is the ceiling.
    """

    clean: CellScores | None
    floors: Sequence[CellScores] = ()
    ceiling: CellScores | None = None


def _beside(scores: ScoreTable, place: Place, metrics: Sequence[str]) -> _Beside:
    alike = next((other for other in scores.pipelines[place.pipeline] if other.noise_type == "none"), None)
    clean = scores.read(alike).only(metrics) if alike not in (None, place) else None
    if place.stage == "retrieval":  # its floor is a metric of its own, and its ceiling what the clean text gives
        cell = scores.read(place)
        floor = cell.only([f"{metric}_floor" for metric in metrics])
        return _Beside(clean, [floor], cell.only(metrics) if alike == place else clean)
    if place.stage not in STAGES:
        return _Beside(clean)
    asked = {other.condition: other for other in scores.pipelines.get(("reference", None, None, place.generator), ())}
    asked |= {other.condition: other for other in scores.pipelines.get(("reference", None, None, None), ())}
    floors = [scores.read(asked[name]).only(metrics) for name in (*FLOORS, CONSTANT) if name in asked]
    return _Beside(clean, floors, *(scores.read(asked[name]).only(metrics) for name in CEILINGS if name in asked))


def _summary(scores: ScoreTable, place: Place, doses: Mapping[str, Dose]) -> list[dict[str, Any]]:
    """Average every metric of a cell, by evidence source with dose, loss, floor and ceiling, and by each other trait.

    Args:
        doses: of the cell's condition, by group of evidence sources.
    """
    whole, questions = scores.read(place), scores.questions
    cell = whole.only([metric for metric in whole.metrics if not metric.endswith("_floor")])
    beside, spreads = _beside(scores, place, cell.metrics), [_spread(draws) for draws in cell.draws]
    rows: dict[str, list[dict[str, Any]]] = {metric: [] for metric in cell.metrics}
    for trait, group in _groups(questions):
        part, by_source = questions.part(trait, group), trait == "evidence_source"
        made = _of_group(cell, beside if by_source else None, part) if part.places.size else []
        for metric, row, spread in zip(cell.metrics if made else (), made, spreads, strict=False):
            about = {**place._asdict(), "metric": metric, "by": trait, "group": group, **_NOTHING, **row}
            if by_source:
                about |= {"evidence_source": group, "replicate_sd": spread if group == ALL else nan}
                about |= {name: getattr(doses[group], name) for name in _AXES if group in doses}
                about |= {f"kb_{name}": getattr(doses[ALL], name) for name in _AXES if ALL in doses}
            rows[metric].append(about)
    return [row for metric in cell.metrics for row in rows[metric]]


_AXES = ("r_noise", "evidence_loss")
_NOTHING: Mapping[str, Any] = {
    "evidence_source": None,
    **dict.fromkeys(("replicate_sd", *_AXES, *(f"kb_{name}" for name in _AXES)), nan),
    **dict.fromkeys(("lost", "lost_low", "lost_high", "lost_detectable", "floor", "ceiling"), nan),
}
"""What rows by other traits than the evidence source leave out."""


def _groups(questions: Questions) -> list[tuple[str, str]]:
    """List the groups that have rows of their own; a trait that all questions share has none."""
    others = [(trait, group) for trait in TRAITS[1:] for group in questions.groups(trait)]
    return [("evidence_source", g) for g in GROUPS] + [pair for pair in others if len(questions.groups(pair[0])) > 1]


def _of_group(cell: CellScores, beside: _Beside | None, part: Part) -> list[dict[str, Any]]:
    """Return the means of one group, a row per metric; with losses, floors and ceilings where something is beside."""
    values, count = np.take(cell.values, part.places, axis=1), len(cell.metrics)
    failed = cell.failed[:, part.places].sum(axis=1).tolist()
    clean = beside.clean if beside else None
    # what noise took is estimated question by question, in one table with the means
    table = np.concatenate([values, np.take(clean.values, part.places, axis=1) - values]) if clean else values
    within = [SCORES] * count + [DIFFERENCES] * (len(table) - count)
    made = clustered_means(table, part.clusters, failed + [0] * (len(table) - count), within=within)
    rows: list[dict[str, Any]] = [
        {**{name: getattr(estimate, name) for name in Estimate.__slots__}, **macro, "replicates": cell.draws.shape[1]}
        for estimate, macro in zip(made[:count], _macro(values, part), strict=True)
    ]
    for row, lost in zip(rows, made[count:], strict=False):
        row |= {"lost": lost.mean, "lost_low": lost.low, "lost_high": lost.high}
        row["lost_detectable"] = minimum_detectable_effect(lost.se, lost.df)
    floors = [_means(floor, part) for floor in beside.floors] if beside else []
    ceilings = _means(beside.ceiling, part) if beside and beside.ceiling else [nan] * count
    for number, (row, ceiling) in enumerate(zip(rows, ceilings, strict=True)):
        known = [floor[number] for floor in floors if not isnan(floor[number])]
        row |= {"floor": max(known, default=nan), "ceiling": ceiling}
    return rows


def _spread(draws: Floats) -> float:
    """Return the standard deviation of the replicates' means."""
    means = over_draws(draws.T)
    return float(np.std(means, ddof=1)) if len(means) > 1 else nan
