"""Comparisons of two runs, or of two conditions, paired on their questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ohr.errors import DataError
from ohr.messages.wording import named, without_clean_text
from ohr.registry import choices
from ohr.results.derived.pairs import FAILED, cell_of, floors_and_ceilings, near_floor, paired, silent_cells, verdict
from ohr.results.run import Run
from ohr.results.score_arrays import Flags, Floats, Place, Places, ScoreTable
from ohr.results.tables.groups import ALL, GROUPS, STAGES
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import Comparison, family
from ohr.treatments import recorded_treatments


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a finished run, or one of its conditions."""

    run: Run
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cells that are compared.

    Args:
        label: what is compared, among the pairs of one comparison.
        first: the cell of the first side, `second` that of the second.
        first_mean: mean over the questions that both sides define, as `second_mean`.
        failed: pairs of which a side failed, and scored 0 there.
        verdict: as in `Comparison`; `failed` where too much failed for one.
        found: the paired difference, first less second, by itself.
        p_holm: the p value among all pairs; nan where it has none.
        shown: a difference is shown among all pairs.
    """

    label: str
    first: Place
    second: Place
    metric: str
    first_mean: float
    second_mean: float
    failed: int
    found: Comparison
    verdict: str
    p_holm: float
    shown: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides compared.

    Args:
        notes: what was left out, and what differs between the sides.
        cluster: what the questions are grouped by; `documents` counts these.
    """

    pairs: tuple[Pair, ...]
    questions: int
    documents: int
    margin: float
    notes: tuple[str, ...]
    cluster: str = "document"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two cells to compare.

    Args:
        label: as in `Pair`, as are `first`, `second` and `metric`.
        values: (2, n) scores of both, undefined on both sides where one is (`paired`).
        failed: (n,) a side failed.
        answered: as in `pairs.verdict`, as is `low`.
    """

    label: str
    first: Place
    second: Place
    metric: str
    values: Floats
    failed: Flags
    answered: bool = True
    low: bool = False


def judged(candidates: Sequence[Candidate], clusters: Clusters, margin: float) -> tuple[Pair, ...]:
    """Compare cells on the same questions, as one family."""
    compared = family([(candidate.values[0] - candidate.values[1], clusters, margin) for candidate in candidates])
    pairs = []
    for candidate, (alone, p, is_shown) in zip(candidates, compared, strict=True):
        failed = int((candidate.failed & ~np.isnan(candidate.values[0])).sum())
        word = verdict(alone, failed, answered=candidate.answered, low=candidate.low)
        about = candidate.label, candidate.first, candidate.second, candidate.metric
        before, after = np.nanmean(candidate.values, axis=1).tolist()
        pairs.append(Pair(*about, before, after, failed, alone, word, p, is_shown and word != FAILED))
    return tuple(pairs)


def compare_sides(
    first: Side, second: Side, metrics: Sequence[str] = (), group: str = ALL, margin: float | None = None
) -> Compared:
    """Compare every cell that two sides share, on the questions that they share.

    Args:
        first: the side that the other is compared with.
        second: the other side.
        metrics: any of the runs; by default each stage's headline, and the first run's own of its spec.
        group: of evidence sources.
        margin: difference that matters; by default the first run's own.

    Raises:
        DataError: a side is not finished or lacks the condition, or they share no question or no cell.
    """
    tables = [ScoreTable.of(side.run) for side in (first, second)]
    margin = first.run.choices.margin if margin is None else margin
    asked, notes = _common(first, second, tables)
    here, there = _counted(asked, group, tables, notes)
    if not here.size:
        raise DataError(f"{first.run.folder} and {second.run.folder} have no question of {group} in common")
    part = tables[0].questions.among(here)
    cells = list(_cells(first, second, tables))
    if cells and first.condition is second.condition is None:
        notes += _unmatched(tables, cells)
    if metrics:
        known = sorted({name for place, _ in cells for name in tables[0].read(place).metrics})
        if absent := [name for name in metrics if name not in known]:
            raise DataError(f"{first.run.folder}: has no metric {absent[0]!r}; it has {', '.join(known)}")
    shown, silent = first.run.shown_metrics, silent_cells(first.run)
    candidates = []
    for one, two in cells:
        for name in dict.fromkeys(metrics) or shown[one.stage]:
            sides = [table.read(place).only([name]) for table, place in zip(tables, (one, two), strict=True)]
            scores = paired(sides[0].values[0][here], sides[1].values[0][there])
            if not np.isnan(scores).all():
                failed = sides[0].failed[0][here] | sides[1].failed[0][there]
                about = _label(one, two, name), one, two, name
                floor = floors_and_ceilings(tables[0], one, [name])[0][:, here]
                (low,) = near_floor(scores[:1], floor, part.clusters, margin)
                candidates.append(Candidate(*about, scores, failed, cell_of(one) not in silent, bool(low)))
    if not candidates:
        whole = first.condition is second.condition is None
        hint = ": name a condition of each, as in RUN:CONDITION" if whole else ""
        raise DataError(f"{first.run.folder} and {second.run.folder} have no score in common{hint}")
    pairs = judged(candidates, part.clusters, margin)
    notes += _repair(first, second)
    return Compared(pairs, int(here.size), len(part.clusters.counts), margin, tuple(notes))


def _repair(first: Side, second: Side) -> Iterator[str]:
    """Yield what the second condition has of repairs beyond the first, where they differ in nothing else."""
    bases = (base for side in (first, second) for base in side.run.manifest["spec"].get("knowledge_bases", ()))
    known = {base.get("condition"): recorded_treatments(base) for base in bases}
    before, after = (known.get(side.condition, []) for side in (first, second))
    added = [each.label for each in after if each.purpose == "repair" and each not in before]
    if added and [each for each in after if each.label not in added] == before:
        yield f"{second.condition} is {first.condition} repaired by {named(added)}: a gain is what that brings back"


def _label(first: Place, second: Place, metric: str) -> str:
    """Name the cells that are compared: their pipelines, and their conditions where these are the same."""
    pipelines = " and ".join(dict.fromkeys("/".join(filter(None, place.pipeline[1:])) for place in (first, second)))
    condition = f", {first.condition}" if first.condition == second.condition else ""
    return " ".join(filter(None, (first.stage, metric, pipelines))) + condition


def _counted(
    asked: tuple[Places, Places], group: str, tables: Sequence[ScoreTable], notes: list[str]
) -> tuple[Places, Places]:
    """Choose the questions of a group that count on both sides; adds a note about the others."""
    sources = tables[0].questions.traits["evidence_source"][asked[0]]
    chosen = np.array([GROUPS[group](source) for source in sources], bool)
    counted = tables[0].questions.counted[asked[0]] & tables[1].questions.counted[asked[1]]
    if absent := int((chosen & ~counted).sum()):
        notes.append(without_clean_text(absent))
    return asked[0][chosen & counted], asked[1][chosen & counted]


def _common(first: Side, second: Side, tables: Sequence[ScoreTable]) -> tuple[tuple[Places, Places], list[str]]:
    """Find the questions that both sides ask, by id and text; returns their places, and notes."""
    texts = [
        {row["question_id"]: row["text"] for row in side.run.rows("questions", ["question_id", "text"])}
        for side in (first, second)
    ]
    shared = [name for name in tables[0].questions.ids if name in texts[1]]
    same = [name for name in shared if texts[0][name] == texts[1][name]]
    if not same:
        raise DataError(f"{first.run.folder} and {second.run.folder} have no question in common")
    notes = []
    if other := len(shared) - len(same):
        notes.append(f"{other:,} questions left out: their text differs")
    alone = [len(found) - len(shared) for found in texts]
    if any(alone):
        notes.append(f"{alone[0]:,} questions are in the first only, {alone[1]:,} in the second only: left out")
    for key in ("ohr", "protocol"):
        values = [side.run.manifest.get(key) for side in (first, second)]
        if values[0] != values[1]:
            shown = [value["name"] if isinstance(value, dict) else value for value in values]
            notes.append(f"{key} differs: {shown[0]} and {shown[1]}")
    places = [np.array([table.questions.place[name] for name in same], np.intp) for table in tables]
    return (places[0], places[1]), notes


def _cells(first: Side, second: Side, tables: Sequence[ScoreTable]) -> Iterator[tuple[Place, Place]]:
    """Yield the cells that the sides share: of one pipeline, and of one condition where none is named.

    Where each side has a single pipeline at a stage, these are compared whatever their names are: two systems, say.
    """
    by_pipeline = first.condition is not None or second.condition is not None
    first, second = (
        _side(side, table, other.condition)
        for side, table, other in zip((first, second), tables, (second, first), strict=True)
    )
    lone = [
        stage
        for stage in STAGES
        if all(len({place.pipeline for place in table.of_stage(stage)}) == 1 for table in tables)
    ]

    def name(place: Place) -> tuple[str | None, ...]:
        pipeline = (place.stage,) if place.stage in lone else place.pipeline
        return pipeline if by_pipeline else (*pipeline, place.condition)

    found = {name(place): place for place in tables[1].places if second.condition in (None, place.condition)}
    for place in tables[0].places:
        if place.stage in STAGES and first.condition in (None, place.condition):
            other = found.get(name(place))
            if other is not None:
                yield place, other


def _side(side: Side, table: ScoreTable, other: str | None) -> Side:
    """Choose a condition where the other side names one: that of the same name, or the only one.

    Raises:
        DataError: there is no such condition, or several could be meant.
    """
    known = _conditions(table)
    wanted = side.condition or (known[0] if other is not None and len(known) == 1 else other)
    if wanted is not None and wanted not in known:
        known_as = f"{side.run.folder}: has no condition {wanted!r}; name one as in RUN:CONDITION"
        raise DataError(f"{known_as}. {choices(wanted, known)}")
    return Side(side.run, wanted)


def _conditions(table: ScoreTable) -> list[str]:
    return list(dict.fromkeys(place.condition for place in table.places if place.stage in STAGES))


def _unmatched(tables: Sequence[ScoreTable], compared: Sequence[tuple[Place, Place]]) -> Iterator[str]:
    """Yield what only one of two whole runs has, and so is in no comparison."""
    for side, table, other, places in zip("AB", tables, tables[::-1], zip(*compared, strict=True), strict=True):
        if alone := [name for name in _conditions(table) if name not in _conditions(other)]:
            yield f"conditions that only {side} has, in no comparison: {named(alone)}"
        parts = {place.pipeline[1:] for place in places}
        rest = [place.pipeline[1:] for place in table.places if place.stage in STAGES]
        if pipelines := dict.fromkeys("/".join(filter(None, names)) for names in rest if names not in parts):
            yield f"pipelines that only {side} has, in no comparison: {named(list(pipelines))}"
