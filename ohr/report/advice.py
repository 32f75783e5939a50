"""Advice on what a run shows: the repair, and the documents that its open questions need."""

from collections.abc import Mapping, Sequence
from math import inf, isnan, nan

from ohr.errors import DataError
from ohr.messages.wording import ranged
from ohr.report.headlines import kind
from ohr.report.lead import in_points, loss_by_stage, named_noise, rounded, staged
from ohr.results.derived.losses import Loss
from ohr.results.run import Row, Run
from ohr.runner.power import design_of_run, enough, hardest, pilots

_GAINS = {
    "gain_of_repairing_index": "the index",
    "gain_of_repairing_reading": "the text that is read",
}
"""Gains by stage: what is repaired."""
HALF = 0.5
"""Of a loss: where the part of one step is shown to be above it, more is lost there than at the other one."""
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
    sentences = (_repair(run, chosen, lead), _documents(run, chosen))
    return [sentence for sentence in sentences if sentence]


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
    if _larger_part(parts) > HALF:  # where a half of the loss is in doubt, so is which gain is larger
        return f"First repair {larger}: that alone {back}{f'; {instead}' if less > 0 else ''}."
    return f"Repairing only {larger} {back}; {instead}{_interval(parts[gains[1]])}."


def _larger_part(parts: Mapping[str, Row]) -> float:
    """Return the lower end of the part of a loss at the step where more is lost; nan where there is none.

    The parts are Shapley's, which add up to the loss; the larger one is above HALF just where the repair of its step is
    shown to bring back more than the other repair, as half the difference of the gains is that of the parts.
    """
    row = parts.get("index_part")
    if row is None or not parts["total"]["low"] > 0 or isnan(row["low"]):
        return nan
    return float(row["low"] if row["value"] >= HALF else 1 - row["high"])


def _interval(gain: Row) -> str:
    return f" [95% interval {rounded(gain['low'])} to {rounded(gain['high'])}]"


# --- documents --------------------------------------------------------------------------------------------


def _documents(run: Run, chosen: Sequence[Loss]) -> str:
    """Return how many documents would show losses of the last stage that has unclear ones, as `ohr plan --from` does.

    The sizes are fixed: the largest difference of several that are open is too large on average, and a study planned
    for it would be too small.
    """
    unclear = [loss for loss in chosen if kind(loss) in ("open", "")]
    if not unclear:
        return ""
    stage, size, source = unclear[-1].stage, design_of_run(run), ""
    try:
        known = [pilot for pilot in hardest(pilots(run, size), size) if pilot.stage == stage]
    except DataError:
        known = []
    if not known:  # too few documents to know how much they vary
        known, source = pilots(None, size), ", if they vary as in other studies"
    sizes = [each for pilot in known for each in enough(pilot, size)]
    needed = [each for each in sizes if size.documents < each.documents.high < inf][:_MOST_SIZES]
    if not needed:
        return ""
    first, *more = needed
    among = f" with {size.among(stage)} conditions" if size.among(stage) > 1 else ""
    others = "".join(f", {ranged(each.documents, 'document')} one of {in_points(each.loss)}" for each in more)
    shown = f"{ranged(first.documents, 'document')} would show a loss of {in_points(first.loss)}"
    return f"{shown} of {staged(unclear[-1])}{others}, in four of five studies{among}{source}."
