"""`ohr score ranks`: does the order of OCR systems survive another version of the scorer?"""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.console import as_lines, say, say_first, say_json, say_views
from ohr.cli.display.progress import bars
from ohr.cli.options import RUNS, STORE, AsJson, RunsFolder, StoreFolder, Workers
from ohr.cli.score_options import Fields, Kind, Root, benchmark_keys, label_of

if TYPE_CHECKING:
    from ohr.contracts import Benchmark


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
    from ohr.report.leaderboard import ranks as ranking
    from ohr.report.leaderboard.result_folders import as_base, ocr_spec, refuse_another_benchmarks
    from ohr.results.run import Run
    from ohr.runner.run import run

    named = _named(folders)
    keys = benchmark_keys(benchmark, root, None, None, fields)
    label = label_of(benchmark, keys)
    with ExitStack() as stack:
        bases = {name: stack.enter_context(as_base(folder, keys, label, format)) for name, folder in named.items()}
        spec = ocr_spec(bases, keys, label, format, pages_only=True, given=named)
        refuse_another_benchmarks(spec)
        finished = run(spec, store=store, runs=runs, workers=workers, progress=stack.enter_context(bars()))
    found = ranking.ranks(Run.finished(finished.folder), spec.benchmark.aggregates())
    _refuse_one_version(spec.benchmark, bool(found.survival))
    if as_json:
        say_json(found)
    else:
        say_views(ranking.views(found))
        say_first(f"failed items: {len(found.failures)} (questions that need them score 0)", as_lines(found.failures))
        say(str(finished.folder))
    if found.failures:
        raise typer.Exit(1)


def _named(folders: list[str]) -> dict[str, Path]:
    from ohr.errors import SpecError

    pairs = [_pair(folder) for folder in folders]
    if len(dict(pairs)) < max(2, len(pairs)):
        listed = ", ".join(name for name, _ in pairs)
        raise SpecError(f"ohr score ranks: name two folders or more, each with its own name (got {listed})")
    return dict(pairs)


def _pair(given: str) -> tuple[str, Path]:
    """Divide `NAME=DIR` at the first `=`; what is a folder with its `=` has no name before it."""
    from ohr.errors import SpecError
    from ohr.messages.wording import quoted

    name, sign, folder = given.partition("=")
    if sign and name and not Path(given).exists():
        if not Path(folder).exists():
            read = f"it is read as {quoted(folder)} with the name {quoted(name)}, which ends at the first `=`"
            raise SpecError(f"ohr score ranks: {quoted(given)}: no such folder; {read}")
        return name, Path(folder)
    return Path(given).resolve().name, Path(given)


def _refuse_one_version(benchmark: "Benchmark", compared: bool) -> None:
    from ohr.errors import SpecError

    if not compared:
        keys = [f"`{name}`" for name in ("versions", "conversions") if name in type(benchmark).model_fields]
        help = f": set its {' or '.join(keys)}, or look at its truth" if keys else ", as it has one version only"
        raise SpecError(f"benchmark {benchmark.kind}: there is nothing to compare: no number has two values{help}")
