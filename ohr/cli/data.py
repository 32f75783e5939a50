"""`ohr data`: the benchmarks that are installed, and copies of their data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from ohr.cli.data_build import build
from ohr.cli.data_convert import convert
from ohr.cli.data_review import review
from ohr.cli.display.console import say, say_first, say_json, say_table
from ohr.cli.options import AsJson
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.contracts import Benchmark, Stage, Tally

app = typer.Typer(
    no_args_is_help=True,
    help="List, fetch or check benchmarks; build and review questions.",
    rich_markup_mode=None,
)
app.command()(build)
app.command()(convert)
app.command()(review)


@app.command("list")
def list_benchmarks(as_json: AsJson = False) -> None:
    """List installed benchmarks: documents, pages, questions and languages."""
    from ohr.registry import Registry

    registry = Registry()
    found = [_about(registry.load("benchmark", kind), kind) for kind in registry.names("benchmark")]
    if as_json:
        say_json(found)
        return
    say_table(
        ("benchmark", "documents", "pages", "questions", "languages"),
        [
            (about["kind"], about["needs"], "", "", "")
            if about["needs"]
            else (
                about["kind"],
                str(about["documents"]),
                str(about["pages"]),
                str(about["questions"]),
                ", ".join(about["languages"]),
            )
            for about in found
        ],
    )


def _about(plugin: "type[Stage]", kind: str) -> dict[str, Any]:
    """Count a benchmark's parts, or name the fields that it needs to find its data."""
    from ohr.contracts import yaml_keys
    from ohr.errors import OhrError

    fields = yaml_keys(plugin)
    required = [name for name, field in fields.items() if field.is_required()]
    if required:
        options = get_args(fields["root"].annotation) if "root" in fields else ()
        has = any("sample" in get_args(option) for option in options)
        return {"kind": kind, "needs": f"needs {', '.join(required)}{'; root: sample takes its own' if has else ''}"}
    try:
        benchmark: Any = plugin.model_validate({"kind": kind})  # the registry checked that it is a Benchmark
        documents = benchmark.documents()
        return {
            "kind": kind,
            "needs": None,
            "documents": len(documents),
            "pages": sum(document.pages for document in documents),
            "questions": len(benchmark.questions()),
            "languages": sorted({document.language for document in documents}),
        }
    except OhrError as error:
        return {"kind": kind, "needs": str(error)}


@app.command()
def get(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="As `ohr data list` names it.", show_default=False)],
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Target folder; data/KIND, or data/KIND/NAME.", show_default=False),
    ] = None,
    revision: Annotated[str | None, typer.Option(metavar="COMMIT", help="Instead of an earlier fetch's.")] = None,
    name: Annotated[
        str | None, typer.Option("--set", metavar="NAME", help="Of a benchmark with several data sets.")
    ] = None,
) -> None:
    """Download a benchmark's data, check every file and unpack it; an interrupted download is resumed."""
    from ohr.contracts import PublishedBenchmark
    from ohr.errors import DataError

    plugin = _plugin(kind)
    if not issubclass(plugin, PublishedBenchmark):
        raise DataError(f"benchmark {kind}: it cannot be fetched")
    _check_set(kind, plugin.names(), name)
    # plugins from before there were sets take no name
    named = {"name": name} if name else {}
    for line in plugin.fetch(to or Path("data", kind, *named.values()), revision, **named):
        say(line)


def _check_set(kind: str, names: Sequence[str], name: str | None) -> None:
    from ohr.errors import DataError
    from ohr.registry import choices

    if name and not names:
        raise DataError(f"benchmark {kind}: it has one data set: leave out --set")
    if names and name not in names:
        wrong = f"no data set {name!r} is known" if name else "it has several data sets: name one with --set"
        raise DataError(f"benchmark {kind}: {wrong}. {choices(name or '', names)}")


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The benchmark's folder.", show_default=False)],
    kind: Annotated[str, typer.Option("--benchmark", metavar="KIND", help="As `ohr data list` names it.")] = "ohrbench",
    as_json: AsJson = False,
) -> None:
    """Compare the counts of a copy with the published ones; end with status 1 when one differs.

    A copy may leave parts out, such as whole domains: they are listed as `not here`, which is no difference.
    """
    from ohr.report.leaderboard.standings import tallies_of
    from ohr.spec.read import make_benchmark

    _plugin(kind)
    benchmark = make_benchmark({"kind": kind, "root": (root := root_of(folder))}, "ohr data verify")
    benchmark.check()
    warnings = [*([_SAMPLE] if root == "sample" else []), *benchmark.notes()]
    tallies = tallies_of(benchmark)
    here = [tally for tally in tallies if tally.found is not None]
    different = [tally for tally in here if tally.found != tally.published]
    absent = [tally.what for tally in tallies if tally.found is None]
    if as_json:
        say_json(
            {
                "tallies": tallies,
                "different": [tally.what for tally in different],
                "not_here": absent,
                "warnings": warnings,
            }
        )
    else:
        if tallies:
            say_table(
                ("what", "found", "published", ""),
                [(t.what, "" if t.found is None else f"{t.found:,}", f"{t.published:,}", _verdict(t)) for t in tallies],
            )
        say_first("warnings:", warnings)
        say(_compared(len(different), len(here)) if tallies else _uncompared(benchmark, folder))
        if absent:
            say(f"{counted(len(absent), 'count')} of parts that this copy leaves out")
    if different:
        raise typer.Exit(1)


def _compared(different: int, counts: int) -> str:
    if different:
        return f"{different} of {counted(counts, 'count')} differ from the published ones"
    return "every count is as published"


def _uncompared(benchmark: "Benchmark", folder: Path) -> str:
    from ohr.files.built_set import built_sentence, read_set

    if built := read_set(folder):
        say(built_sentence(built, {each.name: benchmark.pages(each) for each in benchmark.documents()}))
    documents, questions = len(benchmark.documents()), len(benchmark.questions())
    return (
        f"no counts of this data set are published: it has {counted(documents, 'document')} and "
        f"{counted(questions, 'question')}"
    )


_SAMPLE = "this is the benchmark's own small sample, not its data"


def root_of(folder: Path) -> str:
    """Return a benchmark's root: `sample` is the word for its own, unless there is a folder of that name."""
    return "sample" if str(folder) == "sample" and not folder.exists() else str(folder.resolve())


def _verdict(tally: "Tally") -> str:
    if tally.found is None:
        return "not here"
    return f"{tally.found - tally.published:+,}" if tally.found != tally.published else "ok"


def _plugin(kind: str) -> "type[Benchmark]":
    from ohr.contracts import Benchmark
    from ohr.errors import PluginError
    from ohr.registry import Registry

    plugin = Registry().load("benchmark", kind)
    if not issubclass(plugin, Benchmark):  # the registry has checked it; this is for the type checker
        raise PluginError(f"{kind} is not a benchmark")
    return plugin
