"""`ohr check`: whether a spec is right, and can run here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.console import say, say_first, say_json
from ohr.cli.options import AsJson, StudyOptions, command_of
from ohr.errors import OhrError, SpecError
from ohr.messages.wording import counted, sized

if TYPE_CHECKING:
    from ohr.dataset.inputs import Inputs
    from ohr.dataset.misplaced_evidence import Misplaced
    from ohr.spec.model import Spec


@dataclass(frozen=True, kw_only=True)
class CheckOptions(StudyOptions):
    """Options of `ohr check`."""

    servers: Annotated[bool, typer.Option("--servers", help="Ask each server whether it is there, with the key.")] = (
        False
    )
    as_json: AsJson = False


@command_of(CheckOptions)
def check(given: CheckOptions) -> None:
    """Validate a spec, and check that this machine has what it needs.

    Libraries, models and language packs are looked for, and servers with --servers; nothing is run, and faults are
    listed all at once.
    """
    from ohr.dataset.inputs import limited
    from ohr.dataset.misplaced_evidence import misplaced, sentence
    from ohr.graph.cells import count, not_swapped
    from ohr.messages.variables import hidden
    from ohr.models.reach import origin, servers_of
    from ohr.runner.comparisons import uncompared
    from ohr.spec.servers import sent
    from ohr.surface import private_imports

    try:
        spec = limited(given.read(), given.limit)
        inputs, keyless = _ready(spec, asks=given.servers)
    except OhrError as error:
        if not given.as_json:
            raise
        text = str(error) if isinstance(error, SpecError) else hidden(str(error))
        say_json({"valid": False, "faults": text.splitlines()})
        raise typer.Exit(2) from None
    counts, named = count(spec), [origin(server.url) for server in servers_of(spec.stages())]
    lost = list(misplaced(inputs))
    private = [fault for file in spec.plugin_files for fault in private_imports(file)]
    warnings = [*keyless, *sent(spec), *private, *inputs.warnings, *uncompared(spec), *not_swapped(spec)]
    warnings += [sentence(len(lost))] if lost else []
    found = {
        "knowledge_bases": len(spec.knowledge_bases),
        "cells": counts,
        "documents": len(inputs.documents),
        "documents_asked": inputs.documents_asked,
        "questions": len(inputs.questions),
        "servers": dict.fromkeys(named, "answers" if given.servers else "not asked"),
        "warnings": warnings,
        "misplaced_evidence": [_located(inputs, one) for one in lost],
    }
    if given.as_json:
        say_json({"valid": True, "faults": [], **found})
        return
    stages = ", ".join(f"{count} {stage}" for stage, count in counts.items())
    say(
        f"{given.spec} is valid: {counted(len(spec.knowledge_bases), 'knowledge base')}, "
        f"{counted(sum(counts.values()), 'cell')} ({stages}), "
        f"{sized(len(inputs.documents), inputs.documents_asked, len(inputs.questions))}"
    )
    if named:
        answer = "answer" if len(named) > 1 else "answers"
        listed = ", ".join(dict.fromkeys(named))
        say(
            f"{listed} {answer}"
            if given.servers
            else f"not asked: {listed}; --servers sends each one request without work"
        )
    say_first("warnings:", warnings)
    say_first("evidence that is not on its page:", [_located(inputs, one) for one in lost])


def _located(inputs: "Inputs", found: "Misplaced") -> str:
    """Describe misplaced evidence, with file and line where the benchmark knows them."""
    from ohr.dataset.misplaced_evidence import explained

    place = inputs.benchmark.origin(found.question)
    text = explained(found, getattr(inputs.benchmark, "first_page", 1))  # as the user's own file counts pages
    return f"{place}: {text}" if place else text


def _ready(spec: "Spec", *, asks: bool) -> tuple["Inputs", list[str]]:
    """Read the inputs of the run, and list missing keys; raises an OhrError that lists everything that prevents it.

    Args:
        asks: send each server a request; else the keys of servers may be missing.
    """
    from ohr.dataset.inputs import read_inputs
    from ohr.models.reach import faults_of_servers, servers_of
    from ohr.runner.preflight import check_stages

    faults = []
    try:
        keyless = check_stages(spec, asks=asks)
        faults += faults_of_servers(servers_of(spec.stages())) if asks else []
    except OhrError as error:
        faults.append(str(error))
    try:
        inputs = read_inputs(spec)
    except OhrError as error:
        if not any(str(error) in fault for fault in faults):  # the benchmark's own check may have said it already
            faults.append(str(error))
    if faults:
        raise OhrError("\n".join(faults))
    return inputs, keyless
