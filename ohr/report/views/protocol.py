"""Tables that a benchmark's protocol adds: scores of pages, facts that are left, and aggregates."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from ohr.report.views.view import Cell, Interval, View
from ohr.results.derived.fact_survival import STEPS, pipelines, read_survival
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL, pipeline_names


def views(run: Run) -> list[View]:
    """Return the tables in full; those without rows are left out."""
    return [*pages(run), *facts(run), *pages(run, grouped=True), *aggregates(run)]


def short_views(run: Run) -> list[View]:
    """Return the tables over all questions, narrow enough for a screen."""
    return [*pages(run), *facts(run), *aggregates_by_condition(run)]


_PAGES = "Scores of the text of the pages, higher is better, without any retriever, with 95% intervals over documents."
_EACH = " n: pages, or parts of them, of each metric in the order of the columns."


def page_rows(run: Run, **equal: Any) -> list[Row]:
    """Read the means of the protocol's scores of pages that are defined for any; `equal` is that of `Run.rows`."""
    names = run.manifest["protocol"].get("page") or ()
    rows = run.once(run.rows("summary", stage="page", **equal))
    return [row for row in rows if row["metric"] in names and row["n"]]


def pages(run: Run, *, grouped: bool = False) -> list[View]:
    """Return the scores of the text of the pages, over all questions, or with `grouped` over groups of them.

    Metrics with a version, such as `teds@1.5`, have a table for each version.
    """
    names = run.manifest["protocol"].get("page") or ()
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for row in page_rows(run):
        if (row["by"] != "evidence_source" and row["group"] != ALL) if grouped else row["group"] == ALL:
            group = f"{row['by']}: {row['group']}" if grouped else ALL
            line = lines.setdefault((row["condition"], group), {"condition": row["condition"], "group": group})
            line[row["metric"]] = Interval.of(row, is_share=True)
            counts[row["condition"], group][row["metric"]] = row["n"]
    groups = {"group": "questions"} if grouped else {}
    views = []
    for version in dict.fromkeys(
        name.partition("@")[2] for name in names if any(name in line for line in lines.values())
    ):
        mine = [name for name in names if name.partition("@")[2] == version]
        shown = [line | {"n": _each(counts[place], mine)} for place, line in lines.items()]
        how = _PAGES + (_EACH if any("," in line["n"] for line in shown) else "")
        columns = {"condition": "condition", **groups, **{name: name for name in (*mine, "n")}}
        title = f"Pages, version {version}" if version else "Pages"
        views.append(View.of(title + ", by group" * grouped, how, shown, columns))
    return views


def _each(counts: Mapping[str, int], names: Sequence[str]) -> str:
    """Write how much each score is a mean of: one number where all are of as much."""
    each = [counts[name] for name in names if name in counts]
    return ", ".join(map(str, each if len(set(each)) > 1 else each[:1]))


def facts(run: Run) -> list[View]:
    """Return the share of facts that is left after each step: a line for each condition and pipeline."""
    lines = [
        {"condition": condition, "pipeline": " + ".join(filter(None, place))}
        | {step: Interval.of(row, is_share=True) for step, row in steps.items()}
        for place, conditions in pipelines(read_survival(run)).items()
        for condition, steps in conditions.items()
    ]
    how = (
        "The share of the questions' facts that is left: on the page as it was read, in a chunk that does not cut "
        "them, in the retrieved chunks of their page, in the answer."
    )
    columns = {"condition": "condition", "pipeline": "pipeline", **STEPS}
    return [View.of("Facts that are left", how, lines, columns)] if lines else []


_HOW = "More than a mean. Share: divided by the value on a condition without noise, over the same questions."


def aggregates(run: Run) -> list[View]:
    """Return the numbers that are more than a mean: a line for each stage, condition, pipeline and number."""
    rows = [row for row in run.once(run.rows_if_any("aggregates")) if row["n"]]
    pipeline = pipeline_names(rows)
    lines: list[dict[str, Cell]] = [
        {
            "stage": row["stage"],
            "condition": row["condition"],
            "pipeline": pipeline(row),
            "number": row["name"],
            "value": _value(row),
            "share": _share(row),
            "share of": "" if isnan(row["ratio"]) else row["ratio_of"],
            "n": row["n"],
            "failed": row["failed"],
            "about": row["source"] or "",
        }
        for row in rows
    ]
    return [View.whole("Aggregates", _HOW, lines, lines[0])] if lines else []


def aggregates_by_condition(run: Run) -> list[View]:
    """Return the same numbers with a column for each condition; the share that is left has a line of its own."""
    rows = [row for row in run.once(run.rows_if_any("aggregates")) if row["n"] and not isnan(row["value"])]
    pipeline = pipeline_names(rows)
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        about = {"stage": row["stage"], "pipeline": pipeline(row), "number": row["name"]}
        failed = f" ({row['failed']} failed)" if row["failed"] else ""
        line = lines.setdefault(tuple(about.values()), about)
        line[row["condition"]] = f"{_value(row).short()}{failed}"
        if not isnan(row["ratio"]):
            share = about | {"number": f"{row['name']}, share of {row['ratio_of']}"}
            lines.setdefault(tuple(share.values()), share)[row["condition"]] = _share(row)
    return [View.of("Aggregates", _HOW, list(lines.values()))] if lines else []


def _value(row: Row) -> Interval:
    return Interval.of(row, "value", is_share=row["unit"] == "share")


def _share(row: Row) -> Interval:
    return Interval.of(row, "ratio", "ratio_low", "ratio_high", is_share=True)
