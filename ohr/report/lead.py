"""The sentences that a run begins with: what noise costs and where, which pages are found, and what to do."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf, isnan, nan

from ohr.errors import DataError
from ohr.messages.wording import counted, ranged
from ohr.report.headlines import ACTIVITY, METRICS, holds_for, kind, too_few
from ohr.results.derived.decomposition import read_headlines
from ohr.results.derived.losses import Loss
from ohr.results.derived.pairs import MOST_FAILED
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL, PAGE
from ohr.runner.power import design_of_run, enough, hardest, pilots

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


def metric_of(loss: Loss) -> str:
    """Name the metric of a loss; "" where it is the paper's."""
    return "" if loss.metric in _USUAL else METRICS.get(loss.metric, loss.metric)


def scored(loss: Loss) -> str:
    """Name what a loss takes from: its stage, with its metric where that is none of the paper's."""
    metric = metric_of(loss)
    return f"{ACTIVITY[loss.stage]}{f' ({metric})' if metric else ''}"


def ends(low: float, high: float, *, shown: bool) -> str:
    """Write the ends of an interval: `58 to 86`, or `above 0 to 10` of a difference that is shown and begins at 0."""
    return f"{'above 0' if shown and not low > 0 else rounded(low)} to {rounded(high)}"


def lead_sentence(run: Run, chosen: Sequence[Loss], largest: Loss | None, system: str) -> str:
    """Return what noise costs where a loss is shown, and of the last stage what can be said where it shows none.

    Args:
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
    interval = f"[95% interval {ends(loss.wide_low, loss.wide_high, shown=loss.is_loss)}{holds_for(loss.among)}]"
    return f"{name} costs {amount}{against} {interval}{f': {back}' if back else ''}."


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


HIT = "hit@"
"""Beginning of the metrics that are 1 where a page of the evidence is among the first k hits."""


@dataclass(frozen=True, slots=True)
class PagesFound:
    """The pages that one pipeline finds.

    Args:
        pipeline: its chunker and retriever.
        depth: of the ranking, in hits.
        shares: condition to the share of the questions.
        questions: condition to how many name their pages.
        clean: the condition that the others are compared with; "" where there is none.
    """

    pipeline: tuple[str, str]
    depth: int
    shares: Mapping[str, float]
    questions: Mapping[str, int]
    clean: str

    def of(self, condition: str) -> str:
        """Return in words how many are found under a condition; "" where it was not searched."""
        share = self.shares.get(condition)
        if share is None:
            return ""
        questions = self.questions[condition]
        count = f"{questions * share:,.1f}".removesuffix(".0")  # a mean over draws may be no whole number
        return f"{count} of {questions:,}"


def read_pages_found(
    run: Run, searched: tuple[str, str] | None = None, preferred: tuple[str, str] | None = None
) -> PagesFound | None:
    """Read what a pipeline finds, of conditions under which not too much failed; None where questions name no pages.

    Args:
        searched: its chunker and retriever; by default those that find most pages on clean text.
        preferred: those among several that find as many.
    """
    rows = run.once(run.rows("summary", stage="retrieval", by="evidence_source", group=ALL))
    hits = [
        row for row in rows if row["metric"].startswith(HIT) and row["n"] and row["failed"] <= MOST_FAILED * row["n"]
    ]
    hits = [row for row in hits if searched in (None, _searching(row)[:2])]
    pipelines = [list(group) for _, group in groupby(sorted(hits, key=_searching), key=_searching)]
    if not pipelines:
        return None
    plain = {row["condition"] for row in hits if row["noise_type"] == "none"} or set(run.choices.plain.values())

    def clean_share(rows: Sequence[Row]) -> float:
        return max((row["mean"] for row in rows if row["condition"] in plain), default=-1.0)

    chosen = max(pipelines, key=lambda rows: (clean_share(rows), _searching(rows[0])[:2] == preferred))
    clean = next((row["condition"] for row in chosen if row["condition"] in plain), "")
    shares = {row["condition"]: row["mean"] for row in chosen}
    first = chosen[0]
    questions = {row["condition"]: row["n"] for row in chosen}
    return PagesFound(_searching(first)[:2], int(first["metric"].removeprefix(HIT)), shares, questions, clean)


def _searching(row: Row) -> tuple[str, str, str]:
    return row["chunker"] or "", row["retriever"] or "", row["metric"]


def found_sentence(found: PagesFound, losses: Sequence[Loss], reference: str) -> str:
    """Return how many right pages are found on clean text, and under the condition that finds fewest, or else most."""
    names = {loss.condition: named_noise(loss) for loss in losses}
    noisy = {condition: share for condition, share in found.shares.items() if condition in names}
    system = found.pipeline[1] or "the system"
    first = f"{system}'s first hit" if found.depth == 1 else f"among {system}'s first {found.depth} hits"
    if not noisy or not found.clean:
        return ""
    on_clean = found.of(found.clean)
    if all(found.of(condition) == on_clean for condition in noisy):
        return f"The right page is {first} for {on_clean} questions, whatever the condition."
    worst, best = min(noisy, key=noisy.__getitem__), max(noisy, key=noisy.__getitem__)
    fewer = noisy[worst] < found.shares[found.clean]
    other = worst if fewer else best
    questions = "question" if found.questions[found.clean] == 1 else "questions"
    begins = f"The right page is {first} for {on_clean} {questions} on {reference}"
    none_fewer = "" if fewer or len(set(found.questions.values())) > 1 else ", for no fewer under any condition"
    return f"{begins}{none_fewer}, and for {found.of(other)} under {names[other]}."


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
    back = f"brings back {rounded(gained)} of {cost}{_gain_interval(parts[gains[0]])}"
    instead = f"repairing only {smaller} brings back {rounded(less)}"
    if _larger_part(parts) > HALF:  # where a half of the loss is in doubt, so is which gain is larger
        return f"First repair {larger}: that alone {back}{f'; {instead}' if less > 0 else ''}."
    return f"Repairing only {larger} {back}; {instead}{_gain_interval(parts[gains[1]])}."


def _larger_part(parts: Mapping[str, Row]) -> float:
    """Return the lower end of the part of a loss at the step where more is lost; nan where there is none.

    The parts are Shapley's, which add up to the loss; the larger one is above HALF just where the repair of its step is
    shown to bring back more than the other repair, as half the difference of the gains is that of the parts.
    """
    row = parts.get("index_part")
    if row is None or not parts["total"]["low"] > 0 or isnan(row["low"]):
        return nan
    return float(row["low"] if row["value"] >= HALF else 1 - row["high"])


def _gain_interval(gain: Row) -> str:
    return f" [95% interval {rounded(gain['low'])} to {rounded(gain['high'])}]"


# --- documents --------------------------------------------------------------------------------------------


def _documents(run: Run, chosen: Sequence[Loss]) -> str:
    """Return how many documents would show losses of the last stage that has unclear ones, as `ohr plan --from` does.

    The sizes are fixed: the largest difference of several that are open is too large on average, and a study planned
    for it would be too small.
    """
    unclear = [loss for loss in chosen if kind(loss) in ("open", "") and loss.stage != PAGE]  # which has no sizes
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
    return f"{shown} of {ACTIVITY[unclear[-1].stage]}{others}, in four of five studies{among}{source}."
