"""The table `repair`: does an agent repair noise, or does noise compound over its turns?

The share of its score that an agent retains under noise, above the floor, is compared with that of each single search,
on the same questions under the same noise. Where the agent retains more, it repairs some of the noise; where it retains
less, noise compounds. Losses in points would not do: who has no score has nothing to lose.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from ohr.results.derived.pairs import ScoredRun, floors_and_ceilings, paired, too_much_failed
from ohr.results.score_arrays import Floats, Place, ScoreTable
from ohr.results.tables.groups import ALL
from ohr.statistics.derived import against_zero, of_means
from ohr.statistics.estimate import Estimate

_FAILED = "too much failed"


def repair_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of `repair`: for each noisy condition, an agent beside each single search."""
    scores, choices = run.scores, run.choices
    metric, places = choices.headline.get("overall", ""), scores.of_stage("overall") if choices.agents else []
    single = [place for place in places if place.generator not in choices.agents]
    for place in places:
        if place.generator is not None and place.generator in choices.agents and place.noise_type != "none":
            others = [other for other in single if other.condition == place.condition]
            # it looks at clean images: it repairs nothing
            looks_past = place.condition in choices.text_alone and "image" in choices.agents[place.generator]
            for row in _rows(scores, place, others, metric, choices.margin):
                yield {**row, "verdict": "looks past it"} if looks_past and row["note"] != _FAILED else row


def _rows(
    scores: ScoreTable, place: Place, others: Sequence[Place], metric: str, margin: float
) -> Iterator[dict[str, Any]]:
    mine = _sides(scores, place, metric)
    for other in others if mine is not None else ():
        theirs = _sides(scores, other, metric)
        if mine is not None and theirs is not None:
            row = _row(scores, place, other, metric, np.stack([*mine, *theirs]), margin)
            failed = any(too_much_failed(scores, at, metric) for at in (place, other))
            yield {**row, "verdict": "", "note": _FAILED} if failed else row


def _sides(scores: ScoreTable, place: Place, metric: str) -> tuple[Floats, Floats, Floats] | None:
    """Return the clean and the noisy scores of a cell, and its floor (questions,); None without a clean counterpart."""
    clean = scores.clean(place)
    if clean is None:
        return None
    before, after = (scores.read(at).only([metric]).values[0] for at in (clean, place))
    floor = floors_and_ceilings(scores, place, [metric])[0][0]
    return before, after, np.nan_to_num(floor)


def _above(m: Floats) -> Any:
    return m[0] - m[2]


def _retained(m: Floats) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(_above(m) > 0, (m[1] - m[2]) / _above(m), np.nan)


_QUANTITIES: Mapping[str, Callable[[Floats], Any]] = {
    "lost_agent": lambda m: m[0] - m[1],
    "lost_single": lambda m: m[3] - m[4],
    "retained_agent": lambda m: _retained(m[:3]),
    "retained_single": lambda m: _retained(m[3:]),
    "above_agent": lambda m: _above(m[:3]),
    "above_single": lambda m: _above(m[3:]),
    "clean_gap": lambda m: m[0] - m[3],
    "gap": lambda m: m[1] - m[4],
}
"""Functions of six means: clean, noisy and floor of the agent, and of the single search."""


def _row(scores: ScoreTable, place: Place, other: Place, metric: str, sides: Floats, margin: float) -> dict[str, Any]:
    part = scores.questions.part("evidence_source", ALL)
    held = paired(*(side[part.places] for side in sides))
    made = of_means(held, part.clusters, _QUANTITIES)
    more = against_zero(held, part.clusters, lambda m: _retained(m[:3]) - _retained(m[3:]))
    verdict, note = _verdict(made, more, margin)
    return {
        **{name: getattr(place, name) for name in ("condition", "noise", "noise_type", "knob_value")},
        "agent": place.generator,
        **{name: getattr(other, name) for name in ("chunker", "retriever", "generator")},
        "metric": metric,
        **{name: made[name].mean for name in ("lost_agent", "lost_single", "retained_agent", "retained_single")},
        **_ends("more_retained", more),
        **_ends("clean_gap", made["clean_gap"]),
        **_ends("gap", made["gap"]),
        "n": more.n,
        "documents": more.documents,
        "verdict": verdict,
        "note": note or more.note,
    }


def _ends(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def _verdict(made: Mapping[str, Estimate], more: Estimate, margin: float) -> tuple[str, str]:
    """Return `repairs`, `compounds`, `identical` or `open`; empty where shares cannot be compared, and why."""
    above = [made[name] for name in ("above_agent", "above_single")]
    if isnan(more.low):
        return "", ""
    if any(one.low <= margin for one in above):
        return "", "near the floor"
    if abs(made["clean_gap"].mean) > margin:
        return "", "clean scores differ"
    if more.mean == more.se == 0:
        return "identical", ""
    return "repairs" if more.low > 0 else "compounds" if more.high < 0 else "open", ""
