"""The summary of a run: each cell's means by group of questions, with doses, losses, floors and ceilings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from math import nan
from typing import Any

import numpy as np

from ohr.metrics.dose import Dose
from ohr.results.derived.doses import level_dose
from ohr.results.derived.pairs import ScoredRun, cell_of, floors_and_ceilings, near_floor, paired, verdict
from ohr.results.score_arrays import Flags, Floats, Part, Place, Questions, ScoreTable, over_draws
from ohr.results.tables.groups import ALL, GROUPS, STAGES, TRAITS
from ohr.results.tables.schema import column_kinds
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import Comparison, comparisons
from ohr.statistics.derived import macro_means
from ohr.statistics.estimate import Estimate
from ohr.statistics.intervals import clustered_means

_ROWS = 100  # rows of a sheet at most, each with a row of the summary per group of questions
_NUMBERS = 1 << 18  # scores of a sheet at most: a few megabytes, however many questions there are


def summary_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of `summary`, cell by cell."""
    scores, choices = run.scores, run.choices
    compared = (place for place in scores.places if scores.reference(place) not in (None, place))
    sizes = Counter(place.pipeline for place in compared if place.condition not in choices.repeats)
    parts = {group: scores.questions.part("evidence_source", group) for group in GROUPS}
    doses = {
        place.condition: {group: level_dose(scores.read(place), part) for group, part in parts.items()}
        for place in scores.of_stage("page")
    }
    for sheet in _sheets(scores, run.silent):
        yield from _summary(sheet, scores.questions, doses, choices.margin, sizes)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Scores of several cells, their floors and ceilings: (rows, questions), a row per cell and metric.

    Args:
        about: what each row is.
        values: the scores.
        failed: where they failed.
        clean: the same pipeline on the knowledge base without noise; nan where this is the cell itself, or absent.
        clean_failed: where these failed.
        answered: rows whose clean side has answers enough.
        floor: scores whose mean is the floor; nan where there is none.
        ceiling: scores whose mean is the ceiling; nan where there is none.
        exact: rows that are 0 or 1 by construction, and so have no interval: the damage of text without noise.
    """

    about: list[dict[str, Any]]
    values: Floats
    failed: Flags
    clean: Floats
    clean_failed: Flags
    answered: Flags
    floor: Floats
    clean_floor: Floats
    ceiling: Floats
    exact: Flags


def _sheets(scores: ScoreTable, silent: Set[tuple[Any, ...]]) -> Iterator[_Sheet]:
    """Yield all cells, as many at a time as are summarised at hardly more cost than one."""
    held: list[_Sheet] = []
    for place in (place for place in scores.places if place.stage != "reference"):
        held.append(_sheet(scores, place, silent))
        rows = sum(len(sheet.about) for sheet in held)
        if rows >= _ROWS or rows * len(scores.questions.ids) >= _NUMBERS:
            yield _together(held)
            held = []
    if held:
        yield _together(held)


def _together(sheets: Sequence[_Sheet]) -> _Sheet:
    about = [row for sheet in sheets for row in sheet.about]
    names = [field.name for field in fields(_Sheet)[1:]]
    return _Sheet(about, *(np.concatenate([getattr(sheet, name) for sheet in sheets]) for name in names))


def _sheet(scores: ScoreTable, place: Place, silent: Set[tuple[Any, ...]]) -> _Sheet:
    whole = scores.read(place)
    cell = whole.only([metric for metric in whole.metrics if not metric.endswith("_floor")])
    undefined = np.full_like(cell.values, nan)
    unnoised = scores.reference(place)
    before = None if unnoised in (None, place) else scores.read(unnoised).only(cell.metrics)
    clean = before.values if before else undefined
    floor, ceiling = floors_and_ceilings(scores, place, cell.metrics)
    clean_floor = floors_and_ceilings(scores, unnoised, cell.metrics)[0] if before and unnoised else undefined
    about = [
        {**place._asdict(), "metric": metric, "replicates": len(draws), "replicate_sd": _spread(draws)}
        for metric, draws in zip(cell.metrics, cell.draws[:, :, scores.questions.counted], strict=True)
    ]
    exact, enough = (
        np.full(len(about), flag)
        for flag in (place.stage == "page" and place.noise_type == "none", cell_of(unnoised) not in silent)
    )
    bad = before.failed if before else np.zeros_like(cell.failed)
    return _Sheet(about, cell.values, cell.failed, clean, bad, enough, floor, clean_floor, ceiling, exact)


def _summary(
    sheet: _Sheet,
    questions: Questions,
    doses: Mapping[str, Mapping[str, Dose]],
    margin: float,
    sizes: Mapping[tuple[str | None, ...], int],
) -> list[dict[str, Any]]:
    """Average every row by evidence source with dose, loss, floor and ceiling, and by each other trait.

    Args:
        sheet: the rows.
        questions: of the run.
        doses: by condition and group of evidence sources.
        margin: difference of a score that matters.
        sizes: comparisons with the clean text of each pipeline at each stage, which are judged together.
    """
    among = [max(1, sizes[tuple(about[name] for name in _PIPELINE)]) for about in sheet.about]
    rows: list[list[dict[str, Any]]] = [[] for _ in sheet.about]
    for trait, group in _groups(questions):
        part = questions.part(trait, group)
        made = _of_group(sheet, part) if part.places.size else []
        if made and trait == "evidence_source":
            _add_losses(made, sheet, part, among, margin)
        for found, about, row in zip(rows, sheet.about, made, strict=bool(made)):
            whole = {**_NOTHING, "by": trait, "group": group, **about, **row}
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
_NOTHING = {name: nan if kind == "double" else None for name, kind in column_kinds("summary")}
"""A row of which nothing is known: rows by other traits than the evidence source have no losses and doses."""

_ESTIMATE = tuple(name for name in Estimate.__slots__ if name not in ("changed", "p", "wide_low", "wide_high"))


def _groups(questions: Questions) -> list[tuple[str, str]]:
    """List the groups that have rows of their own; a trait that all questions share has none."""
    others = [(trait, group) for trait in list(questions.traits)[1:] for group in questions.groups(trait)]
    own = set(questions.traits) - set(TRAITS)
    kept = [pair for pair in others if pair[0] in own or len(questions.groups(pair[0])) > 1]
    return [("evidence_source", group) for group in GROUPS] + kept


def _of_group(sheet: _Sheet, part: Part) -> list[dict[str, Any]]:
    values = sheet.values[:, part.places]
    failed = sheet.failed[:, part.places].sum(axis=1).tolist()
    strata = "domain" if part.clusters.stratified else None
    rows: list[dict[str, Any]] = [
        {**{name: getattr(estimate, name) for name in _ESTIMATE}, **macro, "strata": strata}
        for estimate, macro in zip(clustered_means(values, part.clusters, failed), _macro(values, part), strict=True)
    ]
    for row in rows:
        row["undefined"] += part.left_out
    for row in (row for row, exact in zip(rows, sheet.exact, strict=True) if exact and row["interval"] == "edge"):
        row |= {"low": nan, "high": nan, "interval": ""}
    return rows


def _add_losses(rows: list[dict[str, Any]], sheet: _Sheet, part: Part, among: Sequence[int], margin: float) -> None:
    """Add losses, floors and ceilings to the means of one group of questions."""
    clean, noisy = paired(sheet.clean[:, part.places], sheet.values[:, part.places])
    losses = _losses(clean - noisy, among, part.clusters, margin)
    # what a page's text keeps, and what of it is damaged, has no floor
    scored = np.array([about["stage"] in STAGES for about in sheet.about])
    low = scored & near_floor(clean, sheet.clean_floor[:, part.places], part.clusters, margin)
    bad = ((sheet.failed | sheet.clean_failed)[:, part.places] & ~np.isnan(clean)).sum(axis=1)
    means = (_means(table) for table in (clean, sheet.floor[:, part.places], sheet.ceiling[:, part.places]))
    columns = (column.tolist() for column in (bad, sheet.answered, low, *means))
    for row, loss, lost, enough, is_low, *about in zip(rows, losses, *columns, strict=True):
        row |= _loss(loss, lost, answered=enough, low=is_low)
        row |= dict(zip(("clean_mean", "floor", "ceiling"), about, strict=True))


_PIPELINE = ("stage", "chunker", "retriever", "generator")


def _losses(table: Floats, among: Sequence[int], clusters: Clusters, margin: float) -> list[Comparison]:
    """Judge (rows, n) differences, each among the comparisons of its pipeline."""
    judged: dict[int, Comparison] = {}
    for size in dict.fromkeys(among):
        rows = [row for row, each in enumerate(among) if each == size]
        judged |= dict(zip(rows, comparisons(table[rows], clusters, margin, among=size), strict=True))
    return [judged[row] for row in range(len(among))]


_OF_LOSS = ("inner_low", "inner_high", "wide_low", "wide_high", "p", "detectable")


def _loss(found: Comparison, failed: int, *, answered: bool, low: bool) -> dict[str, Any]:
    """Return the loss to noise, question by question; empty where there is no clean side."""
    one = found.difference
    if not one.n:
        return {}
    return {
        "lost": one.mean,
        **{f"lost_{name}": getattr(one, name) for name in ("low", "high")},
        **{f"lost_{name}": getattr(found, name) for name in _OF_LOSS},
        **{"questions_lost": found.lost, "questions_gained": found.gained, "comparisons": found.among},
        **{"pairs": one.n, "pairs_failed": failed, "changed_documents": one.changed},
        "verdict": verdict(found, failed, answered=answered, low=low),
    }


def _means(values: Floats) -> Floats:
    """Average (rows, n) values, without those that are undefined."""
    return over_draws(values.T)


def _macro(values: Floats, part: Part) -> list[dict[str, Any]]:
    """Average the means of the domains, each with the same weight, of (rows, n) values; nan is in no mean."""
    found = macro_means(values, part.by_domain)
    domains = [len(np.unique(part.domains[~np.isnan(row)])) for row in values]
    return [
        {"macro_mean": one.mean, "macro_low": one.low, "macro_high": one.high, "domains": count}
        for one, count in zip(found, domains, strict=True)
    ]


def _spread(draws: Floats) -> float:
    means = _means(draws)
    return float(np.std(means, ddof=1)) if len(means) > 1 else nan
