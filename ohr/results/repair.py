"""The table `repair`: does an agent repair noise, or does noise compound over its turns?

An agent's loss to noise is compared with that of each single search, on the same questions under the same noise. Where
the agent loses less, it repairs some of the noise; where it loses more, noise compounds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ohr.results.choices import Choices
from ohr.results.groups import ALL
from ohr.results.pairs import paired
from ohr.results.reading import read_rows
from ohr.results.scores import Floats, Place, ScoreTable
from ohr.results.tables import Tables
from ohr.statistics.estimate import Estimate
from ohr.statistics.intervals import differences

TABLE = "repair"


def write_repair(scores: ScoreTable, choices: Choices, tables: Tables) -> None:
    """Append the rows of `repair`: for each noisy condition, an agent beside each single search.

    Args:
        scores: of the run.
        choices: of its spec.
        tables: to append to.
    """
    metric, places = choices.headline.get("overall", ""), scores.of_stage("overall") if choices.agents else []
    single = [place for place in places if place.generator not in choices.agents]
    for place in places:
        if place.generator is not None and place.generator in choices.agents and place.noise_type != "none":
            others = [other for other in single if other.condition == place.condition]
            rows = list(_rows(scores, place, others, metric))
            if place.condition in choices.text_alone and "image" in choices.agents[place.generator]:
                rows = [{**row, "verdict": "looks past it"} for row in rows]  # at clean images: it repairs nothing
            tables.append_rows(TABLE, rows)


def read_repair(folder: Path) -> list[dict[str, Any]]:
    """Read the rows of a run; none without agents and single searches."""
    path = folder / f"{TABLE}.parquet"
    return read_rows(path) if path.is_file() else []


def _rows(scores: ScoreTable, place: Place, others: Sequence[Place], metric: str) -> Iterator[dict[str, Any]]:
    """Yield an agent's cell beside each cell of a single search under the same condition."""
    mine = _sides(scores, place, metric)
    for other in others if mine is not None else ():
        theirs = _sides(scores, other, metric)
        if mine is not None and theirs is not None:
            yield _row(scores, place, other, metric, [*mine, *theirs])


def _sides(scores: ScoreTable, place: Place, metric: str) -> tuple[Floats, Floats] | None:
    """Return the clean and the noisy scores of a cell (questions,); None where it has no clean counterpart."""
    clean = scores.clean(place)
    if clean is None:
        return None
    before, after = (scores.read(at).only([metric]).values[0] for at in (clean, place))
    return before, after


def _row(scores: ScoreTable, place: Place, other: Place, metric: str, sides: Sequence[Floats]) -> dict[str, Any]:
    part = scores.questions.part("evidence_source", ALL)
    held = paired(*(side[part.places] for side in sides))  # (agent clean, agent noisy, clean, noisy; questions)
    lost, others = held[0] - held[1], held[2] - held[3]
    # half of it, as the interval is made for differences of scores in [0, 1]
    less, gap = differences(np.stack([(others - lost) / 2, held[1] - held[3]]), part.clusters)
    less = replace(less, mean=2 * less.mean, low=2 * less.low, high=2 * less.high, se=2 * less.se)
    means = [float(np.nanmean(side)) if less.n else float("nan") for side in (lost, others)]
    return {
        **{name: getattr(place, name) for name in ("condition", "noise", "noise_type", "knob_value")},
        "agent": place.generator,
        **{name: getattr(other, name) for name in ("chunker", "retriever", "generator")},
        "metric": metric,
        "lost_agent": means[0],
        "lost_single": means[1],
        **_ends("less_lost", less),
        **_ends("gap", gap),
        "n": less.n,
        "documents": less.documents,
        "changed_documents": less.changed,
        "verdict": _verdict(less),
        "note": less.note,
    }


def _ends(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def _verdict(less: Estimate) -> str:
    """Return `repairs` or `compounds` where that is shown, else `open`; empty without an interval."""
    if np.isnan(less.low):
        return ""
    return "repairs" if less.low > 0 else "compounds" if less.high < 0 else "open"
