"""The program in a reply: which part of the text is executed, and its run in the sandbox; of equal programs, one."""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from textwrap import dedent, indent
from typing import NamedTuple

from ohr.errors import PluginError
from ohr.sandbox import UNSAFE, Limits, Outcome, isolation, run_program, run_programs

from .release_records import Protocol

_FENCE = "```"
_HEAD = "def solution():"
_DEFINES = re.compile(r"^[ \t]*def[ \t]+solution[ \t]*\(", re.MULTILINE)
_RETURNS = re.compile(r"^[ \t]*return\b", re.MULTILINE)
_LANGUAGE = re.compile(r"[ \t]*(?:(py|python)[\d.]*|[\w.+-]*)[ \t]*\n")
"""The first line of a block, which may name its language; the group is there where that is Python."""


def extract_program(reply: str, protocol: Protocol = "reference") -> str:
    """Return the program of a reply; empty where there is none.

    The published rules: the first block that is marked as Python; else the first block of any kind; else all of the
    text, made the body of `def solution():` unless it has that line. A reply that contains the word argparse has no
    program. Of a text with a single fence and without that line, the part before the fence counts.

    The clean rules repair faults of these: the first block is taken though another one defines the function; a last
    block whose fence is missing is no block; a function with an annotation or other spaces is not recognized; a body
    in a block is no function, and one without a block is indented in its first line only.
    """
    if not reply:
        return ""
    return _published(reply) if protocol == "reference" else _repaired(reply)


def _published(reply: str) -> str:
    if "argparse" in reply:
        return ""
    for opening in (f"{_FENCE}python", _FENCE):
        _, found, rest = reply.partition(opening)
        block, closed, _ = rest.partition(_FENCE)
        if found and closed:
            return block.strip("\n").strip("`").strip()
    if _HEAD in reply:
        return reply.strip().strip("`").strip()
    body = reply.split(_FENCE)[0]  # of no fence, all of it
    start = "" if reply.startswith("    ") else "    "
    return f"{_HEAD}\n{start}{body}".strip("`").strip()


def _repaired(reply: str) -> str:
    parts = [_part(place, text) for place, text in enumerate(reply.split(_FENCE))]
    code = max(parts, key=lambda part: part[0])[1]  # of equals, the first
    if not code.strip():
        return ""
    return dedent(code).strip() if _DEFINES.search(code) else f"{_HEAD}\n{_body(code)}"


def _part(place: int, text: str) -> tuple[tuple[bool, ...], str]:
    """Return signs that a part of a reply is the program, the strongest first, and its code.

    Parts inside fences have odd places, unless a fence is missing or closes a block that the prompt has opened.
    """
    language = _LANGUAGE.match(text) if place else None
    code = text[language.end() :] if language else text
    is_python = bool(language and language[1])
    return (bool(_DEFINES.search(code)), is_python, bool(_RETURNS.search(code)), place % 2 == 1), code


def _body(code: str) -> str:
    """Indent statements as the body of a function; a continuation may begin within its first line's indentation."""
    first, *rest = code.strip("\n").rstrip().split("\n")
    others = [line for line in rest if line.strip()]
    if others and not first.startswith(" ") and all(line.startswith("    ") for line in others):
        return "\n".join([f"    {first}", *rest])
    return indent(dedent("\n".join([first, *rest])), "    ")


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
