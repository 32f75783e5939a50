"""The use that the cells of a run make of generators, agents and systems."""

from collections.abc import Mapping
from typing import Any

from ohr.contracts import System
from ohr.engine.ledger import Usage
from ohr.graph.cells import Cell
from ohr.spec.servers import answering, models_of, serving


def note_answers(usage: Usage, cell: Cell, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Note the replies of a cell's generator, or the calls of its agent or system.

    Args:
        usage: to add to.
        cell: whose answers they are.
        found: completions or trajectories by key.
    """
    if cell.generator:
        usage.add(answering(cell.generator, cell.stage), found)
        return
    if cell.agent is None:
        return
    asks = {name: [step for step in each["steps"] if step["kind"] == "ask"] for name, each in found.items()}
    if isinstance(cell.agent.stage, System):
        usage.add(serving(cell.agent), {name: step for name, steps in asks.items() for step in steps})
        return
    new = {step["key"] for name in asks.keys() & usage.made for step in asks[name] if not step["cached"]}
    for role, payee in models_of(cell.agent).items():
        calls = {step["key"]: step for steps in asks.values() for step in steps if step["role"] == role}
        usage.add(payee, calls, new)
