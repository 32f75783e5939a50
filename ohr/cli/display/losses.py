"""The cost block that every run prints first: what noise took from each score, question by question."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path

from ohr.cli.display.console import fits, say, say_table
from ohr.report.headlines import VERDICTS, headline
from ohr.results.derived.losses import Loss

LEGEND = (
    "lost: clean score less this one, question by question, with its 95% interval over documents; "
    "-n +m: questions that score less, and more\n"
    "not shown: the interval holds 0, each loss judged by itself; `finds`: the loss that four of five such studies show"
)


def print_losses(folder: Path) -> None:
    """Print the losses of a run in sentences and as a table; nothing where it has no clean side to compare with."""
    from ohr.cli.display.registered import print_hypotheses, print_repeats
    from ohr.results.derived.losses import distinctive, read_losses

    losses = distinctive(read_losses(folder))
    if print_hypotheses(folder):
        say("exploratory, not corrected for the number of comparisons:")
    for line in headline(folder):
        say(line)
    print_repeats(folder)
    if not losses:
        return
    say()
    whole = as_table(losses)
    stages = dict.fromkeys(loss.stage for loss in losses)
    parts = [whole] if fits(*whole) else [as_table([loss for loss in losses if loss.stage == s]) for s in stages]
    for headers, rows in parts:
        say_table(headers, rows)
    say(LEGEND)
    say()


def as_table(losses: Sequence[Loss]) -> tuple[list[str], list[list[str]]]:
    """Arrange losses: a line for each condition, a column for each pipeline."""
    pipelines = list(dict.fromkeys((*loss.pipeline, loss.metric) for loss in losses))
    cells = {(loss.condition, (*loss.pipeline, loss.metric)): cell(loss) for loss in losses}
    first = {loss.condition: loss for loss in reversed(losses)}
    rows = [
        [loss.noise, loss.level, *(cells.get((condition, pipeline), "") for pipeline in pipelines)]
        for condition, loss in reversed(first.items())
    ]
    return ["lost to", "level", *map(_header, pipelines)], rows


def cell(loss: Loss) -> str:
    """Write one loss with its interval, the questions that changed, and what is not shown."""
    if loss.verdict == "failed":
        why = f": {loss.pairs_failed} of {loss.pairs} failed" if loss.pairs_failed else ": hardly any answer"
        return f"{loss.lost:z.2f} not judged{why}"
    counts = f"-{loss.questions_lost} +{loss.questions_gained}"
    interval = "" if isnan(loss.low) else f" [{loss.low:z.2f}, {loss.high:z.2f}]"
    finds = f", finds {loss.detectable:.2f}" if loss.verdict == "open" and not isnan(loss.detectable) else ""
    plain = loss.verdict in ("worse", "better", "")
    return f"{loss.lost:z.2f}{interval} {counts}{'' if plain else f' {VERDICTS[loss.verdict]}'}{finds}"


def _header(pipeline: tuple[str, ...]) -> str:
    stage, *parts, metric = pipeline
    return "\n".join((stage, " ".join((metric, "/".join(filter(None, parts)))).strip()))
