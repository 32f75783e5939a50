"""Tables of money: what a study costs, what a question takes under noise, and engines beside each other."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isnan

from ohr.report.views.view import Amount, Cell, Interval, View
from ohr.results.derived.costs import read_costs
from ohr.results.derived.engine_costs import read_engine_costs, without_a_peer
from ohr.results.derived.spending import Spending, read_spending
from ohr.results.run import Run
from ohr.results.tables.groups import pipeline_names

USES: Mapping[str, str] = {
    "reading": "read pages", "repairs": "correct pages", "answers": "answer", "references": "floors and ceilings",
    "judging": "judge", "agents": "answer in steps", "systems": "answer",
}  # fmt: skip
"""Work that somebody is paid for, in words."""

_THOUSAND = 1_000


def views(run: Run) -> list[View]:
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
    """Return the money of all, that of what the run asked for, and whether all of it is known."""
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
