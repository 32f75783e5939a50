"""The sentence that a run begins with: what noise costs and where, or what can be said instead."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ohr.messages.wording import counted
from ohr.report.headlines import ACTIVITY, METRICS, holds_for, kind, too_few
from ohr.results.derived.decomposition import read_headlines
from ohr.results.derived.losses import Loss
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL

PARTS = ("chunker", "retriever", "generator")
"""Parts of a pipeline: fields of a loss."""

_USUAL = ("lcs", "f1")  # metrics of the paper: a reader in a hurry needs no name of theirs


def rounded(share: float) -> str:
    """Write a share in points of 100, as a reader in a hurry reads it: `67`, `5.8`, `2`."""
    value = 100 * share
    return f"{value:z.0f}" if abs(value) >= 9.95 else f"{value:z.1f}".removesuffix(".0")


def in_points(share: float) -> str:
    """Write a share with its unit: `67 points`, `1 point`."""
    number = rounded(share)
    return f"{number} point{'' if number == '1' else 's'}"


def named_noise(loss: Loss) -> str:
    """Name a noise with its level: `blur (0.8)`."""
    return f"{loss.noise} ({loss.level})" if loss.level else loss.noise


def staged(loss: Loss) -> str:
    """Name the stage that a loss is of."""
    return ACTIVITY[loss.stage]


def metric_of(loss: Loss) -> str:
    """Name the metric of a loss; "" where it is the paper's."""
    return "" if loss.metric in _USUAL else METRICS.get(loss.metric, loss.metric)


def scored(loss: Loss) -> str:
    """Name what a loss takes from: its stage, with its metric where that is none of the paper's."""
    metric = metric_of(loss)
    return f"{staged(loss)}{f' ({metric})' if metric else ''}"


def in_interval(loss: Loss) -> str:
    """Write the interval of a loss that holds for all of its family: `[95% interval 58 to 86, holds for all 5]`."""
    return f"[95% interval {ends(loss.wide_low, loss.wide_high, shown=loss.is_loss)}{holds_for(loss.among)}]"


def ends(low: float, high: float, *, shown: bool) -> str:
    """Write the ends of an interval: `58 to 86`, or `above 0 to 10` of a difference that is shown and begins at 0."""
    return f"{'above 0' if shown and not low > 0 else rounded(low)} to {rounded(high)}"


def lead_sentence(run: Run, chosen: Sequence[Loss], largest: Loss | None, system: str) -> str:
    """Return what noise costs where a loss is shown, and of the last stage what can be said where it shows none.

    Args:
        run: whose losses they are.
        chosen: the losses of one pipeline at each stage, the last stage last.
        largest: the largest loss that is shown; None where none is.
        system: the parts of its pipeline, for people.
    """
    margin = run.choices.margin
    last = [loss for loss in chosen if loss.stage == chosen[-1].stage]
    unshown = [] if any(kind(loss) == "loss" for loss in last) else [_nothing(last, margin)]
    if largest is not None:
        return " ".join([_cost(run, largest, system), *filter(None, unshown)])
    first = [loss for loss in chosen if loss.stage == chosen[0].stage]
    if chosen[0].stage != chosen[-1].stage and not any(kind(loss) in ("open", "") for loss in last):
        unshown.append(_nothing(first, margin))  # answers that do not change say nothing of the search
    return " ".join(filter(None, unshown))


def page_sentence(run: Run) -> str:
    """Return how the text of the pages scores at best and at worst; "" where the benchmark does not score pages."""
    metric = next(iter(run.page_headline.get("page", ())), "")
    rows = run.once(run.rows("summary", stage="page", by="evidence_source", group=ALL, metric=metric))
    known = sorted((row for row in rows if row["n"]), key=lambda row: -row["mean"])
    if not known:
        return ""
    best, worst = (f"{in_points(row['mean'])} under {row['condition']}" for row in (known[0], known[-1]))
    return f"The text of the pages ({METRICS.get(metric, metric)}) scores {best}" + (
        f", and {worst}." if len(known) > 1 else "."
    )


def loss_by_stage(run: Run, loss: Loss) -> Mapping[str, Row]:
    """Return the rows of the decomposition of a loss, by quantity; nothing where the run has none."""
    cell = (loss.stage, loss.condition, *(getattr(loss, part) for part in PARTS))
    return {
        row["quantity"]: row
        for row in read_headlines(run, own=False)
        if (row["stage"], row["condition"], *(row[part] or "" for part in PARTS)) == cell
    }


def _cost(run: Run, loss: Loss, system: str) -> str:
    name = named_noise(loss)
    name = name[0].upper() + name[1:] if loss.noise.replace(" ", "").isalpha() else name
    amount = f"{rounded(loss.lost)} of {in_points(loss.clean)} of {scored(loss)}{f' with {system}' if system else ''}"
    against = "" if run.reference == "clean text" else f" against {run.reference}"
    back = _come_back(loss_by_stage(run, loss))
    return f"{name} costs {amount}{against} {in_interval(loss)}{f': {back}' if back else ''}."


def _come_back(parts: Mapping[str, Row]) -> str:
    """Return which points each repair alone brings back, and which only both: together they are the loss."""
    if not parts or not parts["total"]["low"] > 0:
        return ""
    text, index, both = (
        parts[name]["value"] for name in ("gain_of_repairing_reading", "gain_of_repairing_index", "overlap")
    )
    come = "comes" if rounded(text) == "1" else "come"
    alone = f"{_gain(in_points(text))} {come} back with the text alone, {_gain(rounded(index))} with the index alone"
    if both < 0:  # either repair brings back some of the same points
        return f"{alone}, and {rounded(text + index + both)} with both"
    return f"{alone}, {rounded(both)} only with both"


def _gain(points: str) -> str:
    """Write the points of a gain; what is below 0 is none, with its number, so that the parts add up."""
    return f"none ({points})" if points.startswith("-") else points


def _nothing(losses: Sequence[Loss], margin: float) -> str:
    """Return what can be said of a stage where no loss is shown; nothing where all failed, which is said first."""
    kinds: dict[str, list[Loss]] = defaultdict(list)
    for loss in losses:
        kinds[kind(loss) or "open"].append(loss)
    what, unknown, said = scored(losses[0]), kinds["open"], []
    if len(kinds["failed"]) == len(losses):
        return ""
    if kinds["gain"]:
        most = min(kinds["gain"], key=lambda loss: loss.lost)
        said.append(f"With {named_noise(most)}, {in_points(-most.lost)} of {what} are gained.")
    if unknown:
        said.append(_unclear(unknown, what, margin))
    elif kinds["floor"]:
        low = kinds["floor"][0]
        said.append(f"{in_points(low.clean)} of {what} are too near the floor for a verdict on what noise takes away.")
    elif len(kinds["identical"]) == len(losses):
        said.append(f"No condition changes {what}.")
    else:
        failed = len(kinds["failed"])
        none = "No judged condition" if failed else "No condition"
        unjudged = f"; {counted(failed, 'condition')} could not be judged" if failed else ""
        said.append(f"{none} costs more than the margin of {in_points(margin)} of {what}{unjudged}.")
    return " ".join(said)


def _unclear(losses: Sequence[Loss], what: str, margin: float) -> str:
    """Return that documents are too few, and where none could have shown anything, how many it takes."""
    worst = max(losses, key=lambda loss: loss.lost)
    few = f"{counted(worst.documents, 'document')} {'is' if worst.documents == 1 else 'are'} too few to show"
    if worst.documents < worst.fewest:
        return f"{few} any loss of {what}: {too_few(worst.among)}."
    cost = f"{named_noise(worst)} costs"
    if others := len(losses) - 1:
        cost = f"{named_noise(worst)} and {counted(others, 'other condition')} cost"
    return f"{few} whether {cost} more than {in_points(margin)} of {what}."
