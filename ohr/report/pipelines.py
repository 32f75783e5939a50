"""Pipelines of a run beside its first one, in sentences: what each scores under a noise, and how much less it loses."""

from ohr.messages.wording import counted
from ohr.report.headlines import ACTIVITY, holds_for
from ohr.report.lead import ends, in_points, named_noise, rounded
from ohr.results.derived.losses import Loss
from ohr.results.run import Row, Run
from ohr.results.tables.groups import STAGES

_MOST = 3
_SHOWN = ("loses less", "loses more")


def pipelines_sentence(run: Run, loss: Loss) -> str:
    """Return what pipelines score and lose under the noise of a loss; "" where there is one, or nothing can be said.

    They are those of its stage, or of the last stage that has several.
    """
    judged = [row for row in run.rows_if_any("pipelines", condition=loss.condition) if row["verdict"]]
    by_stage = [[row for row in judged if row["stage"] == stage] for stage in (loss.stage, *reversed(STAGES))]
    rows = next(filter(None, by_stage), [])
    if not rows:
        return ""
    rows = sorted(rows, key=lambda row: (row["verdict"] not in _SHOWN, -row["score"]))
    first, listed, more = rows[0]["first"], rows[:_MOST], len(rows) - _MOST
    scores = ", ".join(f"{row['pipeline']} {rounded(row['score'])} of {rounded(row['clean'])}" for row in listed)
    others = f", and {counted(more, 'other')} in the table" if more > 0 else ""
    activity = "" if rows[0]["stage"] == loss.stage else f" of {ACTIVITY[rows[0]['stage']]}"
    own = f"{rounded(rows[0]['first_score'])} of {in_points(rows[0]['first_clean'])}{activity}"
    said = f"Under {named_noise(loss)}, {first} scores {own}, {scores}{others}."
    return f"{said} Against {first}, {'; '.join(_loses(row, with_words=row is rows[0]) for row in listed)}."


def _loses(row: Row, *, with_words: bool) -> str:
    """Return how much less a pipeline loses; the first of several says what its interval is."""
    value, low, high = (row[name] for name in ("spared", "spared_low", "spared_high"))
    if row["verdict"] == "identical":
        return f"{row['pipeline']} loses the same"
    if value < 0:
        value, low, high = -value, -high, -low
    shown = row["verdict"] in _SHOWN
    interval = ends(low, high, shown=shown)
    words = f"95% interval {interval}{holds_for(row['comparisons'])}" if with_words else interval
    how = f"{row['pipeline']} loses {rounded(value)} {'less' if row['spared'] >= 0 else 'more'} [{words}]"
    return how if shown else f"{how}, not shown"
