"""The findings of a run in sentences, as its screen and its report begin."""

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from ohr.messages.wording import counted
from ohr.results.losses import Loss, distinctive, left_out, read_losses

METRICS = {"lcs": "LCS", "f1": "F1", "em": "exact match", "f1_numeric": "numeric F1"}
"""Names of metrics in running text."""

_ACTIVITY = {"retrieval": "Retrieval", "generation": "Answers from the right page", "overall": "Answers end to end"}


def headline(folder: Path) -> list[str]:
    """Return the findings of a run: what noise costs at each stage, and what the run could not show.

    Raises:
        DataError: a table is missing or damaged.
    """
    losses = distinctive(read_losses(folder))
    if not losses:
        return [
            "No knowledge base without noise, or no question with clean text: this run cannot show a cost of noise."
        ]
    found = []
    for stage in dict.fromkeys(loss.stage for loss in losses):
        found += _stage([loss for loss in losses if loss.stage == stage])
    if missing := left_out(folder):
        found.append(
            f"{counted(missing, 'question')} left out of every comparison: the pages they need have no clean text."
        )
    return found


def _stage(losses: Sequence[Loss]) -> list[str]:
    """Describe one stage: its largest loss that is shown, and the comparisons that show none."""
    first = losses[0]
    shown = [loss for loss in losses if loss.verdict in ("worse", "small") and loss.lost > 0]
    gains = [loss for loss in losses if loss.verdict in ("better", "small") and loss.lost < 0]
    same = [loss for loss in losses if loss.verdict == "same"]
    unknown = [loss for loss in losses if loss.verdict == "open"]
    what = f"{_ACTIVITY[first.stage]} ({METRICS.get(first.metric, first.metric)})"
    if isnan(first.low):
        most = max(losses, key=lambda loss: abs(loss.lost))
        differs = f"The largest difference: {sentence(most)}" if most.lost else "No mean differs from clean text's."
        return [f"{what}: too few documents ({first.documents}) for intervals.", differs]
    counts = [f"{len(shown)} of {counted(len(losses), 'comparison')} with clean text show a loss"]
    counts += [f"{len(gains)} a gain"] if gains else []
    counts += [f"{len(same)} no difference that matters"] if same else []
    counts += [f"{len(unknown)} neither"] if unknown else []
    found = [f"{what}: {', '.join(counts)}."]
    if shown:
        found.append(f"The largest: {sentence(max(shown, key=lambda loss: loss.lost))}")
    elif unknown and any(loss.questions_lost or loss.questions_gained for loss in unknown):
        found.append(f"The largest difference: {sentence(max(unknown, key=lambda loss: abs(loss.lost)))}")
    return found


def sentence(loss: Loss) -> str:
    """Describe one loss as a reviewer would accept it."""
    level = f" at {loss.level}" if loss.level else ""
    system = f" with {loss.system}" if loss.system else ""
    change = f"{_points(loss.clean)} to {_points(loss.mean)}"
    questions = (
        f"{loss.questions_lost:,} of {counted(loss.pairs, 'question')} score less and {loss.questions_gained:,} more"
    )
    if isnan(loss.low):
        return f"{loss.noise}{level}{system}, {change} points: {questions}."
    interval = f"95% interval {_points(loss.low)} to {_points(loss.high)}"
    if loss.verdict == "open":
        found = "" if isnan(loss.detectable) else f"; a loss of {_points(loss.detectable)} would have been found"
        return (
            f"{loss.noise}{level}{system} is not shown to change the score ({change} points, loss "
            f"{_points(loss.lost)}, {interval}{found}): {questions}."
        )
    if loss.verdict == "same":
        return f"{loss.noise}{level}{system} makes no difference that matters ({change} points): {questions}."
    verb, by = ("costs", loss.lost) if loss.lost > 0 else ("gains", -loss.lost)
    signs = "" if loss.lost > 0 else " of the loss"
    return f"{loss.noise}{level}{system} {verb} {_points(by)} points ({change}; {interval}{signs}): {questions}."


def _points(share: float) -> str:
    """Write a score in points of 100."""
    return f"{100 * share:z.1f}"


def with_intervals(row: Mapping[str, Any]) -> dict[str, Any]:
    """Write each value of a row that has `<name>_low` and `<name>_high` together with these ends, in one column."""
    ended = [name for name in row if f"{name}_low" in row and f"{name}_high" in row]
    ends = {f"{name}_{end}" for name in ended for end in ("low", "high")}
    return {
        name: interval(value, row[f"{name}_low"], row[f"{name}_high"]) if name in ended else value
        for name, value in row.items()
        if name not in ends
    }


def interval(mean: float, low: float, high: float) -> str:
    """Write a mean with its interval."""
    if isnan(mean):
        return ""
    return f"{mean:z.3f}" if isnan(low) else f"{mean:z.3f} [{low:z.3f}, {high:z.3f}]"
