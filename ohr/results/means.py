"""Means, intervals and doses of a run: the one estimator behind every table, figure and leaderboard.

A question's score in a cell is its mean over the replicates that define it; it is undefined where no replicate defines
it. A level's dose is the mean of its replicates' doses. Both hold everywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from ohr.metrics.dose import PAGE_PARTS, QUESTION_PARTS, Dose, aggregated, mean_dose
from ohr.metrics.floors import CEILINGS, CONSTANT, FLOORS
from ohr.metrics.intervals import DIFFERENCES, Estimate, clustered_means, minimum_detectable_effect
from ohr.results.groups import ALL, GROUPS, STAGES, TRAITS
from ohr.results.reading import read_columns
from ohr.results.scores import CellScores, Flags, Floats, Part, Place, Questions, ScoreTable, over_draws
from ohr.results.tables import DERIVED, Tables, export_csv

_ROWS = 100  # rows of a sheet at most, each with a row of the summary per group of questions
_NUMBERS = 1 << 18  # scores of a sheet at most: a few megabytes, however many questions there are

Breakdown = Mapping[str, Mapping[str, Estimate]]
"""Trait (`evidence_source`, `domain`, ...) to group to estimate."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts from the making of a knowledge base.

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
        for sheet in _sheets(scores):
            tables.append_rows("summary", _summary(sheet, scores.questions, doses))
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
class _Sheet:
    """Scores of several cells, their floors and ceilings: (rows, questions), a row per cell and metric.

    Args:
        about: what each row is.
        values: the scores.
        failed: where they failed.
        clean: the same pipeline on the knowledge base without noise; nan where this is the cell itself, or absent.
        floors: (3, rows, questions) scores of which the best mean is the floor; nan where there is none.
        ceiling: scores whose mean is the ceiling; nan where there is none.
    """

    about: list[dict[str, Any]]
    values: Floats
    failed: Flags
    clean: Floats
    floors: Floats
    ceiling: Floats


def _sheets(scores: ScoreTable) -> Iterator[_Sheet]:
    """Yield all cells, as many at a time as are summarised at hardly more cost than one."""
    held: list[_Sheet] = []
    for place in (place for place in scores.places if place.stage != "reference"):
        held.append(_sheet(scores, place))
        rows = sum(len(sheet.about) for sheet in held)
        if rows >= _ROWS or rows * len(scores.questions.ids) >= _NUMBERS:
            yield _together(held)
            held = []
    if held:
        yield _together(held)


def _together(sheets: Sequence[_Sheet]) -> _Sheet:
    about = [row for sheet in sheets for row in sheet.about]
    names = ("values", "failed", "clean", "floors", "ceiling")
    return _Sheet(about, *(np.concatenate([getattr(sheet, name) for sheet in sheets], axis=-2) for name in names))


def _sheet(scores: ScoreTable, place: Place) -> _Sheet:
    whole = scores.read(place)
    cell = whole.only([metric for metric in whole.metrics if not metric.endswith("_floor")])
    undefined = np.full_like(cell.values, nan)
    unnoised = next((other for other in scores.pipelines[place.pipeline] if other.noise_type == "none"), None)
    clean = undefined if unnoised in (None, place) else scores.read(unnoised).only(cell.metrics).values
    floors, ceiling = [], undefined
    if place.stage == "retrieval":  # its floor is a metric of its own, and its ceiling what the clean text gives
        floors = [whole.only([f"{metric}_floor" for metric in cell.metrics]).values]
        ceiling = cell.values if unnoised == place else clean
    elif place.stage in STAGES:
        asked = [
            other for g in (place.generator, None) for other in scores.pipelines.get(("reference", None, None, g), ())
        ]
        found = {other.condition: scores.read(other).only(cell.metrics).values for other in asked}
        floors = [found[name] for name in (*FLOORS, CONSTANT) if name in found]
        ceiling = next((found[name] for name in CEILINGS if name in found), undefined)
    about = [
        {**place._asdict(), "metric": metric, "replicates": len(draws), "replicate_sd": _spread(draws)}
        for metric, draws in zip(cell.metrics, cell.draws, strict=True)
    ]
    known = np.stack([*floors, *[undefined] * (len(FLOORS) + 1 - len(floors))])
    return _Sheet(about, cell.values, cell.failed, clean, known, ceiling)


def _summary(sheet: _Sheet, questions: Questions, doses: Mapping[str, Mapping[str, Dose]]) -> list[dict[str, Any]]:
    """Average every row by evidence source with dose, loss, floor and ceiling, and by each other trait.

    Args:
        sheet: the rows.
        questions: of the run.
        doses: by condition and group of evidence sources.
    """
    rows: list[list[dict[str, Any]]] = [[] for _ in sheet.about]
    for trait, group in _groups(questions):
        part = questions.part(trait, group)
        made = _of_group(sheet, part, compared=trait == "evidence_source") if part.places.size else []
        for found, about, row in zip(rows, sheet.about, made, strict=bool(made)):
            whole = {"by": trait, "group": group, **_NOTHING, **about, **row}
            if trait == "evidence_source":
                level = doses.get(about["condition"], {})
                whole |= {name: getattr(level[group], name) for name in _AXES if group in level}
                whole |= {f"kb_{name}": getattr(level[ALL], name) for name in _AXES if ALL in level}
                whole["evidence_source"] = group
            if group != ALL:
                whole["replicate_sd"] = nan
            found.append(whole)
    return [row for found in rows for row in found]


_AXES = ("r_noise", "evidence_loss")
_NOTHING: Mapping[str, Any] = {
    "evidence_source": None,
    **dict.fromkeys((*_AXES, *(f"kb_{name}" for name in _AXES)), nan),
    **dict.fromkeys(("lost", "lost_low", "lost_high", "lost_detectable", "floor", "ceiling"), nan),
}
"""Columns that are empty in rows by other traits than the evidence source."""


def _groups(questions: Questions) -> list[tuple[str, str]]:
    """List the groups that have rows of their own; a trait that all questions share has none."""
    others = [(trait, group) for trait in TRAITS[1:] for group in questions.groups(trait)]
    return [("evidence_source", g) for g in GROUPS] + [pair for pair in others if len(questions.groups(pair[0])) > 1]


def _of_group(sheet: _Sheet, part: Part, *, compared: bool) -> list[dict[str, Any]]:
    """Return the means of one group of questions; with losses, floors and ceilings where they are compared."""
    values, count = sheet.values[:, part.places], len(sheet.about)
    failed = sheet.failed[:, part.places].sum(axis=1).tolist()
    rows: list[dict[str, Any]] = [
        {**{name: getattr(estimate, name) for name in Estimate.__slots__}, **macro}
        for estimate, macro in zip(clustered_means(values, part.clusters, failed), _macro(values, part), strict=True)
    ]
    if compared:  # what noise took, question by question
        differences = sheet.clean[:, part.places] - values
        lost = clustered_means(differences, part.clusters, [0] * count, within=[DIFFERENCES] * count)
        floors = np.fmax.reduce([_means(floor[:, part.places]) for floor in sheet.floors])
        ceilings = _means(sheet.ceiling[:, part.places])
        for row, loss, floor, ceiling in zip(rows, lost, floors.tolist(), ceilings.tolist(), strict=True):
            row |= {"lost": loss.mean, "lost_low": loss.low, "lost_high": loss.high, "floor": floor, "ceiling": ceiling}
            row["lost_detectable"] = minimum_detectable_effect(loss.se, loss.df)
    return rows


def _means(values: Floats) -> Floats:
    """Average (rows, n) values, without those that are undefined."""
    return over_draws(values.T)


def _macro(values: Floats, part: Part) -> list[dict[str, float]]:
    """Average the means of the domains, each with the same weight, of (rows, n) values; nan is in no mean."""
    defined = ~np.isnan(values)
    size = int(part.domains.max()) + 1
    counts = np.stack([np.bincount(part.domains, row, size) for row in defined])
    sums = np.stack([np.bincount(part.domains, row, size) for row in np.where(defined, values, 0.0)])
    means = _means(np.divide(sums, counts, out=np.full(sums.shape, nan), where=counts > 0))
    domains = (counts > 0).sum(axis=1)
    return [{"macro_mean": float(mean), "domains": int(found)} for mean, found in zip(means, domains, strict=True)]


def _spread(draws: Floats) -> float:
    """Return the standard deviation of the replicates' means."""
    means = _means(draws)
    return float(np.std(means, ddof=1)) if len(means) > 1 else nan
