"""`ohr data`: the benchmarks that are installed."""

from typing import TYPE_CHECKING, Any

import typer

from ohr.cli.options import AsJson
from ohr.cli.show import say_json, say_table

if TYPE_CHECKING:
    from ohr.contracts import Stage

app = typer.Typer(no_args_is_help=True, help="List the benchmarks that are installed.", rich_markup_mode=None)


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
