"""Runs the programs of replies in the sandbox; of equal programs, one."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from ohr.errors import PluginError
from ohr.sandbox import UNSAFE, Limits, Outcome, isolation, run_program, run_programs

_FEW = 16
"""Programs that are run one by one, by processes that stay ready: below it, to start new ones takes longer."""
_KEPT = 100_000
"""Programs whose ends are remembered, some 20 MB: more than a run has in one process."""


class End(NamedTuple):
    """The end of a program: what `float` makes of its value, None where it fails, and whether it returned at all."""

    number: float | None
    executed: bool


def run(programs: Sequence[str], seconds: float, unsafe: str = "") -> list[End]:
    """Run programs, each in its own isolation; an empty one is not executed.

    What a program gave is remembered, so that two metrics, or two noise levels with one reply, run it once.

    Args:
        seconds: most wall time of each.
        unsafe: the words that let programs run where they cannot be isolated.

    Raises:
        SandboxError: programs cannot be isolated, or the machine is at fault.
    """
    limits = Limits(seconds=seconds)
    known = _known(limits)
    places = {_digest(program): program for program in programs if program}
    new = {place: program for place, program in places.items() if place not in known}
    if len(known) + len(new) > _KEPT:
        known.clear()
        new = places
    for place, outcome in zip(new, _outcomes(list(new.values()), limits, unsafe), strict=True):
        known[place] = End(outcome.number, outcome.returned)
    return [known[_digest(program)] if program else End(None, executed=False) for program in programs]


def refuse_without_isolation(unsafe: str) -> None:
    """Raise a PluginError where programs cannot be isolated, unless the words allow it."""
    if unsafe != UNSAFE and (why := _why_not()):
        raise PluginError(
            f"programs cannot be isolated on this machine: {why}; to run them all the same, write "
            f"`unsafe: {UNSAFE}` under `benchmark`"
        )


def _outcomes(programs: Sequence[str], limits: Limits, unsafe: str) -> list[Outcome]:
    if len(programs) <= _FEW:
        return [run_program(program, limits, unsafe=unsafe) for program in programs]
    return list(run_programs(programs, limits, unsafe=unsafe))


@lru_cache(maxsize=1)
def _why_not() -> str:
    return isolation().why


@lru_cache(maxsize=4)
def _known(limits: Limits) -> dict[bytes, End]:  # noqa: ARG001 # what a program gives depends on its limits
    return {}


def _digest(program: str) -> bytes:
    return sha256(program.encode("utf-8", "surrogatepass")).digest()
