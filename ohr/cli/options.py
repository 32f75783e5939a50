"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

SpecFile = Annotated[Path, typer.Argument(metavar="SPEC", help="The study's YAML file.", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="K=V", help="Replace a value, as in retrievers.0.top_k=5; may be repeated."),
]
Trust = Annotated[bool, typer.Option("--trust-plugins", help="Run the plugin files that the spec names.")]
AllowEnv = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-env",
        metavar="NAME",
        help="Let the spec send this environment variable to its server, as *_API_KEY is; may be repeated.",
    ),
]
PluginFiles = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE", help="A plugin file, whose code is run; may be repeated."),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Use only N documents, spread over the domains.")]
Workers = Annotated[int | None, typer.Option(min=1, metavar="N", help="Processes; one per core.")]
StoreUrl = Annotated[
    str, typer.Option("--store", metavar="DIR", help="Where finished steps are kept: a folder, or an fsspec URL.")
]
StoreFolder = StoreUrl
RunsFolder = Annotated[Path, typer.Option("--runs", metavar="DIR", help="Where results are kept.")]
Clusters = Annotated[
    Path | None,
    typer.Option(
        "--clusters", metavar="FILE", help="The document that each topic is about: `topic document [domain]` or JSON."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Keep what is there as NAME.bak-TIME, and write.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a script to read.")]
Details = Annotated[
    bool, typer.Option("--details", help="Print all tables instead: losses with intervals, scores, costs and warnings.")
]


class AnswerLayout(StrEnum):
    """A program whose files of answers are read and written."""

    RAGAS = "ragas"
    DEEPEVAL = "deepeval"
    PROMPTFOO = "promptfoo"
    INSPECT_AI = "inspect_ai"


STORE = ".ohr"
RUNS = Path("runs")
