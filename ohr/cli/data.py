"""`ohr data`: the benchmarks that are installed, and copies of their data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import say, say_first, say_json, say_table
from ohr.cli.options import AsJson
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.contracts import Benchmark, Stage, Tally

app = typer.Typer(no_args_is_help=True, help="List, fetch or check benchmarks.", rich_markup_mode=None)


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
    """Count a benchmark's parts; one that has to be told where its data are says what it needs."""
    from ohr.contracts import yaml_keys
    from ohr.errors import OhrError

    required = [name for name, field in yaml_keys(plugin).items() if field.is_required()]
    if required:
        return {"kind": kind, "needs": f"needs {', '.join(required)}"}
    try:
        benchmark: Any = plugin.model_validate({"kind": kind})  # the registry saw to it that it is a Benchmark
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
    to: Annotated[Path | None, typer.Option(metavar="DIR", help="Where to; data/KIND.", show_default=False)] = None,
    revision: Annotated[str | None, typer.Option(metavar="COMMIT", help="Instead of that of an earlier fetch.")] = None,
) -> None:
    """Download a benchmark's data, check every file and unpack it; goes on where an earlier download broke off."""
    for line in _plugin(kind).fetch(to or Path("data") / kind, revision):
        say(line)


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The benchmark's folder.", show_default=False)],
    kind: Annotated[str, typer.Option("--benchmark", metavar="KIND", help="As `ohr data list` names it.")] = "ohrbench",
    as_json: AsJson = False,
) -> None:
    """Count what a copy holds beside what was published, and list what is off; ends with 1 when something is.

    A copy may leave parts out, such as whole domains: they are not here, which is not off.
    """
    from ohr.spec.read import make_benchmark

    _plugin(kind)
    benchmark = make_benchmark({"kind": kind, "root": str(folder)}, "ohr data verify")
    benchmark.check()
    tallies, notes = benchmark.verify(), benchmark.notes()
    here = [tally for tally in tallies if tally.found is not None]
    off = [tally for tally in here if tally.found != tally.published]
    absent = [tally.what for tally in tallies if tally.found is None]
    if as_json:
        say_json({"tallies": tallies, "off": [tally.what for tally in off], "not_here": absent, "notes": notes})
    else:
        say_table(
            ("what", "found", "published", ""),
            [(t.what, "" if t.found is None else f"{t.found:,}", f"{t.published:,}", _verdict(t)) for t in tallies],
        )
        say_first("notes:", notes)
        say(
            f"of what is here, {len(off)} of {counted(len(here), 'count')} off"
            if off
            else "what is here is as published"
        )
        if absent:
            say(f"{counted(len(absent), 'count')} of parts that are not here")
    if off:
        raise typer.Exit(1)


def _verdict(tally: "Tally") -> str:
    if tally.found is None:
        return "not here"
    return f"{tally.found - tally.published:+,}" if tally.found != tally.published else "ok"


def _plugin(kind: str) -> "type[Benchmark]":
    from ohr.contracts import Benchmark
    from ohr.errors import PluginError
    from ohr.registry import Registry

    plugin = Registry().load("benchmark", kind)
    if not issubclass(plugin, Benchmark):  # the registry has seen to it; this tells the type checker
        raise PluginError(f"{kind} is no benchmark")
    return plugin
