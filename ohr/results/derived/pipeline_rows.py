"""The table `pipelines`: which pipeline bears a noise, each beside the first of the run, on the same questions.

Who scores less on clean text has less to lose, so a row has how much less is lost, and how much more is scored.
"""

from collections.abc import Iterator
from math import isnan, nan
from typing import Any

import numpy as np

from ohr.results.derived.pairs import ScoredRun, paired, too_much_failed
from ohr.results.score_arrays import Floats, Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES, pipeline_names
from ohr.statistics.derived import against_zero
from ohr.statistics.estimate import Estimate
from ohr.statistics.signs import ALPHA


def pipeline_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of `pipelines`, by each stage's headline metric; agents have a table of their own, `repair`."""
    for stage in STAGES:
        metric = run.choices.headline.get(stage, "")
        pairs = list(_pairs(run, stage, metric))
        name = pipeline_names([place._asdict() for pair in pairs for place in pair])
        for first, other in pairs:
            names = {"pipeline": name(other._asdict()), "first": name(first._asdict())}
            yield names | _row(run.scores, first, other, metric, len(pairs))


def _pairs(run: ScoredRun, stage: str, metric: str) -> Iterator[tuple[Place, Place]]:
    """Yield the cells of the first pipeline and of another one under each condition that both are compared on."""
    scores, choices = run.scores, run.choices
    places = [
        place
        for place in scores.of_stage(stage)
        if not {place.retriever, place.generator} & set(choices.agents)
        and place.condition not in choices.repeats
        and scores.reference(place) not in (None, place)
    ]
    if len({place.pipeline for place in places}) < 2:  # one has none beside it, and is not read again
        return
    places = [place for place in places if metric in scores.read(place).metrics]
    firsts = {place.condition: place for place in places if place.pipeline == places[0].pipeline}
    for place in places:
        if place.pipeline != places[0].pipeline and place.condition in firsts:
            yield firsts[place.condition], place


def _spared(means: Floats) -> Any:
    return (means[0] - means[1]) - (means[2] - means[3])


def _scored_more(means: Floats) -> Any:
    return means[3] - means[1]


def _row(scores: ScoreTable, first: Place, other: Place, metric: str, among: int) -> dict[str, Any]:
    part = scores.questions.part("evidence_source", ALL)
    cells = [cell for place in (first, other) for cell in (scores.reference(place), place)]
    held = paired(*(scores.read(cell).only([metric]).values[0][part.places] for cell in cells if cell))
    level = 1 - ALPHA / among  # Bonferroni: a reader picks the pipeline that is best
    spared, more = (against_zero(held, part.clusters, function, level) for function in (_spared, _scored_more))
    failed = any(too_much_failed(scores, place, metric) for place in (first, other))
    means = dict.fromkeys(("first_clean", "first_score", "clean", "score"), nan)
    if spared.n:
        means = dict(zip(means, np.nanmean(held, axis=1).tolist(), strict=True))
    return {
        "stage": other.stage,
        **{name: getattr(other, name) for name in ("condition", "noise", "noise_type", "knob_value")},
        **{name: getattr(other, name) for name in ("chunker", "retriever", "generator")},
        "metric": metric,
        **means,
        **_ends("spared", spared),
        **_ends("scored_more", more),
        "comparisons": among,
        "n": spared.n,
        "documents": spared.documents,
        "verdict": "" if failed else _verdict(spared),
        "note": "too much failed" if failed else spared.note,
    }


def _ends(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.mean, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _verdict(spared: Estimate) -> str:
    if isnan(spared.low):
        return ""
    if spared.mean == spared.se == 0:
        return "identical"
    return "loses less" if spared.low > 0 else "loses more" if spared.high < 0 else "open"
