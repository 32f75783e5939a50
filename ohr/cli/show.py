"""`ohr show`: a run's means by whatever its questions are told apart by."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.analysis import show_analysis
from ohr.cli.display.console import say, say_json, say_table
from ohr.cli.display.costs import print_costs
from ohr.cli.options import RUNS, AsJson, RunsFolder


class By(StrEnum):
    """What questions are told apart by."""

    EVIDENCE_SOURCE = "evidence_source"
    DOMAIN = "domain"
    ANSWER_FORM = "answer_form"
    TASK_TYPE = "task_type"
    PAGES = "pages"


def show(
    run: Annotated[Path, typer.Argument(help="A run's folder, or the name of a run: its newest.")],
    by: Annotated[By, typer.Option(help="What the questions are told apart by.")] = By.EVIDENCE_SOURCE,
    metric: Annotated[str | None, typer.Option(help="Any metric of the run; by default each stage's headline.")] = None,
    analysis: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show an analysis instead: error_classes, ...; or every.")
    ] = None,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show a run's means, or an analysis of it.

    The means are over all questions (micro), over domains (macro), and by one trait of the questions. Where the spec
    asked for attribution, what each part of a noise costs stands below.
    """
    from ohr.cli.runs import locate
    from ohr.errors import DataError
    from ohr.results.folder import read_csv, read_manifest

    folder = locate(run, runs)
    if analysis is not None:
        show_analysis(folder, analysis, as_json)
        return
    protocol = read_manifest(folder)["protocol"]
    rows = read_csv(folder / "summary.csv")
    if rows and "by" not in rows[0]:
        raise DataError(f"{folder}: written by an earlier version, without means by {by.value}; run it again")
    answer = protocol["answer"][0]
    headline = {"retrieval": protocol["retrieval"], "generation": answer, "overall": answer}
    wanted = [row for row in rows if row["metric"] == (metric or headline.get(row["stage"]))]
    if not wanted:
        known = ", ".join(sorted({row["metric"] for row in rows}))
        raise DataError(f"{folder}: has no {metric or 'score of an answer or of retrieval'}; it has {known}")
    if as_json:
        say_json([row for row in wanted if row["by"] == by.value or row["group"] == "all"])
        return
    say(f"protocol {protocol['name']}")
    for stage in dict.fromkeys(row["stage"] for row in wanted):
        _table([row for row in wanted if row["stage"] == stage], by.value)
    print_costs(folder)


def _table(rows: Sequence[Mapping[str, str]], by: str) -> None:
    """Print one stage: a line for each level and pipeline, a column for each group."""
    places: dict[tuple[str, ...], dict[str, Mapping[str, str]]] = {}
    for row in rows:
        if row["by"] == by or row["group"] == "all":
            parts = ("noise", "knob_value", "chunker", "retriever", "generator", "metric")
            places.setdefault(tuple(row[part] for part in parts), {})[row["group"]] = row
    groups = list(dict.fromkeys(group for found in places.values() for group in found if group != "all"))
    lines = []
    for place, found in places.items():
        whole = found["all"]
        cells = [_number(found[group]["mean"]) if group in found else "" for group in groups]
        names = (place[0], place[1], "/".join(filter(None, place[2:5])), place[5])
        lines.append(
            [*names, whole["n"], whole["failed"], _number(whole["mean"]), _number(whole["macro_mean"]), *cells]
        )
    say(f"{rows[0]['stage']}, by {by}" if groups else f"{rows[0]['stage']}; by {by} all questions are alike")
    say_table(["noise", "level", "pipeline", "metric", "n", "failed", "micro", "macro", *groups], lines)


def _number(cell: str) -> str:
    return f"{float(cell):.4f}" if cell else ""
