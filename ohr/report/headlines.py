"""The findings of a run in sentences, as its screen and its report begin."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from ohr.messages.wording import counted, points, without_clean_text
from ohr.results.derived.losses import Loss, distinctive, left_out, main_losses
from ohr.results.derived.pairs import FAILED, FLOOR, MOST_FAILED
from ohr.results.run import Run
from ohr.results.tables.groups import STAGES
from ohr.statistics.signs import fewest

METRICS = {"lcs": "LCS", "f1": "F1", "em": "exact match", "f1_numeric": "numeric F1"}
"""Names of metrics in running text."""

ACTIVITY = {
    "page": "the text of the pages", "retrieval": "retrieval", "generation": "answers from the right page",
    "overall": "answers end to end",
}  # fmt: skip
"""Stages in running text."""

VERDICTS: Mapping[str, str] = {
    "worse": "lost", "better": "gained", "same": "none that matters", "small": "small", "identical": "identical",
    "open": "not shown", "failed": "not judged: too much failed", "floor": "not judged: near the floor",
    "": "too few documents",
}  # fmt: skip
"""Verdicts on a loss, as tables have them."""

_COUNTED: Sequence[tuple[str, str, str]] = (
    ("gain", "shows a gain", "show a gain"),
    ("same", "shows no difference that matters", "show no difference that matters"),
    ("identical", "has the same scores", "have the same scores"),
    ("open", "leaves open whether there is one", "leave open whether there is one"),
    ("floor", "is of scores near their floor", "are of scores near their floor"),
    ("failed", "cannot be judged", "cannot be judged"),
    ("", "has too few documents", "have too few documents"),
)
"""Kinds of comparisons that show no loss: of one, and of several."""


def headline(run: Run) -> list[str]:
    """Return the findings of a run: what failed, what noise costs at each stage, and what the run could not show.

    Raises:
        DataError: a table is missing or damaged.
    """
    losses = distinctive(main_losses(run))
    found = [*what_failed(run.manifest), *why_not_judged(losses)]
    if not losses:
        return [*found, f"This run cannot show a cost of noise: {lacking(run)[0]}."]
    found += findings(losses, run.reference)
    if missing := left_out(run):
        found.append(f"{without_clean_text(missing)}.")
    return found


def lacking(run: Run) -> tuple[str, str]:
    """Return what a run without losses lacks, and what helps: clean text, another condition, or questions."""
    cells = [(row["stage"], row["noise_type"]) for row in run.rows("summary", ["stage", "noise_type"])]
    types = {noise_type for stage, noise_type in cells if stage in STAGES}
    if not types and run.page_headline:
        types = {noise_type for _, noise_type in cells}
    if not types:
        has_truth = ("page", "none") in cells
        helps = (
            "Add `retrieval` to `evaluate`, and a retriever."
            if has_truth
            else "Compare the scores of pages: `ohr show --details`."
        )
        return "it scores the text of the pages, and asks no question", helps
    if types == {"none"}:
        helps = "Add a condition with noise, or one that an OCR engine reads: `ohr plugins` lists them."
        return "it has no condition but the clean text", helps
    if "none" not in types:
        helps = "Add a condition without noise, `- name: ground_truth`, if the benchmark has the pages' clean text."
        return "it has no condition without noise", helps
    return "no question has an answer or evidence, and clean text", "Give the questions answers or evidence."


def findings(losses: Sequence[Loss], reference: str = "clean text") -> list[str]:
    """Return what losses show against a reference, stage by stage and metric by metric."""
    groups: dict[tuple[str, str], list[Loss]] = {}
    for loss in losses:
        groups.setdefault((loss.stage, loss.metric), []).append(loss)
    return [line for group in groups.values() for line in _stage(group, reference)]


def has_crashed(loss: Loss) -> bool:
    """Report whether too many questions failed on a side: else, what has no verdict has hardly any answer."""
    return loss.verdict == FAILED and loss.pairs_failed > MOST_FAILED * loss.pairs


def why_not_judged(losses: Sequence[Loss]) -> list[str]:
    """Return why comparisons have no verdict, in sentences; nothing where all have one."""
    found = []
    unjudged = [loss for loss in losses if loss.verdict == FAILED]
    crashed = [loss for loss in unjudged if has_crashed(loss)]
    if crashed:
        most = max(crashed, key=lambda loss: loss.pairs_failed / loss.pairs)
        where = f"{most.pairs_failed:,} of {most.pairs:,} in {ACTIVITY[most.stage]} under {most.condition}"
        found.append(f"{not_judged(len(crashed), len(losses))}, as {where}.")
    for name in dict.fromkeys(loss.generator for loss in unjudged if loss not in crashed):
        found.append(
            f"{name or 'The generator'} answers fewer than half of the questions on clean text: no loss of its answers "
            "can be judged. `ohr show RUN --question ID` lists what it was asked and did."
        )
    return found


def what_failed(manifest: Mapping[str, Any]) -> list[str]:
    """Return what failed and what helps, in one line; nothing where nothing did."""
    reason = failed_items(manifest)
    return [f"{reason}. Repair that and run the spec again: only what failed is done again."] if reason else []


def not_judged(failed: int, comparisons: int) -> str:
    """Return how many comparisons have no verdict, and why, without the point."""
    of = f"{failed} of {counted(comparisons, 'comparison')} cannot be judged"
    return f"{of}: more than {100 * MOST_FAILED:.0f}% of the questions failed on a side"


def failed_items(manifest: Mapping[str, Any]) -> str:
    """Return how many items of a run failed, and the most frequent reason; "" where none did."""
    failures = manifest.get("failures", {})
    if not failures.get("items") or not failures.get("reasons"):
        return ""
    # that a judge gave no reply follows from the failures of its model
    causes = [reason for reason in failures["reasons"] if reason["stage"] != "metric"] or failures["reasons"]
    most = max(causes, key=lambda reason: reason["items"])
    often = "" if most["items"] == failures["items"] else f"most often ({most['items']:,} times) "
    return f"{counted(failures['items'], 'item')} failed, {often}{most['stage']}: {most['reason'].rstrip('.')}"


def _stage(losses: Sequence[Loss], reference: str) -> list[str]:
    what = f"{ACTIVITY[losses[0].stage].capitalize()} ({METRICS.get(losses[0].metric, losses[0].metric)})"
    judged = [loss for loss in losses if loss.verdict not in (FAILED, FLOOR)]
    if judged and all(loss.verdict == "" for loss in judged):
        most = max(judged, key=lambda loss: abs(loss.lost))
        differs = (
            f"The largest difference: {sentence(most)}" if most.lost else f"No mean differs from that of {reference}."
        )
        return [f"{what}: too few documents ({losses[0].documents}) for intervals.", differs]
    found = [f"{what}: {counts(losses, reference)}."]
    if shown := [loss for loss in judged if loss.is_loss]:
        found.append(f"The largest: {sentence(max(shown, key=lambda loss: loss.lost))}")
    elif unknown := [
        loss for loss in judged if kind(loss) == "open" and (loss.questions_lost or loss.questions_gained)
    ]:
        most = max(unknown, key=lambda loss: abs(loss.lost))
        found.append(f"The largest difference: {sentence(most)}")
    return found


def counts(losses: Sequence[Loss], reference: str = "clean text") -> str:
    """Count what comparisons with a reference show, in one sentence without its point."""
    kinds = Counter(kind(loss) for loss in losses)
    total, shown = len(losses), kinds["loss"]
    others = [(kinds[name], one, several) for name, one, several in _COUNTED if kinds[name]]
    if total == 1:
        return f"the comparison with {reference} {'shows a loss' if shown else others[0][1]}".replace(
            "there is one", "there is a loss"
        )
    many = "none" if not shown else "all" if shown == total else f"{shown}"
    first = f"{many}{' of' if shown < total else ''} {total} comparisons with {reference} "
    first += f"{'shows a loss' if shown < 2 else 'show a loss'} (judged together by Holm's method"
    if len({(loss.chunker, loss.retriever, loss.generator) for loss in losses}) > 1:
        first += ", for each pipeline by itself"  # no other pipeline makes them harder to show
    alone = sum(loss.verdict in ("worse", "small") and loss.lost > 0 for loss in losses)
    by_itself = f"; {alone} {'does' if alone == 1 else 'do'} by {'itself' if alone == 1 else 'themselves'}"
    first += f"{by_itself if alone > shown else ''})"
    return ", ".join([first, *(f"{count} {one if count == 1 else several}" for count, one, several in others)])


def kind(loss: Loss) -> str:
    """Return what a comparison shows among all of its family: `loss`, `gain`, or another verdict."""
    if loss.is_loss or loss.is_gain:
        return "loss" if loss.is_loss else "gain"
    return {"worse": "open", "better": "open", "small": "same"}.get(loss.verdict, loss.verdict)


def holds_for(among: int) -> str:
    """Name the interval that holds for all comparisons of a family together; "" where there is one, which is alone."""
    return f", holds for all {among}" if among > 1 else ""


def sentence(loss: Loss) -> str:
    """Describe one loss as a reviewer would accept it; its interval allows for a choice among its family."""
    level = f" at {loss.level}" if loss.level else ""
    system = f" with {loss.system}" if loss.system else ""
    change = f"{points(loss.clean)} to {points(loss.mean)}"
    questions = f"{loss.questions_lost:,} of {loss.pairs_in_words} score less and {loss.questions_gained:,} more"
    if isnan(loss.low):
        return f"{loss.noise}{level}{system}, {change} points: {questions}."
    interval = f"95% interval {points(loss.wide_low)} to {points(loss.wide_high)}"
    interval += f"{holds_for(loss.among)}{' comparisons' if loss.among > 1 else ''}"
    if kind(loss) == "open":
        finds = f"; four of five such studies would show {points(loss.detectable)}"
        finds = "" if isnan(loss.detectable) else finds
        few = f"; {counted(loss.changed_documents, 'document')} changed, and {too_few(loss.among)}"
        finds = few if loss.changed_documents < loss.fewest else finds
        return (
            f"{loss.noise}{level}{system} is not shown to change the score ({change} points, loss "
            f"{points(loss.lost)}, {interval}{finds}): {questions}."
        )
    if loss.verdict == "identical":
        return f"{loss.noise}{level}{system} has the same scores ({points(loss.clean)} points)."
    if loss.verdict == "same":
        return f"{loss.noise}{level}{system} makes no difference that matters ({change} points): {questions}."
    verb, by = ("costs", loss.lost) if loss.lost > 0 else ("gains", -loss.lost)
    signs = "" if loss.lost > 0 else " of the loss"
    return f"{loss.noise}{level}{system} {verb} {points(by)} points ({change}; {interval}{signs}): {questions}."


def too_few(among: int) -> str:
    """Return how many documents must change for anything to be shown."""
    judged = f"with {among} comparisons, " if among > 1 else ""
    return f"{judged}at least {fewest(among)} documents must change to show anything"
