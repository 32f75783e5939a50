"""The table of hypotheses: comparisons that the spec wrote down before the run, judged as one family."""

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

import numpy as np

from ohr.results.derived.pairs import FAILED, ScoredRun, cell_of, paired, verdict
from ohr.results.folder.manifest_choices import Choices
from ohr.results.score_arrays import Floats, Place, ScoreTable
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import Comparison, family

_PARTS = ("chunker", "retriever", "generator")


def hypothesis_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of `hypotheses`, in the order of the spec."""
    choices = run.choices
    found = [_sides(run.scores, wanted, choices) for wanted in choices.hypotheses]
    judged = family([member for *_, member in found])
    for wanted, (places, failed, member), (alone, p, shown) in zip(choices.hypotheses, found, judged, strict=True):
        word = verdict(alone, failed, answered=cell_of(places[0]) not in run.silent)
        about = {"pairs_failed": failed, "margin": member[2], "verdict": word, "p_holm": p}
        yield {**_row(wanted, places[1], choices, alone), **about, "held": _held(wanted, alone, word, shown)}


def _sides(
    scores: ScoreTable, wanted: Mapping[str, Any], choices: Choices
) -> tuple[list[Place], int, tuple[Floats, Clusters, float]]:
    """Return the cells of a hypothesis, the pairs that failed, and their difference with what judges it."""
    part = scores.questions.part("evidence_source", wanted["group"])
    metric = wanted["metric"] or choices.headline[wanted["stage"]]
    places = [
        next(
            place
            for place in scores.of_stage(wanted["stage"])
            if place.condition == condition and all(wanted[p] in (None, getattr(place, p)) for p in _PARTS)
        )
        for condition in wanted["compare"]
    ]
    cells = [scores.read(place).only([metric]) for place in places]
    first, second = paired(*(cell.values[0][part.places] for cell in cells))
    failed = np.any([cell.failed[0][part.places] for cell in cells], axis=0) & ~np.isnan(first)
    return places, int(failed.sum()), (first - second, part.clusters, wanted["margin"] or choices.margin)


def _held(wanted: Mapping[str, Any], found: Comparison, word: str, shown: bool) -> bool | None:
    """Report whether a hypothesis held; None where it cannot be judged."""
    if isnan(found.inner_low) or word == FAILED:
        return None
    if wanted["expect"] == "same":  # also of scores that are identical: those of other questions need not be
        return -found.margin < found.inner_low and found.inner_high < found.margin
    return bool(shown and (found.difference.mean > 0) == (wanted["expect"] == "worse"))


def _row(wanted: Mapping[str, Any], place: Place, choices: Choices, found: Comparison) -> dict[str, Any]:
    one = found.difference
    return {
        **{name: wanted[name] for name in ("name", "stage", "group")},
        "first": wanted["compare"][0],
        "second": wanted["compare"][1],
        **{part: getattr(place, part) for part in _PARTS},
        "metric": wanted["metric"] or choices.headline[wanted["stage"]],
        "n": one.n,
        "documents": one.documents,
        "changed_documents": one.changed,
        "difference": one.mean,
        **{name: getattr(one, name) for name in ("low", "high")},
        "inner_low": found.inner_low,
        "inner_high": found.inner_high,
        "p": found.p,
        "expected": wanted["expect"],
    }
