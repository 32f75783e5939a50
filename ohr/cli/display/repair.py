"""Whether agents repair noise, read from a run's folder: their losses beside those of single searches."""

from pathlib import Path

from ohr.cli.display.console import say, say_table
from ohr.results.repair import read_repair

LEGEND = (
    "less lost: loss of the single search less that of the agent, question by question, with its 95% interval over\n"
    "documents: above 0 the agent repairs noise, below 0 noise compounds; ahead: the agent's score less the other's"
)


def print_repair(folder: Path) -> None:
    """Print each agent beside each single search under each noise, in a run that has both."""
    rows = read_repair(folder)
    if not rows:
        return
    lines = [
        [
            row["condition"],
            row["agent"],
            " / ".join(filter(None, (row["retriever"], row["generator"]))),
            f"{row['lost_agent']:z.2f}",
            f"{row['lost_single']:z.2f}",
            _interval(row["less_lost"], row["less_lost_low"], row["less_lost_high"]),
            row["verdict"] or "too few documents",
            _interval(row["gap"], row["gap_low"], row["gap_high"]),
        ]
        for row in rows
    ]
    say()
    say_table(
        ["condition", "agent", "single search", "agent loses", "search loses", "less lost", "verdict", "ahead"], lines
    )
    say(LEGEND)


def _interval(mean: float, low: float, high: float) -> str:
    return f"{mean:z.2f} [{low:z.2f}, {high:z.2f}]"
