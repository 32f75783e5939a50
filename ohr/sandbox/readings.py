"""Outcomes from what a program's process leaves, which is not to be trusted."""

import signal
from typing import Literal

from pydantic import BaseModel, ValidationError

from .values import How, Limits, Outcome, SandboxError

_MOST_OF_LINE = 1000
"""Characters of an error or a type's name that are kept."""
_BESIDE = 16384
"""Bytes of a reply beside its value: an error of 1,000 characters, a type's name of 100, the names of fields."""
_JSON = 6
"""Bytes that JSON takes for one byte of a control character."""
_NO_RESULT: tuple[How, str] = ("killed", "it ended without a result that can be read")


class _Reply(BaseModel):
    """A reply as a program's process writes it, where nothing ends it."""

    how: Literal["returned", "raised", "refused", "memory"]
    value: str | None
    number: float | None
    kind: str
    error: str | None


def longest(limits: Limits) -> int:
    """Return the bytes of the longest reply."""
    return _JSON * limits.output_bytes + _BESIDE


def outcome(end: tuple[int, float, float, str], reply: bytes, limits: Limits) -> Outcome:
    """Read how a program ended.

    Args:
        end: what the lane reports, which the program cannot reach: wait status, seconds of wall and of CPU time, and
            the reason why the program was not run, if so.
        reply: what the program's process wrote, or one byte more than the longest reply.

    Raises:
        SandboxError: when the program could not be isolated, and was not run.
    """
    status, seconds, cpu, fault = end
    if fault:
        raise SandboxError(f"a program was not run, since it could not be isolated: {_line(fault)}")
    if len(reply) > longest(limits):
        return lost(seconds, "killed", f"it sent a result of more than {limits.output_bytes} bytes")
    if status:
        return lost(seconds, *_died(status & 0x7F, seconds, cpu, limits))
    try:
        read = _Reply.model_validate_json(reply)
    except ValidationError:
        return lost(seconds, *_NO_RESULT)
    error = None if read.error is None else _line(read.error)
    return Outcome(read.value, read.number, _line(read.kind), error, seconds, read.how)


def lost(seconds: float, how: How, error: str) -> Outcome:
    """Return the outcome of a program without a result."""
    return Outcome(value=None, number=None, kind="", error=error, seconds=seconds, how=how)


def _died(killer: int, seconds: float, cpu: float, limits: Limits) -> tuple[How, str]:
    """Name the end of a process by a signal, or without one, but with a status."""
    killed = killer == signal.SIGKILL
    if killer == signal.SIGXCPU or (killed and (cpu >= limits.cpu_seconds or seconds >= limits.seconds)):
        # one sentence for both limits: where they are equal, chance decides which comes first
        return "timeout", f"it took longer than {limits.seconds:g} seconds, or {limits.cpu_seconds} of CPU time"
    if killed:  # by the system, when memory is short; or by its lane, once it has closed the pipe to it
        return "killed", "it was killed, or closed the way of its result"
    if not killer:
        return _NO_RESULT
    known = killer in set(signal.Signals)
    return "killed", f"it died of {signal.Signals(killer).name if known else f'signal {killer}'}"


def _line(text: str) -> str:
    """Return one line of text, without characters that steer a terminal."""
    return "".join(character if character.isprintable() else " " for character in text[:_MOST_OF_LINE])
