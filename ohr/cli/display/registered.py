"""Hypotheses that were written down before the run, and conditions that were run twice."""

from pathlib import Path
from typing import Any

from ohr.cli.display.console import say, say_table
from ohr.messages.wording import counted

_FLAG = 0.01
"""Chance below which as many missed intervals are worth a warning."""


def print_hypotheses(folder: Path) -> bool:
    """Print the hypotheses of a run with their verdicts; returns whether there are any."""
    from ohr.results.folder.run_folder import read_manifest
    from ohr.results.tables.read_table import read_rows

    rows = read_rows(folder / "hypotheses.parquet")
    if not rows:
        return False
    known = read_manifest(folder).get("hypotheses") or {}
    before = "after scores of this run were known" if known.get("scores_before") else "before any score was known"
    say(f"hypotheses, first run {known.get('time', '')} {before}; p values corrected by Holm's method:")
    say_table(
        ("hypothesis", "expected", "found", "held", "lost (95% interval)", "p (Holm)"),
        [
            (
                row["name"],
                row["expected"],
                row["verdict"] or "no interval",
                {True: "yes", False: "no", None: "not judged"}[row["held"]],
                _interval(row),
                "" if row["p_holm"] != row["p_holm"] else f"{row['p_holm']:.2g}",
            )
            for row in rows
        ],
    )
    say()
    return True


def _interval(row: dict[str, Any]) -> str:
    mean = f"{row['difference']:z.3f}"
    return mean if row["held"] is None else f"{mean} [{row['low']:z.3f}, {row['high']:z.3f}]"


def print_repeats(folder: Path) -> None:
    """Print what conditions that were run twice differ by; nothing where none was."""
    from ohr.results.tables.read_table import read_rows

    rows = read_rows(folder / "repeats.parquet")
    twice, draws = [[row for row in rows if row["kind"] == kind] for kind in ("twice", "draws")]
    if not twice:  # draws alone are replicates, which nobody asked to compare
        return
    for line in (*_twice(twice), *_draws(draws)):
        say(line)


def _twice(rows: list[dict[str, Any]]) -> list[str]:
    bad = [row for row in rows if row["scores_that_differ"]]
    cells = f"{counted(len(rows), 'cell')} run twice"
    if not bad:
        return [f"A/A: {cells}: every score is the same."]
    worst = max(bad, key=lambda row: row["largest"])
    name = " / ".join(filter(None, (worst["stage"], worst["condition"], worst["retriever"], worst["generator"])))
    scores = counted(worst["scores_that_differ"], "score")
    return [
        f"A/A: {cells}: {counted(len(bad), 'cell')} differ, most {name}: {scores} "
        f"by up to {worst['largest']:.3f}. A stage is not deterministic: repeat conditions that are compared."
    ]


def _draws(rows: list[dict[str, Any]]) -> list[str]:
    from scipy.stats import binom

    pairs = sum(row["pairs"] for row in rows)
    if not pairs:
        return []
    missed = round(sum(row["missed"] * row["pairs"] for row in rows))
    pairs_of = f"{counted(pairs, 'pair')} of draws of one noise"
    line = f"A/A: of {pairs_of}, the intervals of {missed} miss 0; expected {pairs / 20:.1f}."
    unlikely = binom.sf(missed - 1, pairs, 0.05) < _FLAG
    return [f"{line} That is more than chance: the intervals of this run are too short." if unlikely else line]
