"""Tables of effort: what a question takes beside its score, whether agents repair noise, and what a study costs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

from ohr.report.views.view import Amount, Cell, Interval, View
from ohr.results.derived.costs import read_costs
from ohr.results.derived.engine_costs import read_engine_costs, without_a_peer
from ohr.results.derived.spending import Spending, read_spending
from ohr.results.run import Row, Run
from ohr.results.tables.groups import pipeline_names

_MEANS = ("calls", "searches", "images", "seconds")
_SPLIT = {"of which search": "seconds_retrieval", "of which model": "seconds_generation"}
"""Columns of the seconds that systems state; runs from before them have none."""


def effort(run: Run) -> list[View]:
    """Return what a question takes; none for a run without agents."""
    labels = run.agent_labels
    overall = run.once(run.rows_if_any("effort", stage="overall")) if labels else []
    rows = [_effort(row, labels) for row in overall]
    how = (
        "Means for each question; an agent's name is followed by what it looks at. Shared: tokens of calls that do not "
        "depend on the question, such as summaries of pages, spread over all. Answered: the others gave up, could not "
        "be parsed, or had no call left. Of which search and model: parts that a system states."
    )
    return [View.of("Calls, tokens and seconds", how, rows)] if rows else []


def repair(run: Run) -> list[View]:
    """Return each agent beside each single search under each noise, in a run that has both."""
    rows = [_repair(row, run.agent_labels) for row in run.once(run.rows_if_any("repair"))]
    how = (
        "The share of its clean score above the floor that an agent keeps, beside that of each single search, on the "
        "same questions: where more is kept, the agent repairs some of the noise; where less is kept, noise compounds "
        "over its turns. No verdict where a clean score is near its floor, or where the two differ. Ahead: the agent's "
        "score less the other's, under this noise. 95% intervals over documents."
    )
    return [View.of("Does an agent repair noise?", how, rows)] if rows else []


def _effort(row: Row, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "condition": row["condition"],
        "pipeline": " + ".join(filter(None, (row["retriever"], labels.get(row["generator"], row["generator"])))),
        "score": Interval.of(row, "score"),
        **{name: "" if isnan(row[name]) else f"{row[name]:,.1f}" for name in _MEANS},
        **{column: _seconds(row.get(name)) for column, name in _SPLIT.items()},
        "tokens": _whole(row["tokens_in"] + row["tokens_out"]),
        "shared": _whole(row["shared_tokens"]),
        "answered": "" if isnan(row["answered"]) else f"{100 * row['answered']:.0f} %",
        "answers": row["n"],
        "failed answers": row["failed"],
    }


def _repair(row: Row, labels: dict[str, str]) -> dict[str, Any]:
    more = ("more_retained", "more_retained_low", "more_retained_high")
    return {
        "condition": row["condition"],
        "agent": labels.get(row["agent"], row["agent"]),
        "single search": " + ".join(filter(None, (row["retriever"], row["generator"]))),
        "agent keeps": f"{row['retained_agent']:z.0%}",
        "search keeps": f"{row['retained_single']:z.0%}",
        "more kept": Interval.of(row, *more, is_difference=True),
        "verdict": row["verdict"] or row["note"] or "too few documents",
        "ahead": Interval.of(row, "gap", "gap_low", "gap_high", is_difference=True),
        "n": row["n"],
    }


def _whole(number: float) -> str:
    return "" if isnan(number) else f"{number:,.0f}"


def _seconds(number: float | None) -> str:
    return "" if number is None or isnan(number) else f"{number:,.2f}"


USES: Mapping[str, str] = {
    "reading": "read pages", "repairs": "correct pages", "answers": "answer", "references": "floors and ceilings",
    "judging": "judge", "agents": "answer in steps", "systems": "answer",
}  # fmt: skip
"""Work that somebody is paid for, in words."""

_THOUSAND = 1_000


def money(run: Run) -> list[View]:
    """Return all tables of money; none for a run without prices."""
    return [*spending(run), *per_question(run), *engines(run)]


def spending(run: Run) -> list[View]:
    """Return the money of the whole study, by who is paid; none for a run without prices."""
    found = read_spending(run) if run.price_list.prices else []
    if not found:
        return []
    unit = _unit(run)
    lines: list[dict[str, Cell]] = [
        {
            "for": USES[each.use],
            "who": " ".join(filter(None, (each.label, each.role))),
            "count": each.count,
            "tokens in": _tokens(each, each.tokens_in),
            "tokens out": _tokens(each, each.tokens_out),
            f"money{unit}": _money(each, each.money),
            "asked when it ran": each.new,
            f"its money{unit}": _money(each, each.new_money),
        }
        for each in found
    ]
    total, new, is_whole = _total(found)
    rest = "" if is_whole else ", at least"
    lines.append({"for": f"total{rest}", "who": "", f"money{unit}": total, f"its money{unit}": new})
    how = (
        "Money: the whole study, each different page and reply once, as if the store were empty. Asked when it ran, "
        "and its money: what the store lacked then; to show the run again asks nothing. Failed replies are in neither. "
        "Floors and ceilings: answers without a document, from another page, and from the evidence alone."
    )
    return [View.whole("What the study costs", how, lines, lines[0])]


def spent_in_words(run: Run) -> str:
    """Return the tokens of the whole study, and its money where it has prices; "" where it has neither."""
    found, parts = read_spending(run), list[str]()
    if any(each.tokens_in or each.tokens_out for each in found):
        least = "at least " if any(each.uncounted and each.use != "reading" for each in found) else ""
        tokens_in, tokens_out = (sum(getattr(each, name) for each in found) for name in ("tokens_in", "tokens_out"))
        parts.append(f"{least}{tokens_in:,} tokens in, {tokens_out:,} out")
    if found and run.price_list.prices:
        total, new, is_whole = _total(found)
        money = f"money{_unit(run)} {'' if is_whole else 'at least '}{total}"
        parts.append(f"{money}, {new} of it when it ran")
    return f"whole study: {'; '.join(parts)}" if parts else ""


def _total(found: Sequence[Spending]) -> tuple[Amount, Amount, bool]:
    known = [each for each in found if not isnan(each.money)]
    total, new = (Amount(sum(getattr(each, name) for each in known)) for name in ("money", "new_money"))
    return total, new, len(known) == len(found)


def _tokens(each: Spending, tokens: int) -> str:
    silent = each.uncounted == each.count and not tokens
    return "not counted" if silent and each.use != "reading" else f"{tokens:,}" if tokens else ""


def _money(each: Spending, money: float) -> Amount:
    return Amount(money, f"not counted: {each.uncounted:,} of {each.count:,}" if each.has_price else "no price")


def per_question(run: Run) -> list[View]:
    """Return what a question takes under each condition, and what a point of score comes to."""
    costs = read_costs(run)
    if all(isnan(each.money) for each in costs):
        return []
    pipeline = pipeline_names([asdict(each) for each in costs])
    lines: list[dict[str, Cell]] = [
        {
            "stage": each.stage,
            "pipeline": pipeline(asdict(each)),
            "condition": each.condition,
            "tokens in": round(each.tokens_in),
            "tokens out": round(each.tokens_out),
            f"1,000 questions{_unit(run)}": Amount(_THOUSAND * each.money, each.note),
            "against clean": _change(each.money, each.clean_money) if each.noise_type != "none" else "",
            "score": Interval(each.score, is_share=True),
            "1,000 right answers": Amount(_THOUSAND * each.per_right),
            "lost": Interval(each.lost, is_share=True),
            "each lost point": Amount(_THOUSAND * each.per_point, each.note),
        }
        for each in costs
    ]
    how = (
        "Means over the answered questions, without judges and without reading pages. 1,000 right answers: "
        "the money of 1,000 questions divided by the score; where an answer may be right in part, as with F1, the "
        "money of a score of 1,000. Each lost point of 100: what it adds to 1,000 right answers; only where a loss is "
        "shown."
    )
    return [View.whole("Money of questions", how, lines, lines[0])]


def _change(money: float, clean: float) -> str:
    return "" if isnan(money) or not clean > 0 else f"{100 * (money / clean - 1):+.1f}%"


def engines(run: Run) -> list[View]:
    """Return each OCR engine beside the cheapest one that reads the same pages."""
    costs = read_engine_costs(run)
    pipeline = pipeline_names([asdict(each) for each in costs])
    lines: list[dict[str, Cell]] = [
        {
            "stage": each.stage,
            "metric": each.metric,
            "pipeline": pipeline(asdict(each)),
            "engine": each.condition,
            "beside": each.cheapest,
            f"1,000 pages{_unit(run)}": Amount(_THOUSAND * each.money),
            "more": Amount(_THOUSAND * (each.money - each.cheapest_money)),
            "saved [95% interval]": Interval(each.saved, each.low, each.high, is_share=True, is_difference=True),
            "each saved point": Amount(_THOUSAND * each.per_point, each.note),
        }
        for each in costs
    ]
    how = (
        "Each engine beside the cheapest one on the same pages. More: for 1,000 pages. Saved: the score that it has "
        "more, question by question. Each saved point of 100: more money for 1,000 pages, divided by the points saved; "
        "only where a gain is shown."
    )
    if lines and (others := without_a_peer(run)):
        how += f" Not in it, since no other engine with a price reads the same pages: {', '.join(others)}."
    return [View.whole("Money of OCR engines", how, lines, lines[0])] if lines else []


def _unit(run: Run) -> str:
    return f" ({run.price_list.currency})" if run.price_list.currency else ""
