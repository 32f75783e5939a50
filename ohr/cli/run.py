"""`ohr run`: carry out an experiment."""

from enum import StrEnum
from typing import Annotated

import typer

from ohr.cli.display.finished import carry_out
from ohr.cli.options import (
    RUNS,
    STORE,
    AllowEnv,
    AsJson,
    Limit,
    Overrides,
    RunsFolder,
    SpecFile,
    StoreFolder,
    Trust,
    Workers,
)
from ohr.errors import SpecError


class ExecutorName(StrEnum):
    """Where the work is done."""

    LOCAL = "local"
    RAY = "ray"


def run(
    spec: SpecFile,
    overrides: Overrides = None,
    limit: Limit = None,
    workers: Workers = None,
    executor: Annotated[ExecutorName, typer.Option(help="Where the work is done.")] = ExecutorName.LOCAL,
    trust_plugins: Trust = False,
    allow_env: AllowEnv = None,
    store: StoreFolder = STORE,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Carry out an experiment; what was done before is not done again."""
    from ohr.spec.read import read_spec

    if executor is ExecutorName.RAY:
        raise SpecError("--executor ray: this release runs on one machine only; ray comes with a later release")
    read = read_spec(spec, overrides or (), trust_plugins=trust_plugins, allow_env=allow_env or ())
    carry_out(read, store=store, runs=runs, workers=workers, limit=limit, as_json=as_json)
