"""Whole runs in one process, and the numbers that they leave."""

import json

from typer.testing import CliRunner

from ohr.cli.app import app
from ohr.engine.executors.inline import Inline
from ohr.results.tables.read_table import read_rows
from ohr.runner.run import run
from ohr.spec.read import read_spec


def finished(path, folder, *overrides, trust_plugins=False):
    """Run a spec with the store and the runs in a folder; return the folder of the run."""
    spec = read_spec(path, overrides, trust_plugins=trust_plugins)
    return run(spec, store=folder / "store", runs=folder / "runs", executor=Inline()).folder


def values(folder, **wanted):
    return {row["question_id"]: row["value"] for row in read_rows(folder / "scores.parquet", **wanted)}


def aggregates(folder, **wanted):
    return {row["name"]: row["value"] for row in read_rows(folder / "aggregates.parquet", **wanted)}


def scored(what, path, benchmark, *words):
    """Score answers or readings of a benchmark's sample with the command; return its status and report."""
    command = ["score", what, str(path), "--benchmark", benchmark, "--set", "root=sample", "--json", *words]
    done = CliRunner().invoke(app, command)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done.exit_code, json.loads(done.stdout)
