"""`ohr run`: run a study."""

from typing import Annotated

import typer

from ohr.cli.display.finished import carry_out
from ohr.cli.options import (
    RUNS,
    STORE,
    AllowEnv,
    AsJson,
    Details,
    Limit,
    Overrides,
    RunsFolder,
    SpecFile,
    StoreFolder,
    Trust,
    Workers,
)

Where = Annotated[
    str, typer.Option(help="Where steps run: processes here (local), a Ray cluster (ray), this process (inline).")
]
Address = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Of a running Ray cluster; without it a local one starts.")
]
Fresh = Annotated[
    str | None,
    typer.Option(
        metavar="STAGE",
        help="Make the results of a stage again, and all that follow from them: all, pages, documents, chunks, damage, "
        "retrieval, answers or scores.",
    ),
]
Verify = Annotated[
    bool, typer.Option("--verify-inputs", help="Read all input files again, also those of the same size and times.")
]
Draw = Annotated[bool, typer.Option("--figures/--no-figures", help="Draw figures; `ohr plot` draws them later.")]
Write = Annotated[bool, typer.Option("--report/--no-report", help="Write the report; `ohr report` writes it later.")]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="KEY=VALUE", help="Tag the run, for `ohr runs --where`; may be repeated."),
]


def run(
    spec: SpecFile,
    overrides: Overrides = None,
    limit: Limit = None,
    workers: Workers = None,
    executor: Where = "local",
    address: Address = None,
    fresh: Fresh = None,
    verify_inputs: Verify = False,
    draw: Draw = True,
    write: Write = True,
    trust_plugins: Trust = False,
    allow_env: AllowEnv = None,
    store: StoreFolder = STORE,
    runs: RunsFolder = RUNS,
    tag: Tags = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Run a study; results in the store are reused."""
    from ohr.engine.executors import make_executor
    from ohr.results.folder.tags_and_prices import parse_tags
    from ohr.spec.read import read_spec

    read = read_spec(spec, overrides or (), trust_plugins=trust_plugins, allow_env=allow_env or ())
    where = make_executor(executor, workers, address)
    carry_out(
        read,
        store=store,
        runs=runs,
        executor=where,
        limit=limit,
        as_json=as_json,
        details=details,
        fresh=fresh,
        verify=verify_inputs,
        draw=draw,
        write=write,
        trust_plugins=trust_plugins,
        tags=parse_tags(tag or ()),
    )
