"""Comparisons of two runs, or of two conditions, paired on their questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ohr.errors import DataError
from ohr.registry import choices
from ohr.results.choices import read_choices
from ohr.results.folder import read_finished
from ohr.results.groups import ALL, STAGES
from ohr.results.questions import Places, Questions
from ohr.results.reading import read_rows
from ohr.results.scores import Floats, Place, ScoreTable
from ohr.statistics.comparison import Comparison, family


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a finished run, or one of its conditions."""

    folder: Path
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cells that are compared.

    Args:
        first: the cell of the first side, `second` that of the second.
        first_mean: mean over the questions that both sides define.
        found: the paired difference, first less second, by itself.
        p_holm: its p value among all pairs; nan where it has none.
        shown: a difference is shown among all pairs.
    """

    first: Place
    second: Place
    metric: str
    first_mean: float
    second_mean: float
    found: Comparison
    p_holm: float
    shown: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides compared.

    Args:
        notes: what was left out, and what differs between the sides.
    """

    pairs: tuple[Pair, ...]
    questions: int
    documents: int
    margin: float
    notes: tuple[str, ...]


def compare_sides(
    first: Side, second: Side, metric: str | None = None, group: str = ALL, margin: float | None = None
) -> Compared:
    """Compare every cell that two sides share, on the questions that they share.

    Args:
        first: the side that the other is compared with.
        second: the other side.
        metric: any metric; by default each stage's headline.
        group: of evidence sources.
        margin: difference that matters; by default the first run's own.

    Raises:
        DataError: a side is not finished or lacks the condition, or they share no question or no cell.
    """
    tables = [ScoreTable(side.folder / "scores.parquet", Questions.read(side.folder)) for side in (first, second)]
    chosen = read_choices(first.folder)
    asked, notes = _common(first, second, tables)
    kept = np.isin(asked[0], tables[0].questions.part("evidence_source", group).places)
    here, there = asked[0][kept], asked[1][kept]
    if not here.size:
        raise DataError(f"{first.folder} and {second.folder} have no question of {group} in common")
    part = tables[0].questions.among(here)
    margin = chosen.margin if margin is None else margin
    cells = list(_cells(first, second, tables))
    if metric is not None:
        known = sorted({name for place, _ in cells for name in tables[0].read(place).metrics})
        if metric not in known:
            raise DataError(f"{first.folder}: has no metric {metric!r}; it has {', '.join(known)}")
    members, values = [], []
    for one, two in cells:
        name = metric or chosen.headline[one.stage]
        sides = [
            table.read(place).only([name]).values[0][places]
            for table, place, places in zip(tables, (one, two), (here, there), strict=True)
        ]
        defined = ~np.isnan(sides[0] - sides[1])
        if defined.any():
            members.append((one, two, name))
            values.append((sides, sides[0] - sides[1], part.clusters))
    if not members:
        raise DataError(f"{first.folder} and {second.folder} have no score in common{_hint(first, second)}")
    judged = family([(difference, clusters, margin) for _, difference, clusters in values])
    pairs = [
        Pair(*about, *_means(sides), found=alone, p_holm=p, shown=shown)
        for about, (sides, *_), (alone, p, shown) in zip(members, values, judged, strict=True)
    ]
    return Compared(tuple(pairs), int(here.size), len(part.clusters.counts), margin, tuple(notes))


def _hint(first: Side, second: Side) -> str:
    whole = first.condition is None and second.condition is None
    return ": name a condition of each, as in RUN:CONDITION" if whole else ""


def _means(sides: Sequence[Floats]) -> tuple[float, float]:
    defined = ~np.isnan(sides[0] - sides[1])
    return float(sides[0][defined].mean()), float(sides[1][defined].mean())


def _common(first: Side, second: Side, tables: Sequence[ScoreTable]) -> tuple[tuple[Places, Places], list[str]]:
    """Find the questions that both sides ask, by id and text; returns their places, and notes."""
    manifests = [read_finished(side.folder) for side in (first, second)]
    texts = [
        {
            row["question_id"]: row["text"]
            for row in read_rows(side.folder / "questions.parquet", ["question_id", "text"])
        }
        for side in (first, second)
    ]
    shared = [name for name in tables[0].questions.ids if name in texts[1]]
    same = [name for name in shared if texts[0][name] == texts[1][name]]
    if not same:
        raise DataError(f"{first.folder} and {second.folder} have no question in common")
    notes = []
    if other := len(shared) - len(same):
        notes.append(f"{other:,} questions left out: their text differs")
    alone = [len(found) - len(shared) for found in texts]
    if any(alone):
        notes.append(f"{alone[0]:,} questions are in the first only, {alone[1]:,} in the second only: left out")
    for key in ("ohr", "protocol"):
        values = [manifest.get(key) for manifest in manifests]
        if values[0] != values[1]:
            shown = [value["name"] if isinstance(value, dict) else value for value in values]
            notes.append(f"{key} differs: {shown[0]} and {shown[1]}")
    places = [np.array([table.questions.place[name] for name in same], np.intp) for table in tables]
    return (places[0], places[1]), notes


def _cells(first: Side, second: Side, tables: Sequence[ScoreTable]) -> Iterator[tuple[Place, Place]]:
    """Yield the cells that the sides share: of one pipeline, and of one condition where none is named."""
    for side, table in zip((first, second), tables, strict=True):
        known = list(dict.fromkeys(place.condition for place in table.places if place.stage in STAGES))
        if side.condition is not None and side.condition not in known:
            raise DataError(f"{side.folder}: has no condition {side.condition!r}. {choices(side.condition, known)}")
    named = first.condition is not None or second.condition is not None
    found = {_name(place, named): place for place in tables[1].places if second.condition in (None, place.condition)}
    for place in tables[0].places:
        if place.stage in STAGES and first.condition in (None, place.condition):
            other = found.get(_name(place, named))
            if other is not None:
                yield place, other


def _name(place: Place, named: bool) -> tuple[str | None, ...]:
    return place.pipeline if named else (*place.pipeline, place.condition)
