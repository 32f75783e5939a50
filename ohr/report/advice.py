"""Advice on what a run shows: the repair, the engine, and the documents that its open questions need."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf

import numpy as np

from ohr.errors import DataError
from ohr.messages.wording import counted, named
from ohr.report.headlines import ACTIVITY, kind
from ohr.report.lead import HALF, PARTS, in_points, larger_part, loss_by_stage, named_noise, rounded, staged
from ohr.results.derived.comparison import Candidate, Pair, judged
from ohr.results.derived.losses import Loss
from ohr.results.derived.pairs import cell_of, paired, silent_cells
from ohr.results.run import Row, Run
from ohr.results.score_arrays import Floats, Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES
from ohr.runner.power import design_of_run, enough, hardest, pilots

_GAINS = {
    "gain_of_repairing_index": "the index",
    "gain_of_repairing_reading": "the text that is read",
}
"""Gains by stage: what is repaired."""
_NO_ENGINE = "ground_truth"
_MOST_GROUPS = 3  # groups of engines that one sentence holds
_MOST_SIZES = 2  # of losses


def advice(run: Run, chosen: Sequence[Loss], lead: Loss) -> list[str]:
    """Return what to do, in sentences.

    Args:
        run: to read.
        chosen: those that its summary shows.
        lead: the largest loss that is shown; where none is, the largest difference.

    Raises:
        DataError: a table is missing or damaged.
    """
    sentences = (_repair(run, chosen, lead), _engines(run, lead), _documents(run, chosen))
    return [sentence for sentence in sentences if sentence]


def advice_on_engines(run: Run) -> list[str]:
    """Return what a run without losses shows of its engines, in the last stage that it evaluates."""
    return [sentence for sentence in (_engines(run, None),) if sentence]


def _repair(run: Run, chosen: Sequence[Loss], lead: Loss) -> str:
    """Return what the larger repair brings back of the lead, or of the largest loss that is shown and decomposed."""
    shown = sorted((loss for loss in chosen if kind(loss) == "loss"), key=lambda loss: (loss != lead, -loss.lost))
    loss, parts = next(((loss, parts) for loss in shown if (parts := loss_by_stage(run, loss))), (lead, {}))
    gains = sorted((name for name in _GAINS if name in parts), key=lambda name: -parts[name]["value"])
    if not gains or not parts[gains[0]]["low"] > 0:
        return ""
    larger, smaller = (_GAINS[name] for name in gains)
    gained, less = (parts[name]["value"] for name in gains)
    cost = f"the {in_points(loss.lost)} that {named_noise(loss)} costs"
    back = f"brings back {rounded(gained)} of {cost}{_interval(parts[gains[0]])}"
    instead = f"repairing only {smaller} brings back {rounded(less)}"
    if larger_part(parts)[1] > HALF:  # where a half of the loss is in doubt, so is which gain is larger
        return f"First repair {larger}: that alone {back}{f'; {instead}' if less > 0 else ''}."
    return f"Repairing only {larger} {back}; {instead}{_interval(parts[gains[1]])}."


def _interval(gain: Row) -> str:
    return f" [95% interval {rounded(gain['low'])} to {rounded(gain['high'])}]"


# --- documents --------------------------------------------------------------------------------------------


def _documents(run: Run, chosen: Sequence[Loss]) -> str:
    """Return how many documents would show losses of the last stage that has unclear ones, under those conditions.

    The sizes are fixed: the largest difference of several that are open is too large on average, and a study planned
    for it would be too small.
    """
    unclear = [loss for loss in chosen if kind(loss) in ("open", "")]
    if not unclear:
        return ""
    stage, size, source = unclear[-1].stage, design_of_run(run), ""
    unclear = [loss for loss in unclear if loss.stage == stage]
    conditions = {loss.condition for loss in unclear}
    try:
        known = [pilot for pilot in pilots(run, size) if pilot.stage == stage and pilot.condition in conditions]
    except DataError:
        known = []
    if not known:  # too few documents to know how much they vary
        known, source = pilots(None, size), ", if they vary as in other studies"
    sizes = [each for pilot in hardest(known, size) for each in enough(pilot, size)]
    needed = [each for each in sizes if size.documents < each.documents < inf][:_MOST_SIZES]
    if not needed:
        return ""
    first, *more = [(counted(int(each.documents), "document"), in_points(each.loss)) for each in needed]
    others = "".join(f", and about {documents} one of {size_of_loss}" for documents, size_of_loss in more)
    where = f"under {named_noise(unclear[0])}" if len(unclear) == 1 else "where it is unclear"
    shown = f"About {first[0]} would show a loss of {first[1]} of {staged(unclear[0])} {where}{others}"
    return f"{shown}, in four of five studies like this one{source}."


# --- engines ----------------------------------------------------------------------------------------------


def _engines(run: Run, lead: Loss | None) -> str:
    """Return which engine loses least where conditions differ in the engine only."""
    pairs = engine_pairs(run, lead)
    return _ranking(_engine_groups(run), pairs) if pairs else ""


def engine_pairs(run: Run, lead: Loss | None) -> Sequence[Pair]:
    """Compare the conditions that differ in their OCR engine only, in one pipeline; all pairs are judged together.

    Args:
        run: to read.
        lead: of the pipeline and stage; without one, the first pipeline of the last stage.

    Raises:
        DataError: a table is missing or damaged.
    """
    if not (groups := _engine_groups(run)):
        return ()
    table, silent = ScoreTable.of(run), silent_cells(run)
    part = table.questions.part("evidence_source", ALL)
    places = _places(table, lead, {condition for group in groups for condition in group})
    metric = run.headlines[next(iter(places.values())).stage] if places else ""
    values: dict[str, Floats] = {}
    candidates = []
    for group in groups:
        conditions = [condition for condition in group if condition in places]
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


def _engine_groups(run: Run) -> list[dict[str, str]]:
    """Group the conditions that differ in their OCR engine only: condition to engine, several a group."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for base in run.manifest["spec"].get("knowledge_bases", ()):
        engine = base.get("ocr", {})
        if "condition" in base and engine.get("kind", _NO_ENGINE) != _NO_ENGINE and not base.get("again_of"):
            rest = {name: base.get(name) for name in ("image_noise", "text_noise", "retrievers", "target")}
            groups[json.dumps(rest, sort_keys=True)].setdefault(base["condition"], json.dumps(engine, sort_keys=True))
    return [group for group in groups.values() if len(set(group.values())) > 1]


def _places(table: ScoreTable, lead: Loss | None, conditions: set[str]) -> dict[str, Place]:
    """Find a pipeline's cell for each condition: the lead's, or the first one of the last stage."""
    stage = lead.stage if lead else next((name for name in reversed(STAGES) if table.of_stage(name)), "")
    places = [place for place in table.of_stage(stage) if place.condition in conditions]
    pipeline = (
        tuple(getattr(lead, name) or None for name in PARTS) if lead else places[0].pipeline[1:] if places else ()
    )
    return {place.condition: place for place in places if place.pipeline[1:] == pipeline}


def _ranking(groups: Sequence[Mapping[str, str]], pairs: Sequence[Pair]) -> str:
    """Put the engines of some groups into a sentence: which is shown to lose less, and which do not differ clearly."""
    phrases = []
    for group in groups:
        mine = [pair for pair in pairs if pair.first.condition in group]
        means = {pair.first.condition: pair.first_mean for pair in mine}
        means |= {pair.second.condition: pair.second_mean for pair in mine}
        if not means:
            continue
        best = max(means, key=lambda condition: means[condition])
        beaten = [rival for rival in means if rival != best and any(_beats(pair, best, rival) for pair in mine)]
        rest = [rival for rival in means if rival not in (best, *beaten)]
        phrase = f"{best} loses {'less' if rest else 'least, less'} than {named(beaten)}"
        documents = counted(max(pair.found.difference.documents for pair in mine), "document")
        apart = f"{named([best, *rest])} do not differ clearly with {documents}"
        phrases.append(
            f"{phrase}, and does not differ clearly from {named(rest)}"
            if beaten and rest
            else phrase
            if beaten
            else apart
        )
    more = (
        f"; {counted(len(phrases) - _MOST_GROUPS, 'more group')} of conditions" if len(phrases) > _MOST_GROUPS else ""
    )
    stage = ACTIVITY[pairs[0].first.stage]
    return f"Engines, by {stage}: {'; '.join(phrases[:_MOST_GROUPS])}{more}." if phrases else ""


def _beats(pair: Pair, best: str, rival: str) -> bool:
    sign = 1 if (pair.first.condition, pair.second.condition) == (best, rival) else -1
    if sign < 0 and (pair.second.condition, pair.first.condition) != (best, rival):
        return False
    return pair.shown and sign * pair.found.difference.mean > 0
