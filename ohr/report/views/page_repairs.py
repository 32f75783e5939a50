"""Repairs of pages: a table of what they buy, and the sentences that a study of them begins and ends with."""

from math import isnan
from typing import Any

from ohr.messages.wording import counted
from ohr.report.headlines import holds_for
from ohr.report.lead import ends, in_points, rounded
from ohr.report.views.view import Interval, View
from ohr.results.derived.comparison import Pair
from ohr.results.derived.page_repairs import Effort, PageRepair, read_page_repairs
from ohr.results.derived.pairs import FAILED
from ohr.results.run import Run

_HOW = (
    "Noise costs: the score on the clean pages less that on the noisy ones, both without the repair. Brings back: the "
    "score with the repair less that without it. Costs on clean pages: what the repair takes away where there is "
    "nothing to repair; empty where the study has no such condition. Paired by question, with 95% intervals over "
    "documents, each alone. Pages that changed, in all draws; seconds and tokens for each page."
)


def page_repairs(run: Run) -> list[View]:
    """Return what each repair buys and costs; none for a run without repairs."""
    rows = [_row(row) for row in read_page_repairs(run)]
    return [View.of("What repairs buy", _HOW, rows)] if rows else []


def _row(row: PageRepair) -> dict[str, Any]:
    effort, noisy = row.effort, row.about.is_noisy
    return {
        "condition": row.about.condition,
        "repair": row.about.repair,
        "beside": row.about.without,
        "stage": row.place.stage,
        "pipeline": " + ".join(filter(None, (row.place.chunker, row.place.retriever, row.place.generator))),
        "metric": row.metric,
        "noise costs": _interval(row.costs if noisy else None),
        "brings back": _interval(row.back if noisy else None),
        "of the loss": "" if isnan(row.share) or row.share < 0 else f"{row.share:.0%}",
        "costs on clean pages": _interval(row.price),
        "changed": f"{effort.changed:,} of {counted(effort.pages, 'page')}" if effort else "",
        "seconds": "" if effort is None else _seconds(effort),
        "tokens": f"{effort.tokens / effort.pages:,.0f}" if effort and effort.tokens else "",
        "corrections": "" if effort is None else _outcomes(effort),
    }


def _interval(pair: Pair | None) -> Interval | None:
    if pair is None:
        return None
    found = pair.found.difference
    return Interval(found.mean, found.low, found.high, is_share=True, is_difference=True, digits=1)


def _seconds(effort: Effort) -> str:
    seconds = effort.seconds / effort.pages
    return f"{seconds:.2g}" if seconds >= 0.001 else "under 0.001"


def _outcomes(effort: Effort) -> str:
    return ", ".join(f"{outcome.replace('_', ' ')} {count:,}" for outcome, count in effort.outcomes.most_common())


def repaired_sentence(run: Run) -> str:
    """Return what the best repair brings back, and what it costs on clean pages; "" in a run without repairs."""
    row = _best(run)
    if row is None:
        return ""
    name = f"The repair {row.about.repair}"
    if row.effort and row.effort.in_vain:
        return f"{name} corrected no page ({_outcomes(row.effort)}): what it is worth is not judged."
    parts = [_gain(row, name) if row.about.is_noisy and row.back else ""]
    if row.price is not None and not isnan(row.price.found.difference.mean):
        parts.append(f"{'' if parts[0] else f'{name}: '}on clean pages it {_price(row.price)}")
    if row.effort and row.effort.outcomes:
        parts.append(f"pages: {_outcomes(row.effort)}")
    parts.append(f"it takes {_seconds(row.effort)} s a page" if row.effort else "")
    return f"{'; '.join(filter(None, parts))}."


def _best(run: Run) -> PageRepair | None:
    """Choose the repair that brings back the most, one that is shown first; without noise, the one that costs most."""
    rows = read_page_repairs(run)
    noisy = [(row, row.back) for row in rows if row.about.is_noisy and row.back]
    if noisy:
        return max(noisy, key=lambda pair: (pair[1].shown and _mean(pair[1]) > 0, _mean(pair[1])))[0]
    return max(rows, key=lambda row: _mean(row.price), default=None)


def _gain(row: PageRepair, name: str) -> str:
    assert row.back is not None
    gain, found = _mean(row.back), row.back.found
    if row.back.verdict == FAILED:
        return f"{name} is not judged under {row.about.without}: too much failed"
    if row.back.verdict == "identical":
        return f"{name} changes no question under {row.about.without}"
    low, high = (found.wide_low, found.wide_high) if gain >= 0 else (-found.wide_high, -found.wide_low)
    holds = f"[95% interval {ends(low, high, shown=row.back.shown)}{holds_for(found.among)}]"
    interval = "" if isnan(found.wide_low) else f" {holds}"
    unshown = "" if row.back.shown else ", which is not shown"
    stage = row.place.stage
    if gain < 0:
        return f"{name} takes another {in_points(-gain)} of {stage} from {row.about.without}{unshown}{interval}"
    of = f" of the {in_points(_mean(row.costs))} of {stage} that {row.about.without} costs beside {row.about.clean}"
    return f"{name} brings back {rounded(gain)}{of if row.costs else f' points of {stage}'}{unshown}{interval}"


def _mean(pair: Pair | None) -> float:
    return pair.found.difference.mean if pair else 0.0


def _price(pair: Pair) -> str:
    if pair.verdict == "identical":
        return "changes no question"
    word = "costs" if _mean(pair) >= 0 else "brings"
    return f"{word} {in_points(abs(_mean(pair)))}{'' if pair.shown else ' (not shown)'}"


def repair_advice(run: Run) -> str:
    """Return whether the best repair is worth it, where that is shown; "" where nothing is."""
    row = _best(run)
    if row is None or (row.effort and row.effort.in_vain):
        return ""
    harms = row.price is not None and row.price.shown and _mean(row.price) > 0
    if row.back and row.back.shown and _mean(row.back) > 0:
        but = f", but not where pages are clean: there it costs {in_points(_mean(row.price))}" if harms else ""
        return f"Repair {row.about.without} by {row.about.repair}{but}."
    if harms or (row.back and row.back.shown):
        return f"Leave {row.about.repair} out: it takes away more than it brings back."
    return ""
