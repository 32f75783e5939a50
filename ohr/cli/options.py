"""Arguments and options that several commands share, and commands whose options are one object."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from ohr.runner.run_options import RunOptions
    from ohr.spec.model import Spec

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


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Options of each command on a study."""

    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The study's YAML file.", show_default=False)]
    overrides: Overrides = None
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use only N documents, spread over the domains.")
    ] = None
    trust_plugins: Trust = False
    allow_env: AllowEnv = None

    def read(self) -> "Spec":
        """Read the spec that they name, or raise a SpecError with all of its faults."""
        from ohr.spec.read import read_spec

        allowed = self.allow_env or ()
        return read_spec(self.spec, self.overrides or (), trust_plugins=self.trust_plugins, allow_env=allowed)


@dataclass(frozen=True, kw_only=True)
class RunChoices(StudyOptions):
    """Options of `ohr run`."""

    workers: Workers = None
    executor: Annotated[
        str, typer.Option(help="Where steps run: processes here (local), a Ray cluster (ray), this process (inline).")
    ] = "local"
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Of a running Ray cluster; without it a local one starts.")
    ] = None
    fresh: Annotated[
        str | None,
        typer.Option(
            metavar="STAGE",
            help="Make the results of a stage again, and all that follow from them: all, pages, documents, chunks, "
            "damage, retrieval, answers or scores.",
        ),
    ] = None
    verify_inputs: Annotated[
        bool, typer.Option("--verify-inputs", help="Read all input files again, also those of the same size and times.")
    ] = False
    draw: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw figures; `ohr plot` draws them later.")] = (
        True
    )
    write: Annotated[
        bool, typer.Option("--report/--no-report", help="Write the report; `ohr report` writes it later.")
    ] = True
    store: StoreFolder = STORE
    runs: RunsFolder = RUNS
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="KEY=VALUE", help="Tag the run, for `ohr runs --where`; may be repeated."),
    ] = None
    details: Details = False
    as_json: AsJson = False

    def for_engine(self) -> "RunOptions":
        """Return what decides how the spec is run, without what is shown of it."""
        from ohr.engine.executors import make_executor
        from ohr.runner.run_options import RunOptions

        return RunOptions(
            store=self.store,
            runs=self.runs,
            limit=self.limit,
            executor=make_executor(self.executor, self.workers, self.address),
            fresh=self.fresh,
            verify=self.verify_inputs,
        )


_Options = TypeVar("_Options")


def command_of(options: Callable[..., _Options]) -> Callable[[Callable[[_Options], None]], Callable[..., None]]:
    """Make a command whose options are the fields of a dataclass; typer reads them from a signature."""

    def command(work: Callable[[_Options], None]) -> Callable[..., None]:
        @wraps(work)
        def run(**values: Any) -> None:
            work(options(**values))

        run.__signature__ = signature(options)  # type: ignore[attr-defined]
        return run

    return command
