"""From rows to means: per cell, metric and evidence source, with intervals, dose, floor and ceiling."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from statistics import fmean
from typing import Any

import numpy as np

from ohr.metrics.intervals import NO_INTERVAL, clustered_mean, minimum_detectable_effect, paired_difference
from ohr.steps.references import FLOORS

Row = Mapping[str, Any]
Key = tuple[Any, ...]

GROUPS: dict[str, Callable[[str], bool]] = {
    "all": lambda _: True,
    "text": lambda source: source == "text",
    "multimodal": lambda source: source in ("table", "formula", "chart"),
    "table": lambda source: source == "table",
    "formula": lambda source: source == "formula",
    "chart": lambda source: source == "chart",
    "reading_order": lambda source: source == "reading_order",
}
"""Evidence sources, and the groups of the paper's Fig. 3."""

CUTS = ("domain", "answer_form", "task_type", "pages")
"""What questions are told apart by, beside their evidence source; only where it tells some of them apart."""

_NO_DOSE = {"r_noise": nan, "evidence_loss": nan}
_LEVEL = ("stage", "noise", "noise_type", "knob", "knob_value", "chunker", "retriever", "generator")


@dataclass(frozen=True, slots=True)
class _Scores:
    """One cell's scores of one metric: (questions,) arrays, the mean over replicates of each question."""

    documents: Sequence[str]
    domains: Sequence[str]
    sources: Sequence[str]
    traits: Mapping[str, Sequence[str]]
    values: np.ndarray[Any, np.dtype[np.float64]]
    failed: np.ndarray[Any, np.dtype[np.bool_]]
    replicates: int
    spread: float


def summarise(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Average rows; the replicates of a level are pooled before documents are resampled."""
    scores = _gathered(rows)
    doses = _doses(scores)
    summary = []
    for (level, metric), found in scores.items():
        place = dict(zip(_LEVEL, level, strict=True))
        if place["stage"] == "reference" or metric.endswith("_floor"):
            continue
        whole = doses.get((place["noise"], place["knob_value"], "all"), _NO_DOSE)
        for group, belongs in GROUPS.items():
            chosen = np.array([belongs(source) for source in found.sources])
            if not chosen.any():
                continue
            floor, ceiling = _bounds(scores, place, metric, chosen)
            summary.append(
                {
                    **place,
                    "metric": metric,
                    "by": "evidence_source",
                    "group": group,
                    "evidence_source": group,
                    **_estimate(found, chosen),
                    "replicates": found.replicates,
                    "replicate_sd": found.spread if group == "all" else nan,
                    **doses.get((place["noise"], place["knob_value"], group), _NO_DOSE),
                    **{f"kb_{name}": value for name, value in whole.items()},
                    **_lost(_clean(scores, place, metric), found, chosen),
                    "floor": floor,
                    "ceiling": ceiling,
                }
            )
        summary += [{**place, "metric": metric, **row} for row in _cut(found)]
    return summary


def _cut(found: _Scores) -> Iterator[dict[str, Any]]:
    """Give the means of a cell by domain, answer form, task type and number of pages; columns left out are empty."""
    for trait, held in found.traits.items():
        groups = sorted(set(held))
        for group in groups if len(groups) > 1 else ():
            chosen = np.array([value == group for value in held])
            counts = {"replicates": found.replicates, "replicate_sd": nan}
            yield {"by": trait, "group": group, "evidence_source": None, **_estimate(found, chosen), **counts}


def _gathered(rows: Iterable[Row]) -> dict[tuple[Key, str], _Scores]:
    cells: dict[tuple[Key, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[tuple(row[name] for name in _LEVEL), row["metric"]][row["question_id"]].append(row)
    gathered = {}
    for place, questions in cells.items():
        firsts = [found[0] for found in questions.values()]
        draws: dict[int, list[float]] = defaultdict(list)
        for row in (row for found in questions.values() for row in found):
            draws[row["replicate"]].append(row["value"])
        means = [float(np.nanmean(values)) if not np.isnan(values).all() else nan for values in draws.values()]
        gathered[place] = _Scores(
            [row["document"] for row in firsts],
            [row["domain"] for row in firsts],
            [row["evidence_source"] for row in firsts],
            {trait: [_trait(row, trait) for row in firsts] for trait in CUTS},
            np.array([np.mean([row["value"] for row in found]) for found in questions.values()]),
            np.array([any(row["status"] == "failed" for row in found) for found in questions.values()]),
            len(draws),
            float(np.std(means, ddof=1)) if len(means) > 1 else nan,
        )
    return gathered


def _trait(row: Row, trait: str) -> str:
    if trait == "pages":
        return "multi-page" if row["multi_page"] else "single-page"
    return str(row[trait])


def _macro(values: np.ndarray[Any, np.dtype[np.float64]], domains: Sequence[str]) -> dict[str, Any]:
    """Average the means of the domains, each with the same weight; undefined values are in none."""
    by_domain: dict[str, list[float]] = defaultdict(list)
    for value, domain in zip(values.tolist(), domains, strict=True):
        if not isnan(value):
            by_domain[domain].append(value)
    means = [fmean(found) for found in by_domain.values()]
    return {"macro_mean": fmean(means) if means else nan, "domains": len(means)}


def _estimate(found: _Scores, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> dict[str, Any]:
    places = np.flatnonzero(chosen).tolist()
    documents = [found.documents[place] for place in places]
    domains = [found.domains[place] for place in places]
    failed = int(found.failed[chosen].sum())
    values = found.values[chosen]
    estimate = asdict(clustered_mean(values, documents, failed, strata=strata_of(documents, domains)))
    return {"mean": estimate.pop("mean"), **_macro(values, domains), **estimate}


def _lost(clean: _Scores | None, found: _Scores, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> dict[str, float]:
    """Compare with the knowledge base without noise, question by question: what noise took, and what could be seen."""
    if clean is None or clean is found:
        return {"lost": nan, "lost_low": nan, "lost_high": nan, "lost_detectable": nan}
    places = np.flatnonzero(chosen).tolist()
    documents, domains = [found.documents[p] for p in places], [found.domains[p] for p in places]
    lost = paired_difference(
        clean.values[chosen], found.values[chosen], documents, strata=strata_of(documents, domains)
    )
    detectable = minimum_detectable_effect(lost.se, lost.df)
    return {"lost": lost.mean, "lost_low": lost.low, "lost_high": lost.high, "lost_detectable": detectable}


def strata_of(documents: Sequence[str], domains: Sequence[str]) -> Sequence[str] | None:
    """Take domains as fixed strata only where each has documents enough to know its own variance.

    With two documents a domain has one degree of freedom: intervals of mini's sources came out wider than [0, 1].
    """
    members = Counter(domain for _, domain in set(zip(documents, domains, strict=True)))
    return domains if min(members.values()) >= NO_INTERVAL else None


def _doses(scores: Mapping[tuple[Key, str], _Scores]) -> dict[Key, dict[str, float]]:
    """Give r_noise and evidence loss of each level and group."""
    doses: dict[Key, dict[str, float]] = {}
    for (level, metric), damaged in scores.items():
        place = dict(zip(_LEVEL, level, strict=True))
        if place["stage"] != "page" or metric != "damaged":
            continue
        held, whole = scores[level, "lcs_kb"].values, scores[level, "lcs_gt"].values
        for group, belongs in GROUPS.items():
            counted = np.array([belongs(source) for source in damaged.sources]) & ~np.isnan(damaged.values)
            if counted.any():
                loss = (
                    1 - np.minimum(held, whole)[counted].sum() / whole[counted].sum() if whole[counted].sum() else nan
                )
                doses[place["noise"], place["knob_value"], group] = {
                    "r_noise": float(damaged.values[counted].mean()),
                    "evidence_loss": float(loss),
                }
    return doses


def _bounds(
    scores: Mapping[tuple[Key, str], _Scores],
    place: Mapping[str, Any],
    metric: str,
    chosen: np.ndarray[Any, np.dtype[np.bool_]],
) -> tuple[float, float]:
    """Give floor and ceiling of a cell's metric on the chosen questions; nan where there is none."""
    level = tuple(place[name] for name in _LEVEL)
    if place["stage"] == "retrieval":
        floor = scores.get((level, f"{metric}_floor"))
        return _mean(floor, chosen), _mean(_clean(scores, place, metric), chosen)
    if place["stage"] not in ("generation", "overall"):
        return nan, nan
    floors = {name: _reference(scores, place["generator"], name, metric) for name in (*FLOORS, "constant")}
    best = max((found for found in floors.values() if found), key=lambda found: _mean(found, chosen), default=None)
    return _mean(best, chosen), _mean(_reference(scores, place["generator"], "evidence_only", metric), chosen)


def _clean(scores: Mapping[tuple[Key, str], _Scores], place: Mapping[str, Any], metric: str) -> _Scores | None:
    """Find the same cell on the knowledge base without noise."""
    for (level, name), found in scores.items():
        other = dict(zip(_LEVEL, level, strict=True))
        same = all(other[part] == place[part] for part in ("stage", "chunker", "retriever", "generator"))
        if same and name == metric and other["noise_type"] == "none":
            return found
    return None


def _reference(
    scores: Mapping[tuple[Key, str], _Scores], generator: str, condition: str, metric: str
) -> _Scores | None:
    for (level, name), found in scores.items():
        other = dict(zip(_LEVEL, level, strict=True))
        mine = other["stage"] == "reference" and other["noise"] == condition
        if mine and name == metric and other["generator"] in (generator, None):
            return found
    return None


def _mean(found: _Scores | None, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    if found is None or np.isnan(found.values[chosen]).all():
        return nan
    return float(np.nanmean(found.values[chosen]))
