"""The table of hypotheses: comparisons that the spec wrote down before the run, judged as one family."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from ohr.results.choices import Choices
from ohr.results.scores import Floats, Place, ScoreTable
from ohr.results.tables import Tables
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import Comparison, family

_PARTS = ("chunker", "retriever", "generator")


def write_hypotheses(scores: ScoreTable, choices: Choices, tables: Tables) -> None:
    """Append the rows of `hypotheses`, in the order of the spec.

    Args:
        scores: of the run.
        choices: of its spec.
        tables: to append to.
    """
    found = [_sides(scores, wanted, choices) for wanted in choices.hypotheses]
    judged = family([member for _, member in found])
    rows = [
        _row(wanted, place, choices, member[2], verdict)
        for wanted, (place, member), verdict in zip(choices.hypotheses, found, judged, strict=True)
    ]
    tables.append_rows("hypotheses", rows)


def _sides(
    scores: ScoreTable, wanted: Mapping[str, Any], choices: Choices
) -> tuple[Place, tuple[Floats, Clusters, float]]:
    """Return the second cell of a hypothesis, and its difference from the first with what judges it."""
    part = scores.questions.part("evidence_source", wanted["group"])
    metric = wanted["metric"] or choices.headline[wanted["stage"]]
    sides = []
    for condition in wanted["compare"]:
        place = next(
            place
            for place in scores.of_stage(wanted["stage"])
            if place.condition == condition and all(wanted[p] in (None, getattr(place, p)) for p in _PARTS)
        )
        sides.append(scores.read(place).only([metric]).values[0][part.places])
    return place, (sides[0] - sides[1], part.clusters, wanted["margin"] or choices.margin)


def _row(
    wanted: Mapping[str, Any],
    place: Place,
    choices: Choices,
    margin: float,
    judged: tuple[Comparison, float, bool],
) -> dict[str, Any]:
    found, p, shown = judged
    one = found.difference
    held = {
        "worse": shown and one.mean > 0,
        "better": shown and one.mean < 0,
        "same": -margin < found.inner_low and found.inner_high < margin,
    }
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
        "p_holm": p,
        "margin": margin,
        "verdict": found.verdict,
        "expected": wanted["expect"],
        "held": None if isnan(found.inner_low) else bool(held[wanted["expect"]]),
    }
