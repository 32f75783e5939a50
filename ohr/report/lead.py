"""The sentence that a run begins with: what noise costs and where, or what can be said instead."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isnan, nan

from ohr.messages.wording import counted
from ohr.report.headlines import ACTIVITY, METRICS, kind, why_not_judged
from ohr.results.derived.decomposition import read_headlines
from ohr.results.derived.losses import Loss
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL

PARTS = ("chunker", "retriever", "generator")
"""Parts of a pipeline: fields of a loss."""

_USUAL = ("lcs", "f1")  # metrics of the paper: a reader in a hurry needs no name of theirs
_TENTHS = ("", "", "", "", "", "half", "six tenths", "seven tenths", "eight tenths", "nine tenths")
_NEAR = 0.15  # a share is said in tenths where its interval reaches no further than the tenths beside it, rounded
_STEPS = {True: "when the noisy index is searched", False: "when the noisy text is read"}
HALF = 0.5
"""Of a loss: where the part of one step is shown to be above it, more is lost there than at the other one."""


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
        return " ".join([_cost(run, largest, system), *unshown])
    first = [loss for loss in chosen if loss.stage == chosen[0].stage]
    if chosen[0].stage != chosen[-1].stage and not any(kind(loss) in ("open", "") for loss in last):
        unshown.append(_nothing(first, margin))  # answers that do not change say nothing of the search
    return " ".join(unshown)


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
    interval = f" [95% interval {rounded(loss.wide_low)} to {rounded(loss.wide_high)}]"
    where = _where(loss_by_stage(run, loss))
    return f"{name} costs {amount}{interval}{f'; {where}' if where else ''}."


def larger_part(parts: Mapping[str, Row]) -> tuple[float, float, float]:
    """Return the part of a loss at the step where more is lost, with its interval; nan where there is none.

    The parts are Shapley's, which add up to the loss; the larger one is above HALF just where the repair of its step is
    shown to bring back more than the other repair, as half the difference of the gains is that of the parts.
    """
    row = parts.get("index_part")
    if row is None or not parts["total"]["low"] > 0:
        return nan, nan, nan
    value, low, high = (row[end] for end in ("value", "low", "high"))
    return (value, low, high) if value >= HALF else (1 - value, 1 - high, 1 - low)


def _where(parts: Mapping[str, Row]) -> str:
    """Return how much of a loss is lost at which step, as far as its interval allows."""
    part, low, high = larger_part(parts)
    if isnan(part):
        return ""
    step = _STEPS[parts["index_part"]["value"] >= HALF]
    if low >= 1 - 0.1:
        return f"nearly all of that is lost {step}"
    if max(high - part, part - low) <= _NEAR and 5 <= round(10 * part) < len(_TENTHS):
        return f"about {_TENTHS[round(10 * part)]} of that is lost {step}"
    return f"more than half of that is lost {step}" if low > HALF else ""


def _nothing(losses: Sequence[Loss], margin: float) -> str:
    """Return what can be said of a stage where no loss is shown."""
    kinds: dict[str, list[Loss]] = defaultdict(list)
    for loss in losses:
        kinds[kind(loss) or "open"].append(loss)
    what, unknown, said = scored(losses[0]), kinds["open"], []
    if len(kinds["failed"]) == len(losses):
        return " ".join(why_not_judged(losses))
    if kinds["gain"]:
        most = min(kinds["gain"], key=lambda loss: loss.lost)
        said.append(f"With {named_noise(most)}, {in_points(-most.lost)} of {what} are gained over clean text.")
    if unknown:
        worst = max(unknown, key=lambda loss: loss.lost)
        cost = f"{named_noise(worst)} costs"
        if others := len(unknown) - 1:
            cost = f"{named_noise(worst)} and {counted(others, 'other condition')} cost"
        few = f"{counted(worst.documents, 'document')} {'is' if worst.documents == 1 else 'are'} too few to show"
        said.append(f"{few} whether {cost} more than {in_points(margin)} of {what}.")
    elif len(kinds["identical"]) == len(losses):
        said.append(f"No condition changes {what}.")
    else:
        said.append(f"No condition costs more than the margin of {in_points(margin)} of {what}.")
    if kinds["failed"]:
        said.append(f"{counted(len(kinds['failed']), 'condition')} cannot be judged: too much failed.")
    return " ".join(said)
