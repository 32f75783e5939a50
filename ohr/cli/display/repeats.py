"""Conditions that were run twice, and draws of one noise: what they differ by."""

from typing import TYPE_CHECKING, Any

from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.results.run import Run

_FLAG = 0.01
"""Chance below which as many missed intervals are worth a warning."""


def repeats_in_words(run: "Run") -> list[str]:
    """Return what conditions that were run twice differ by; nothing where none was."""
    rows = run.rows("repeats")
    twice, draws = [[row for row in rows if row["kind"] == kind] for kind in ("twice", "draws")]
    if not twice:  # draws alone are replicates, which nobody asked to compare
        return []
    return [*_twice(twice), *_draws(draws)]


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
