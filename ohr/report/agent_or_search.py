"""Agents beside single searches: their scores under each noise, which keeps more, and what a question takes."""

from collections.abc import Callable, Sequence
from math import isnan
from statistics import fmean

from ohr.report.lead import PARTS, in_points, rounded
from ohr.report.views.view import View
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL

_VERDICTS = {
    "repairs": "the agent repairs some of the noise",
    "compounds": "noise compounds over the agent's turns",
    "open": "which keeps more is not shown",
    "identical": "both keep the same",
    "looks past it": "the agent looks at page images, which have no noise",
}


def side_by_side(run: Run) -> View | None:
    """Return the scores of agents and single searches by condition, with tokens and seconds; None without both."""
    metric = run.headlines.get("overall", "")
    rows = run.once(run.rows("summary", stage="overall", by="evidence_source", group=ALL, metric=metric))
    names = {_name(run, row): row["generator"] in run.agent_labels for row in rows}
    if len(set(names.values())) < 2:
        return None
    scores: dict[str, dict[str, str]] = {}
    for row in rows:
        if row["n"]:
            line = scores.setdefault(row["condition"], {"points": row["condition"]})
            line[_name(run, row)] = rounded(row["mean"])
    effort = run.once(run.rows_if_any("effort", stage="overall"))
    tokens = {"points": "tokens a question"} | _means(run, effort, lambda row: row["tokens_in"] + row["tokens_out"])
    seconds = {"points": "seconds a question"} | _means(run, effort, lambda row: row["seconds"])
    lines = [*scores.values(), *(line for line in (tokens, seconds) if len(line) > 1)]
    order = sorted(names, key=lambda name: not names[name])
    shown = [{"points": line["points"], **{name: line.get(name, "") for name in order}} for line in lines]
    return View.of("Agent or single search?", "Points of answers end to end, and means for each question.", shown)


def _means(run: Run, effort: Sequence[Row], value: Callable[[Row], float]) -> dict[str, str]:
    found: dict[str, list[float]] = {}
    for row in effort:
        if not isnan(value(row)):
            found.setdefault(_name(run, row), []).append(value(row))
    return {name: _brief(fmean(values)) for name, values in found.items()}


def _name(run: Run, row: Row) -> str:
    label = run.agent_labels.get(row["generator"])
    return f"{label or ' + '.join(filter(None, (row['retriever'], row['generator'])))}"


def kept_sentence(run: Run) -> str:
    """Return which keeps more under the heaviest noise, and at what cost; "" in a run without both."""
    rows = run.once(run.rows_if_any("repair"))
    if not rows:
        return ""
    row = max(rows, key=_weight)
    agent, single = row["agent"], " + ".join(filter(None, (row["retriever"], row["generator"])))
    under = f"under {row['condition']}"
    if row["verdict"] in _VERDICTS and not _lacks(row, "retained"):
        kept = f"{agent} keeps {row['retained_agent']:z.0%} of its score, {single} {row['retained_single']:z.0%}"
        return f"Agent or single search: {kept} {under}; {_VERDICTS[row['verdict']]}{_price(run, row)}."
    why = {
        "near the floor": "a clean score is near its floor",
        "clean scores differ": f"their clean scores differ by {in_points(abs(row['clean_gap']))}",
    }.get(row["note"], row["note"] or "the documents are too few")
    if _lacks(row, "lost"):
        which = f"which keeps more, {agent} or {single}, has no verdict {under}"
        return f"Agent or single search: {which}, as {why}{_price(run, row)}."
    lost = f"{agent} loses {in_points(row['lost_agent'])}, {single} {rounded(row['lost_single'])}"
    return f"Agent or single search: {lost} {under}; which keeps more has no verdict, as {why}{_price(run, row)}."


def _weight(row: Row) -> tuple[bool, bool, float, float]:
    """Order comparisons: those that show something last, after those of the largest losses; unknown losses first."""
    shown = row["verdict"] in ("repairs", "compounds")
    return (shown, False, 0.0, 0.0) if _lacks(row, "lost") else (shown, True, row["lost_single"], row["lost_agent"])


def _lacks(row: Row, measure: str) -> bool:
    return any(isnan(row[f"{measure}_{side}"]) for side in ("agent", "single"))


def _price(run: Run, row: Row) -> str:
    """Return what a question takes on both sides; "" where a side has no effort, or several that it could be."""
    effort = run.once(run.rows_if_any("effort", stage="overall", condition=row["condition"]))
    agents = [each for each in effort if each["generator"] == row["agent"]]
    singles = [each for each in effort if all((each[part] or "") == (row[part] or "") for part in PARTS)]
    if len(agents) != 1 or len(singles) != 1:
        return ""
    sides = agents[0], singles[0]
    tokens = [side["tokens_in"] + side["tokens_out"] for side in sides]
    seconds = [side["seconds"] for side in sides]
    taken = [
        f"{tokens[0]:,.0f} tokens against {tokens[1]:,.0f}",
        f"{_brief(seconds[0])} seconds against {_brief(seconds[1])}",
    ]
    known = [words for words, pair in zip(taken, (tokens, seconds), strict=True) if not any(map(isnan, pair))]
    return f". There a question takes {', and '.join(known)}" if known else ""


def _brief(number: float) -> str:
    """Write tokens or seconds: whole from ten on, with a digit after the point below."""
    return f"{number:,.0f}" if number >= 9.95 else f"{number:.2g}"
