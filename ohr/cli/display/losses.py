"""The cost block that every run prints first: what noise took from each score, question by question."""

from typing import TYPE_CHECKING

from ohr.cli.display.console import say, say_by_stage, say_view

if TYPE_CHECKING:
    from ohr.results.run import Run


def print_losses(run: "Run") -> None:
    """Print the losses of a run in sentences and as a table; nothing where it has no clean side to compare with."""
    from ohr.cli.display.repeats import print_repeats
    from ohr.report.headlines import headline
    from ohr.report.views.losses import hypotheses, losses_by_pipeline
    from ohr.results.derived.losses import distinctive, read_losses

    losses = distinctive(read_losses(run))
    for view in hypotheses(run):
        say_view(view)
        say()
        say("exploratory, not corrected for the number of comparisons:")
    for line in headline(run):
        say(line)
    print_repeats(run)
    if not losses:
        return
    say()
    say_by_stage(losses_by_pipeline, losses)
    say()
