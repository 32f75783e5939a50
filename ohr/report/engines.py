"""OCR engines side by side: the score of each under each noise, which loses less, and the seconds of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite, nan
from statistics import fmean

import numpy as np

from ohr.messages.wording import counted, named
from ohr.report.engine_settings import PLAIN, page_seconds, read_settings
from ohr.report.headlines import ACTIVITY, holds_for
from ohr.report.lead import PARTS, PagesFound, ends, in_points, read_pages_found, rounded
from ohr.report.views.view import View
from ohr.results.derived.comparison import Candidate, Pair, judged
from ohr.results.derived.losses import Loss
from ohr.results.derived.pairs import FAILED, MOST_FAILED, cell_of, paired, silent_cells
from ohr.results.run import Run
from ohr.results.score_arrays import Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES


@dataclass(frozen=True, slots=True)
class Engines:
    """Engines that read the same pages under the same noises.

    Args:
        settings: noise, in words, to engine to condition.
        pairs: the conditions of one setting, two by two; all are judged together.
        means: condition to its mean score; of those that can be judged.
        failed: engines of which too much failed under some noise, whatever they are compared with.
        seconds: engine to the mean seconds of a page; nan where it has none.
        losses: condition to its loss in the same pipeline.
        reference: what the losses are against.
        found: the pages that the same pipeline finds; None where it searches none, or questions name none.
    """

    settings: Mapping[str, Mapping[str, str]]
    pairs: Sequence[Pair]
    means: Mapping[str, float]
    failed: Sequence[str]
    seconds: Mapping[str, float]
    losses: Mapping[str, Loss]
    reference: str
    found: PagesFound | None = None

    @property
    def names(self) -> list[str]:
        """The engines, in the order of the run."""
        return list(dict.fromkeys(name for group in self.settings.values() for name in group))


def read_engines(run: Run, losses: Sequence[Loss], lead: Loss | None) -> Engines | None:
    """Compare the engines of a run in one pipeline; None where no two read the same pages.

    A folder of results that is a copy of the clean text is no engine.

    Args:
        losses: of its headline metrics.
        lead: of the pipeline and stage; without one, the first pipeline of the last stage.

    Raises:
        DataError: a table is missing or damaged.
    """
    pairs = engine_pairs(run, lead)
    if not pairs:
        return None
    stage, parts = pairs[0].first.stage, [getattr(pairs[0].first, part) or "" for part in PARTS]
    here = [loss for loss in losses if loss.stage == stage and [getattr(loss, part) for part in PARTS] == parts]
    settings = _compared(read_settings(run), pairs)
    if not settings:
        return None
    shown = {condition for engines in settings.values() for condition in engines.values()}
    pairs = [pair for pair in pairs if {pair.first.condition, pair.second.condition} <= shown]
    failed = _unjudged(run, here, pairs)
    means = {pair.first.condition: pair.first_mean for pair in pairs}
    means |= {pair.second.condition: pair.second_mean for pair in pairs}
    names = dict.fromkeys(engine for engines in settings.values() for engine in engines)
    return Engines(
        settings,
        [pair for pair in pairs if pair.verdict != FAILED],
        {condition: mean for condition, mean in means.items() if condition not in failed},
        [name for name in names if any(engines.get(name) in failed for engines in settings.values())],
        page_seconds(run, settings),
        {loss.condition: loss for loss in here},
        run.reference,
        read_pages_found(run, (pairs[0].first.chunker or "", pairs[0].first.retriever or "")),
    )


def _compared(settings: Mapping[str, Mapping[str, str]], pairs: Sequence[Pair]) -> dict[str, dict[str, str]]:
    """Keep the settings of which two engines are compared, and of each the engines that are."""
    known = {condition for pair in pairs for condition in (pair.first.condition, pair.second.condition)}
    compared = {
        noise: {engine: condition for engine, condition in engines.items() if condition in known}
        for noise, engines in settings.items()
    }
    return {noise: engines for noise, engines in compared.items() if len(engines) > 1}


def _unjudged(run: Run, losses: Sequence[Loss], pairs: Sequence[Pair]) -> set[str]:
    """Return the conditions without a verdict: that of their loss, or of their own failures where they have none."""
    unjudged = {loss.condition: loss.verdict == FAILED for loss in losses}
    table, silent = ScoreTable.of(run), silent_cells(run)
    counted_questions = table.questions.part("evidence_source", ALL).places
    for pair in pairs:
        for place in (pair.first, pair.second):
            if place.condition not in unjudged:
                cell = table.read(place).only([pair.metric])
                asked = ~np.isnan(cell.values[0][counted_questions])
                failed = cell.failed[0][counted_questions] & asked
                too_many = failed.sum() > MOST_FAILED * asked.sum()
                unjudged[place.condition] = bool(too_many) or cell_of(place) in silent
    return {condition for condition, is_unjudged in unjudged.items() if is_unjudged}


def matrix(engines: Engines, scored: str) -> View:
    """Return the scores as a table: a line for each engine, a column for each noise, pages found, and seconds."""
    best = {rounded(loss.clean) for loss in engines.losses.values()}
    found = engines.found
    first_noise, first_group = next(iter(engines.settings.items()))
    rows = []
    for name in engines.names:
        row: dict[str, str] = {"engine": name}
        for noise, group in engines.settings.items():
            row[noise] = _cell(engines, group.get(name, ""))
        if found is not None:
            row["right page found"] = found.of(first_group.get(name, ""))
        seconds = engines.seconds.get(name, nan)
        rows.append(row | {"seconds a page": "" if np.isnan(seconds) else f"{seconds:.2g}"})
    of = f" of {best.pop()} on {engines.reference}" if len(best) == 1 else ""  # scans have a plain one each
    how = f"Points of {scored}{of}."
    if engines.losses:
        how += f" Costs: a loss against {engines.reference} that is shown among all conditions of the pipeline."
    if found is not None:
        searched = f" with {found.pipeline[1]}" if found.pipeline[1] else ""
        how += f" Right page found:{searched}{_where(first_noise)}."
    return View.of("Engines", how, rows)


def _where(noise: str) -> str:
    return " on pages as they are" if noise == PLAIN else f" under {noise}"


def _cell(engines: Engines, condition: str) -> str:
    if not condition:
        return ""
    if condition not in engines.means:
        return "failed"
    loss = engines.losses.get(condition)
    return f"{rounded(engines.means[condition])}{f', costs {rounded(loss.lost)}' if loss and loss.is_loss else ''}"


def pick(engines: Engines) -> str:
    """Return in a sentence which engine to take: one that is shown to lose less somewhere, and nowhere more."""
    able = [name for name in engines.names if name not in engines.failed]
    failed = f" {named(engines.failed)} cannot be judged: too much failed." if engines.failed else ""
    if len(able) < 2:
        return failed.strip()
    if not engines.pairs:
        return f"No engine can be compared with another: too much failed on both sides together.{failed}"
    wins = _wins(engines)
    beaten = {loser for won in wins.values() for _, loser, _ in won}
    unbeaten = [name for name in able if name not in beaten and wins[name]]
    if unbeaten:
        best = max(unbeaten, key=lambda name: _mean(engines, name))
        return f"Pick {best}: {_reason(engines, best, wins[best], able)}.{failed}"
    losers, rest = [name for name in able if name in beaten], [name for name in able if name not in beaten]
    if not losers:
        documents = counted(max(pair.found.difference.documents for pair in engines.pairs), "document")
        sizes = [pair.found.detectable for pair in engines.pairs if isfinite(pair.found.detectable)]
        shows = f"; it takes a difference of {rounded(max(sizes))} points to be shown" if sizes else ""
        return f"No engine is shown to lose less than another with {documents}{shows}{_fastest(engines, able)}.{failed}"
    if not rest:
        return f"No engine is best: each loses more than another somewhere.{failed}"
    lose = f"{named(losers)} {'loses' if len(losers) == 1 else 'each lose'} more than another somewhere"
    differ = f"{named(rest)} {'is' if len(rest) == 1 else 'are'} not shown to differ from any"
    return f"No engine is best: {lose}, and {differ}.{failed}"


def _reason(engines: Engines, best: str, won: Sequence[tuple[str, str, Pair]], able: Sequence[str]) -> str:
    """Return what an engine is shown to lose less, and which engines may be as good."""
    noise, loser, pair = max(won, key=lambda each: abs(each[2].found.difference.mean))
    of = ACTIVITY[pair.first.stage]
    by = f"{in_points(abs(pair.found.difference.mean))} of {of} less than {loser}{_where(noise)} {_interval(pair)}"
    compared = {
        engine
        for group in engines.settings.values()
        for engine, condition in group.items()
        for pair in engines.pairs
        if {pair.first.condition, pair.second.condition} == {condition, group.get(best)}
    }
    rivals = [name for name in able if name != best and name not in {loser for _, loser, _ in won}]
    equal, unknown = [name for name in rivals if name in compared], [name for name in rivals if name not in compared]
    rest = f"; {named(equal)} {'does' if len(equal) == 1 else 'do'} not differ clearly from it" if equal else ""
    rest += f"; {named(unknown)} cannot be compared with it" if unknown else ""
    return f"it loses {by}, and nowhere is it shown to lose more{rest}"


def _interval(pair: Pair) -> str:
    low, high = pair.found.wide_low, pair.found.wide_high
    low, high = (low, high) if pair.found.difference.mean > 0 else (-high, -low)
    return f"[95% interval {ends(low, high, shown=pair.shown)}{holds_for(pair.found.among)}]"


def _wins(engines: Engines) -> dict[str, list[tuple[str, str, Pair]]]:
    """Return where each engine is shown to score more: the noise, the engine that scores less, and their comparison."""
    wins: dict[str, list[tuple[str, str, Pair]]] = {name: [] for name in engines.names}
    for noise, group in engines.settings.items():
        by_condition = {condition: engine for engine, condition in group.items()}
        for pair in engines.pairs:
            sides = by_condition.get(pair.first.condition), by_condition.get(pair.second.condition)
            winner, loser = sides if pair.found.difference.mean > 0 else sides[::-1]
            if pair.shown and winner is not None and loser is not None:
                wins[winner].append((noise, loser, pair))
    return wins


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
        lead: of the pipeline and stage; without one, the first pipeline of the last stage.

    Raises:
        DataError: a table is missing or damaged.
    """
    if not (settings := read_settings(run)):
        return ()
    table, silent = ScoreTable.of(run), silent_cells(run)
    part = table.questions.part("evidence_source", ALL)
    places = _places(table, lead, {condition for engines in settings.values() for condition in engines.values()})
    metric = (lead.metric if lead else run.headlines[next(iter(places.values())).stage]) if places else ""
    candidates = []
    for engines in settings.values():
        conditions = [condition for condition in engines.values() if condition in places]
        cells = {condition: table.read(places[condition]).only([metric]) for condition in conditions}
        for first, second in combinations(conditions, 2):
            failed = cells[first].failed[0][part.places] | cells[second].failed[0][part.places]
            sides = places[first], places[second]
            answered = not any(cell_of(side) in silent for side in sides)
            scores = paired(*(cells[side].values[0][part.places] for side in (first, second)))
            if not np.isnan(scores).all():
                candidates.append(Candidate("", *sides, metric, scores, failed, answered))
    return judged(candidates, part.clusters, run.choices.margin) if candidates else ()


def _places(table: ScoreTable, lead: Loss | None, conditions: set[str]) -> dict[str, Place]:
    """Find a pipeline's cell for each condition: the lead's, or the first one of the last stage."""
    stage = lead.stage if lead else next((name for name in reversed(STAGES) if table.of_stage(name)), "")
    places = [place for place in table.of_stage(stage) if place.condition in conditions]
    first = places[0].pipeline[1:] if places else ()
    pipeline = tuple(getattr(lead, name) or None for name in PARTS) if lead else first
    return {place.condition: place for place in places if place.pipeline[1:] == pipeline}
