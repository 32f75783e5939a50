"""Repairs of pages: a table of what they buy, and the sentence that a study of them begins with."""

from math import isnan
from typing import Any

from ohr.report.headlines import holds_for
from ohr.report.lead import ends, in_points, rounded
from ohr.report.views.view import Interval, View
from ohr.results.derived.comparison import Pair
from ohr.results.derived.page_repairs import PageRepair, read_page_repairs
from ohr.results.run import Run

_HOW = (
    "Noise costs: the score on the clean pages less that on the noisy ones, both without the repair. Brings back: the "
    "score with the repair less that without it. Costs on clean pages: what the repair takes away where there is "
    "nothing to repair. Paired by question, with 95% intervals over documents; seconds and tokens are of the repair, "
    "for each page."
)


def page_repairs(run: Run) -> list[View]:
    """Return what each repair buys and costs; none for a run without repairs."""
    rows = [_row(row) for row in read_page_repairs(run)]
    return [View.of("What repairs buy", _HOW, rows)] if rows else []


def _row(row: PageRepair) -> dict[str, Any]:
    pipeline = " + ".join(filter(None, (row.place.chunker, row.place.retriever, row.place.generator)))
    return {
        "condition": row.about.condition,
        "repair": row.about.repair,
        "stage": row.place.stage,
        "pipeline": pipeline,
        "metric": row.metric,
        "noise costs": _interval(row.costs if row.about.is_noisy else None),
        "brings back": _interval(row.back if row.about.is_noisy else None),
        "of the loss": "" if isnan(row.share) else f"{row.share:.0%}",
        "costs on clean pages": _interval(row.price),
        "seconds": "" if isnan(row.seconds) else f"{row.seconds:.3g}",
        "tokens": "" if isnan(row.tokens) or not row.tokens else f"{row.tokens:,.0f}",
    }


def _interval(pair: Pair | None) -> Interval | None:
    if pair is None:
        return None
    found = pair.found.difference
    return Interval(found.mean, found.low, found.high, is_share=True, is_difference=True, digits=1)


def repaired_sentence(run: Run) -> str:
    """Return what the repair of the largest loss brings back, and what it costs on clean pages; "" without one."""
    rows = [row for row in read_page_repairs(run) if row.about.is_noisy and row.back]
    if not rows:
        return ""
    row = max(rows, key=lambda each: (each.back is not None and each.back.shown, _lost(each)))
    assert row.back is not None
    gain, found = row.back.found.difference, row.back.found
    holds = f"[95% interval {ends(found.wide_low, found.wide_high, shown=row.back.shown)}{holds_for(found.among)}]"
    interval = "" if isnan(found.wide_low) else f" {holds}"
    of = f" of the {in_points(_lost(row))} of {row.place.stage} that {row.about.without} costs" if row.costs else ""
    unshown = "" if row.back.shown else ", which is not shown"
    said = f"{row.about.repair} brings back {rounded(gain.mean)}{of}{unshown}{interval}"
    if row.price is not None:
        taken = row.price.found.difference
        said += f"; on clean pages it {_price(row.price)}" if not isnan(taken.mean) else ""
    seconds = "" if isnan(row.seconds) else f"; it takes {row.seconds:.2g} s a page"
    return f"{said[0].upper()}{said[1:]}{seconds}."


def _lost(row: PageRepair) -> float:
    return row.costs.found.difference.mean if row.costs else 0.0


def _price(pair: Pair) -> str:
    found = pair.found.difference
    if found.mean == 0 and pair.verdict == "identical":
        return "changes no question"
    word = "costs" if found.mean >= 0 else "brings"
    shown = "" if pair.shown else " (not shown)"
    return f"{word} {in_points(abs(found.mean))}{shown}"
