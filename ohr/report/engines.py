"""OCR engines side by side: the score of each under each noise, which loses less, and the seconds of a page."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from statistics import fmean
from typing import Any

import numpy as np

from ohr.messages.wording import counted, named
from ohr.report.headlines import ACTIVITY, holds_for
from ohr.report.lead import PARTS, in_points, rounded
from ohr.report.pages_found import PagesFound
from ohr.report.views.view import View
from ohr.results.derived.comparison import Candidate, Pair, judged
from ohr.results.derived.copies import copies_of_clean
from ohr.results.derived.losses import Loss
from ohr.results.derived.pairs import FAILED, cell_of, paired, silent_cells
from ohr.results.run import Run
from ohr.results.score_arrays import Floats, Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES

_NO_ENGINE = "ground_truth"
_PLAIN = "as they are"
_KNOBS = ("severity", "level", "rate")


@dataclass(frozen=True, slots=True)
class Engines:
    """Engines that read the same pages under the same noises.

    Args:
        settings: noise, in words, to engine to condition.
        pairs: the conditions of one setting, two by two; all are judged together.
        means: condition to its mean score; of those that can be judged.
        failed: engines of which too much failed under some noise.
        seconds: engine to the mean seconds of a page; nan where it has none.
        losses: condition to its loss in the same pipeline.
    """

    settings: Mapping[str, Mapping[str, str]]
    pairs: Sequence[Pair]
    means: Mapping[str, float]
    failed: Sequence[str]
    seconds: Mapping[str, float]
    losses: Mapping[str, Loss]


def read_engines(run: Run, losses: Sequence[Loss], lead: Loss | None) -> Engines | None:
    """Compare the engines of a run in one pipeline; None where no two read the same pages.

    A folder of results that is a copy of the clean text is no engine.

    Args:
        run: to read.
        losses: of its headline metrics.
        lead: of the pipeline and stage; without one, the first pipeline of the last stage.

    Raises:
        DataError: a table is missing or damaged.
    """
    pairs = engine_pairs(run, lead)
    if not pairs:
        return None
    here = [loss for loss in losses if _is_same_pipeline(loss, pairs[0].first)]
    settings = _settings(run)
    known = {condition for pair in pairs for condition in (pair.first.condition, pair.second.condition)}
    settings = {
        noise: {engine: condition for engine, condition in engines.items() if condition in known}
        for noise, engines in settings.items()
    }
    settings = {noise: engines for noise, engines in settings.items() if len(engines) > 1}
    if not settings:
        return None
    shown = {condition for engines in settings.values() for condition in engines.values()}
    pairs = [pair for pair in pairs if {pair.first.condition, pair.second.condition} <= shown]
    failed = {loss.condition for loss in here if loss.verdict == FAILED} or _crashed(pairs)
    means = {pair.first.condition: pair.first_mean for pair in pairs}
    means |= {pair.second.condition: pair.second_mean for pair in pairs}
    names = dict.fromkeys(engine for engines in settings.values() for engine in engines)
    return Engines(
        settings,
        [pair for pair in pairs if pair.verdict != FAILED],
        {condition: mean for condition, mean in means.items() if condition not in failed},
        [name for name in names if any(engines.get(name) in failed for engines in settings.values())],
        _seconds(run, settings),
        {loss.condition: loss for loss in here},
    )


def _crashed(pairs: Sequence[Pair]) -> set[str]:
    """Return the conditions that cannot be judged beside any other."""
    sides: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        for condition in (pair.first.condition, pair.second.condition):
            sides[condition].append(pair.verdict == FAILED)
    return {condition for condition, fails in sides.items() if all(fails)}


def _is_same_pipeline(loss: Loss, place: Place) -> bool:
    return loss.stage == place.stage and all(getattr(loss, part) == (getattr(place, part) or "") for part in PARTS)


def matrix(engines: Engines, scored: str, found: PagesFound | None) -> View:
    """Return the scores as a table: a line for each engine, a column for each noise, pages found, and seconds."""
    clean = next((loss.clean for loss in engines.losses.values()), nan)
    names = list(dict.fromkeys(name for group in engines.settings.values() for name in group))
    rows = []
    for name in names:
        row: dict[str, str] = {"engine": name}
        for noise, group in engines.settings.items():
            row[noise] = _cell(engines, group.get(name, ""))
        if found is not None:
            row["right page found"] = found.of(
                next((group[name] for group in engines.settings.values() if name in group), "")
            )
        seconds = engines.seconds.get(name, nan)
        rows.append(row | {"seconds a page": "" if np.isnan(seconds) else f"{seconds:.2g}"})
    of = "" if np.isnan(clean) else f" of {rounded(clean)} on clean text"
    how = (
        f"Points of {scored}{of}. Costs: a loss against clean text that is shown among all conditions of the pipeline."
    )
    return View.of("Engines", how, rows)


def _cell(engines: Engines, condition: str) -> str:
    if not condition:
        return ""
    if condition not in engines.means:
        return "failed"
    loss = engines.losses.get(condition)
    return f"{rounded(engines.means[condition])}{f', costs {rounded(loss.lost)}' if loss and loss.is_loss else ''}"


def pick(engines: Engines) -> str:
    """Return in a sentence which engine to take: one that is shown to lose less somewhere, and nowhere more."""
    names = list(dict.fromkeys(name for group in engines.settings.values() for name in group))
    able = [name for name in names if name not in engines.failed]
    failed = f" {named(engines.failed)} cannot be judged: too much failed." if engines.failed else ""
    if len(able) < 2:
        return failed.strip()
    wins = {name: _wins(engines, name) for name in able}
    beaten = {loser for won in wins.values() for _, loser, _ in won}
    unbeaten = [name for name in able if name not in beaten and wins[name]]
    documents = counted(max(pair.found.difference.documents for pair in engines.pairs), "document")
    if not unbeaten:
        if any(wins.values()):
            return f"No engine is best: each loses more than another somewhere.{failed}"
        return f"No engine is shown to lose less than another with {documents}{_fastest(engines, able)}.{failed}"
    best = max(unbeaten, key=lambda name: _mean(engines, name))
    noise, loser, pair = max(wins[best], key=lambda won: abs(won[2].found.difference.mean))
    where = f"{f' under {noise}' if noise != _PLAIN else ' on pages as they are'}"
    of = ACTIVITY[pair.first.stage]
    by = f"{in_points(abs(pair.found.difference.mean))} of {of} less than {loser}{where} {_interval(pair)}"
    rivals = [name for name in able if name != best and name not in {loser for _, loser, _ in wins[best]}]
    rest = f"; {named(rivals)} {'does' if len(rivals) == 1 else 'do'} not differ clearly from it" if rivals else ""
    return f"Pick {best}: it loses {by}, and nowhere more than another{rest}.{failed}"


def _interval(pair: Pair) -> str:
    low, high = pair.found.wide_low, pair.found.wide_high
    low, high = (low, high) if pair.found.difference.mean > 0 else (-high, -low)
    return f"[95% interval {rounded(low)} to {rounded(high)}{holds_for(pair.found.among)}]"


def _wins(engines: Engines, name: str) -> list[tuple[str, str, Pair]]:
    """Return where an engine is shown to score more: the noise, the engine that scores less, and their comparison."""
    found = []
    for noise, group in engines.settings.items():
        by_condition = {condition: engine for engine, condition in group.items()}
        for pair in engines.pairs:
            sides = by_condition.get(pair.first.condition), by_condition.get(pair.second.condition)
            if pair.shown and name in sides and None not in sides:
                winner, loser = sides if pair.found.difference.mean > 0 else sides[::-1]
                if winner == name and loser is not None:
                    found.append((noise, loser, pair))
    return found


def _mean(engines: Engines, name: str) -> float:
    conditions = [group[name] for group in engines.settings.values() if name in group]
    return fmean(engines.means[condition] for condition in conditions if condition in engines.means)


def _fastest(engines: Engines, names: Sequence[str]) -> str:
    known = {name: engines.seconds[name] for name in names if engines.seconds.get(name, nan) > 0}
    if len(known) < 2:
        return ""
    first, last = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
    return f"; the fastest is {first} with {known[first]:.2g} seconds a page, the slowest {last} with {known[last]:.2g}"


# --- what is compared -------------------------------------------------------------------------------------


def engine_pairs(run: Run, lead: Loss | None) -> Sequence[Pair]:
    """Compare the conditions that differ in their OCR engine only, in one pipeline; all pairs are judged together.

    Args:
        run: to read.
        lead: of the pipeline and stage; without one, the first pipeline of the last stage.

    Raises:
        DataError: a table is missing or damaged.
    """
    if not (settings := _settings(run)):
        return ()
    table, silent = ScoreTable.of(run), silent_cells(run)
    part = table.questions.part("evidence_source", ALL)
    places = _places(table, lead, {condition for engines in settings.values() for condition in engines.values()})
    metric = (lead.metric if lead else run.headlines[next(iter(places.values())).stage]) if places else ""
    values: dict[str, Floats] = {}
    candidates = []
    for engines in settings.values():
        conditions = [condition for condition in engines.values() if condition in places]
        cells = {condition: table.read(places[condition]).only([metric]) for condition in conditions}
        values |= {condition: cell.values[0][part.places] for condition, cell in cells.items()}
        for first, second in combinations(conditions, 2):
            failed = cells[first].failed[0][part.places] | cells[second].failed[0][part.places]
            sides = places[first], places[second]
            answered = not any(cell_of(side) in silent for side in sides)
            scores = paired(values[first], values[second])
            if not np.isnan(scores).all():
                candidates.append(Candidate("", *sides, metric, scores, failed, answered))
    return judged(candidates, part.clusters, run.choices.margin) if candidates else ()


def _settings(run: Run) -> dict[str, dict[str, str]]:
    """Group the conditions that differ in their OCR engine only: noise, in words, to engine to condition."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    labels, kinds = dict[str, str](), dict[str, str]()
    copies = copies_of_clean(run)
    for base in run.manifest["spec"].get("knowledge_bases", ()):
        engine = base.get("ocr", {}) if base.get("condition") not in copies else {}
        if "condition" in base and engine.get("kind", _NO_ENGINE) != _NO_ENGINE and not base.get("again_of"):
            rest = json.dumps(
                {name: base.get(name) for name in ("image_noise", "text_noise", "retrievers", "target")}, sort_keys=True
            )
            labels[rest] = _label([*(base.get("image_noise") or ()), *(base.get("text_noise") or ())])
            key = json.dumps(engine, sort_keys=True)
            kinds.setdefault(key, engine["kind"] if engine["kind"] not in kinds.values() else base["name"])
            groups[rest].setdefault(kinds[key], base["condition"])
    several = {rest: engines for rest, engines in groups.items() if len(engines) > 1}
    unique = len({labels[rest] for rest in several}) == len(several)
    return {labels[rest] if unique else f"{labels[rest]} ({n})": several[rest] for n, rest in enumerate(several, 1)}


def _label(noises: Sequence[Mapping[str, Any]]) -> str:
    """Name a chain of noises by its kinds, each with its knob."""
    named_noises = (
        " ".join(
            [
                str(noise.get("kind")).replace("_", " "),
                *(str(noise[knob]) for knob in _KNOBS if noise.get(knob) is not None),
            ][:2]
        )
        for noise in noises
    )
    return " + ".join(named_noises) or _PLAIN


def _places(table: ScoreTable, lead: Loss | None, conditions: set[str]) -> dict[str, Place]:
    """Find a pipeline's cell for each condition: the lead's, or the first one of the last stage."""
    stage = lead.stage if lead else next((name for name in reversed(STAGES) if table.of_stage(name)), "")
    places = [place for place in table.of_stage(stage) if place.condition in conditions]
    pipeline = (
        tuple(getattr(lead, name) or None for name in PARTS) if lead else places[0].pipeline[1:] if places else ()
    )
    return {place.condition: place for place in places if place.pipeline[1:] == pipeline}


def _seconds(run: Run, settings: Mapping[str, Mapping[str, str]]) -> dict[str, float]:
    """Return the mean seconds that each engine took for a page, under all noises."""
    read = run.table("readings", ["condition", "seconds"])
    sums = read.group_by(["condition"]).aggregate([("seconds", "sum"), ([], "count_all")]).to_pylist()
    taken = {row["condition"]: (row["seconds_sum"] or 0.0, row["count_all"]) for row in sums}
    found = {}
    for name in dict.fromkeys(engine for engines in settings.values() for engine in engines):
        mine = [taken[engines[name]] for engines in settings.values() if engines.get(name) in taken]
        pages = sum(count for _, count in mine)
        seconds = sum(sum_ for sum_, _ in mine)
        found[name] = seconds / pages if pages and seconds else nan
    return found
