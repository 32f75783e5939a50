"""Whether agents repair noise, read from a run's folder: their losses beside those of single searches."""

from pathlib import Path

from ohr.cli.display.console import say, say_table
from ohr.results.derived.repair import read_repair

LEGEND = (
    "keeps: share of the clean score above its floor that is left; more kept: the agent's share less the search's, "
    "with its\n95% interval over documents: above 0 the agent repairs noise, below 0 noise compounds; ahead: the "
    "agent's score less\nthe search's. No verdict where a clean score is near its floor, or where the two differ."
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
            f"{row['retained_agent']:z.0%}",
            f"{row['retained_single']:z.0%}",
            _interval(row["more_retained"], row["more_retained_low"], row["more_retained_high"]),
            row["verdict"] or row["note"] or "too few documents",
            _interval(row["gap"], row["gap_low"], row["gap_high"]),
        ]
        for row in rows
    ]
    say()
    say_table(
        ["condition", "agent", "single search", "agent keeps", "search keeps", "more kept", "verdict", "ahead"], lines
    )
    say(LEGEND)


def _interval(mean: float, low: float, high: float) -> str:
    return f"{mean:z.2f} [{low:z.2f}, {high:z.2f}]"
