"""`ohr compare`: two runs, two conditions, or two files of TREC, compared on the questions that they share."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.comparison import PRINTED, Judgment, put_junit, say_judgment
from ohr.cli.display.console import say_json
from ohr.cli.options import RUNS, AsJson, Clusters, Force, RunsFolder
from ohr.errors import DataError, SpecError
from ohr.results.derived.rules import FIGURES, Rule

if TYPE_CHECKING:
    from ohr.results.derived.comparison import Compared, Side

_NAMES = ", ".join(FIGURES)
_SIDE = "A run's folder or name, RUN:CONDITION, or a TREC file."


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=_SIDE, show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help=_SIDE, show_default=False)],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "--measure",
            metavar="NAME",
            help="Of runs, by default each stage's headline and the spec's own; or of files. May be repeated.",
        ),
    ] = None,
    group: Annotated[str, typer.Option(metavar="SOURCE", help="Evidence source: text, table, ...; all.")] = "all",
    margin: Annotated[
        float | None, typer.Option(min=0, max=1, help="Difference that matters; by default the first run's own.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judgments, where A and B are files of TREC.")
    ] = None,
    clusters: Clusters = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help=f"End with status 1 where a comparison meets the rule, or failed; as in 'low > 0.02'; of {_NAMES}.",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit XML for a CI server; - prints it.")
    ] = None,
    force: Force = False,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Compare two runs, conditions or TREC files, by question.

    `lost` is A's score less B's. The sentences below the table judge all rows together, by Holm's method; the table's
    intervals and verdicts are of each row alone. `worse` and `better`: B's difference is shown; `same`: it is shown to
    be within the margin; `small`: both; `open`: neither; `identical`: no score differs; `failed`: more than one in ten
    of the questions failed on a side; `floor`: A's score is too near its floor to lose anything. `detectable`: the
    difference that four of five studies like this one would show among as many rows.
    """
    from ohr.results.folder.replace import refuse

    began, rules = perf_counter(), [_rule(text) for text in fail_if or ()]
    if junit == PRINTED and as_json:
        raise typer.BadParameter("only one of --json and --junit - can be printed: name a file for --junit")
    if junit is not None and junit != PRINTED:
        refuse(junit, "--junit", force=force)
    reasons, within = list[str](), list[str]()
    if _are_files(first, second, runs, qrels):
        if group != "all":
            raise typer.BadParameter("files of TREC have no evidence sources: leave out --group")
        found = _of_files(first, second, qrels, metrics, margin, clusters)
    elif qrels or clusters:
        raise typer.BadParameter("--qrels and --clusters are for files of TREC: a run of ohr has its own")
    else:
        found, reasons, within = _of_runs(first, second, metrics or (), group, margin, runs)
    judgment = Judgment.of(found, rules, reasons, within)
    if junit is not None:
        put_junit(judgment, junit, (first, second), perf_counter() - began, force=force)
    if as_json:
        say_json(judgment.plain())
    elif junit != PRINTED:
        say_judgment(judgment, first, second)
    if judgment.met or (rules and judgment.failed):
        raise typer.Exit(1)


def _are_files(first: str, second: str, runs: Path, qrels: Path | None) -> bool:
    """Report whether both sides are files of TREC; refuses a file beside a run, and one that is not there."""
    sides = (first, second)
    are_files = [_is_ranked(Path(side)) for side in sides]
    folders = [side.partition(":")[0] for side in sides]
    are_runs = [bool(folder) and any(map(_is_run, (Path(folder), runs / folder))) for folder in folders]
    if any(are_files) or (qrels is not None and not all(are_runs)):
        for side, folder, is_file, is_run in zip(sides, folders, are_files, are_runs, strict=True):
            if is_run and not is_file:
                raise DataError(
                    f"{side} is a run of ohr, and files of TREC are compared with each other: write it as such files "
                    f"with `ohr export {folder} --trec DIR`"
                )
            if not is_file:
                raise DataError(f"{side}: there is no such file")
    return all(are_files)


def _is_run(path: Path) -> bool:
    """Report whether a folder is a run of ohr, or holds runs."""
    from ohr.results.folder.run_folder import MANIFEST

    return any(any(path.glob(pattern)) for pattern in (MANIFEST, f"*/{MANIFEST}"))


def _is_ranked(path: Path) -> bool:
    """Report whether a path is a file, or a folder with the files of several draws of noise, and no run of ohr."""
    from ohr.results.folder.run_folder import MANIFEST

    if not path.is_dir():
        return path.exists()
    return not (path / MANIFEST).exists() and any(file.is_file() for file in path.iterdir())


def _of_files(
    first: str,
    second: str,
    qrels: Path | None,
    measures: Sequence[str] | None,
    margin: float | None,
    clusters: Path | None,
) -> "Compared":
    from ohr.results.derived.ranked_runs import compare_hits, read_hits

    if qrels is None:
        raise DataError(f"{first} and {second} are files: name the judgments of these runs with --qrels FILE")
    hits = read_hits([Path(first), Path(second)], qrels, measures, clusters)
    return compare_hits(hits, margin)


def _of_runs(
    first: str, second: str, metrics: Sequence[str], group: str, margin: float | None, runs: Path
) -> tuple["Compared", list[str], list[str]]:
    """Compare two runs; returns also why items of theirs failed, and verdicts of the run whose conditions they are."""
    from ohr.report.comparison import within_run
    from ohr.report.headlines import failed_items
    from ohr.results.derived.comparison import compare_sides
    from ohr.results.tables.groups import GROUPS

    if group not in GROUPS:
        raise typer.BadParameter(f"choose one of {', '.join(GROUPS)} (got {group!r})", param_hint="'--group'")
    sides = _side(first, runs), _side(second, runs)
    found = compare_sides(*sides, metrics, group, margin)
    one_run = group == "all" and sides[0].run.folder.resolve() == sides[1].run.folder.resolve()
    within = within_run(found, sides[0].run) if one_run else []
    return found, [failed_items(side.run.manifest) for side in sides], within


def _side(text: str, runs: Path) -> "Side":
    from ohr.cli.runs import open_run
    from ohr.results.derived.comparison import Side

    try:
        return Side(open_run(Path(text), runs))
    except DataError:
        run, sign, condition = text.rpartition(":")
        if not sign or not run:
            raise
        return Side(open_run(Path(run), runs), condition)


def _rule(text: str) -> Rule:
    try:
        return Rule.of(text)
    except SpecError as error:
        raise typer.BadParameter(str(error), param_hint="'--fail-if'") from None
