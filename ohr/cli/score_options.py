"""Options of `ohr score` that name a benchmark, and the keys that they stand for."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ohr.cli.data import root_of


class Protocol(StrEnum):
    """Which rules a benchmark is scored by."""

    CLEAN = "clean"
    REFERENCE = "reference"


Kind = Annotated[
    str | None,
    typer.Option(
        "--benchmark", metavar="KIND", help="As `ohr data list` names it; OHRBench in its folders, else mini."
    ),
]
Root = Annotated[Path | None, typer.Option(metavar="DIR", help="The benchmark's folder.")]
Domains = Annotated[
    list[str] | None, typer.Option("--domains", metavar="A,B", help="Only these domains; may be repeated.")
]
Rules = Annotated[Protocol | None, typer.Option(help="`reference` repeats the published protocol to the digit.")]
Fields = Annotated[
    list[str] | None, typer.Option("--set", metavar="K=V", help="Another key of the benchmark, as in languages=[en].")
]


def benchmark_keys(
    kind: str | None,
    root: Path | None,
    domains: Sequence[str] | None,
    protocol: Protocol | None,
    fields: Sequence[str] | None,
) -> dict[str, Any]:
    """Gather a benchmark's keys from the command line; whether it has such keys is its own to say.

    Args:
        kind: the benchmark; where none is named, OHRBench when `root` is in its layout, else mini.

    Raises:
        SpecError: a `--set` is not of the form key=value.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from ohr.errors import SpecError
    from ohr.files.ohrbench_json import has_bases

    keys: dict[str, Any] = {"kind": kind or ("ohrbench" if root and has_bases(root) else "mini")}
    if root is not None:
        keys["root"] = root_of(root)
    if domains:
        keys["domains"] = [name.strip() for listed in domains for name in listed.split(",")]
    if protocol is not None:
        keys["protocol"] = protocol.value
    for field in fields or ():
        key, sign, value = field.partition("=")
        if not sign or not key.isidentifier():
            raise SpecError(f"--set {field}: write it as key=value")
        try:
            keys[key] = YAML(typ="safe", pure=True).load(value)
        except YAMLError:
            raise SpecError(f"--set {field}: the value is not valid YAML") from None
    return keys


def label_of(named: str | None, keys: Mapping[str, Any]) -> str:
    """Return the head of messages: who named no benchmark must see which one was taken."""
    return "ohr score" if named else f"ohr score: no --benchmark is named, so {keys['kind']}"
