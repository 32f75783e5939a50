"""`ohr score ranks`: does the order of OCR systems survive another version of the scorer?"""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import as_lines, say, say_first, say_json, say_views
from ohr.cli.display.progress import bars
from ohr.cli.options import RUNS, STORE, AsJson, RunsFolder, StoreFolder, Workers
from ohr.cli.score_options import Fields, Kind, Root, benchmark_keys, label_of
from ohr.messages.wording import counted


def ranks(
    folders: Annotated[
        list[str],
        typer.Argument(metavar="DIR...", help="Results of two systems or more; or NAME=DIR.", show_default=False),
    ],
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help="The system, as `format` of `precomputed`.")
    ] = "ohrbench",
    benchmark: Kind = None,
    root: Root = None,
    fields: Fields = None,
    workers: Workers = None,
    store: StoreFolder = STORE,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Rank OCR systems by each version and conversion of a benchmark's numbers, and say which pairs change places."""
    from ohr.errors import SpecError
    from ohr.report.leaderboard.ocr_results import as_base, ocr_spec, refuse_another_benchmarks
    from ohr.report.leaderboard.ranks import ranks as ranked
    from ohr.report.leaderboard.ranks import views
    from ohr.results.run import Run
    from ohr.runner.run import run

    named = [_named(folder) for folder in folders]
    names = [name for name, _ in named]
    if len(set(names)) < max(2, len(names)):
        raise SpecError(f"ohr score ranks: name two folders or more, each with its own name (got {', '.join(names)})")
    keys = benchmark_keys(benchmark, root, None, None, fields)
    label = label_of(benchmark, keys)
    with ExitStack() as stack:
        bases = {name: stack.enter_context(as_base(folder, keys, label, format)) for name, folder in named}
        spec = ocr_spec(bases, keys, label, format, pages_only=True)
        refuse_another_benchmarks(spec)
        finished = run(spec, store=store, runs=runs, workers=workers, progress=stack.enter_context(bars()))
    found = ranked(Run.finished(finished.folder), spec.benchmark.aggregates())
    if not found.survival:
        wanted = "two systems and a number with two versions: set its `versions` or `conversions`"
        raise SpecError(f"benchmark {spec.benchmark.kind}: there is nothing to compare without {wanted}")
    if as_json:
        say_json(found)
        return
    say(f"{counted(len(names), 'system')}, benchmark {spec.benchmark.kind}")
    say_views(views(found))
    failures = [*finished.ledger.failures, *finished.ledger.absent]
    say_first(f"failed items: {len(failures)} (questions that need them score 0)", as_lines(failures))
    say(str(finished.folder))
    if failures:
        raise typer.Exit(1)


def _named(given: str) -> tuple[str, Path]:
    name, sign, folder = given.partition("=")
    if sign and name and not Path(given).exists():
        return name, Path(folder)
    return Path(given).resolve().name, Path(given)
