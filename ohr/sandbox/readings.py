"""Outcomes from the bytes that a program sends, which are not to be trusted."""

import json
import signal
from typing import Any, get_args

from .inside import wire
from .values import How, Limits, Outcome, SandboxError

_BY_PROGRAM = frozenset(get_args(How)) - {"timeout", "killed"}
_MOST = 1000
"""Characters of an error or a type's name that are kept."""


def outcome(head: bytes, reply: bytes, limits: Limits) -> Outcome:
    """Read how a program ended.

    Args:
        head: what the lane reports; the program cannot reach it.
        reply: what the program's process wrote.

    Raises:
        SandboxError: when the program could not be isolated, and was not run.
    """
    status, end, seconds, cpu, _ = wire.HEAD.unpack(head)
    if end == wire.BY_ITSELF and not reply.startswith(wire.RUN) and reply:
        raise SandboxError(f"a program was not run, since it could not be isolated: {_line(reply[1:].decode())}")
    if end != wire.BY_ITSELF:
        return lost(seconds, *_ended(end, limits))
    found = _parsed(reply[1:]) if status == 0 else None
    if found is None:
        return lost(seconds, *_died(status, cpu, limits))
    return Outcome(**found, seconds=seconds)


def lost(seconds: float, how: How, error: str) -> Outcome:
    """Return the outcome of a program without a result."""
    return Outcome(value=None, number=None, kind="", error=error, seconds=seconds, how=how)


def _ended(end: int, limits: Limits) -> tuple[How, str]:
    if end == wire.TOO_LATE:
        return "timeout", _too_late(limits)
    if end == wire.TOO_LONG:
        return "killed", f"it sent a result of more than {limits.output_bytes} bytes"
    return "killed", f"it wrote more than {limits.folder_mb} MiB into its folder"


def _too_late(limits: Limits) -> str:
    """Return one sentence for both limits: where they are equal, chance decides which comes first."""
    return f"it took longer than {limits.seconds:g} seconds, or {limits.cpu_seconds} of CPU time"


def _died(status: int, cpu: float, limits: Limits) -> tuple[How, str]:
    """Name the end of a process without a result, by its wait status."""
    killer = status & 0x7F
    if killer == signal.SIGXCPU or (killer == signal.SIGKILL and cpu >= limits.cpu_seconds):
        return "timeout", _too_late(limits)
    if killer == signal.SIGKILL:  # by the system, when memory is short; or by its lane, once no result can come
        return "killed", "it was killed, or closed the way of its result"
    if killer:
        known = killer in set(signal.Signals)
        return "killed", f"it died of {signal.Signals(killer).name if known else f'signal {killer}'}"
    return "killed", "it ended without a result that can be read"


def _parsed(data: bytes) -> dict[str, Any] | None:
    """Return the fields of a reply, or None when it is not one of ours."""
    try:
        found = json.loads(data.decode("utf-8", "replace"))
        how, value, number, kind, error = (found[name] for name in ("how", "value", "number", "kind", "error"))
        number = None if number is None else float(number)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    texts = (value is None or isinstance(value, str), isinstance(kind, str), error is None or isinstance(error, str))
    if not isinstance(how, str) or how not in _BY_PROGRAM or not all(texts):
        return None
    return {
        "how": how,
        "value": None if value is None else _text(value),
        "number": number,
        "kind": _line(kind),
        "error": None if error is None else _line(error),
    }


def _text(text: str) -> str:
    """Return text that can be written as UTF-8: half characters, which some JSON has, are replaced."""
    return text.encode("utf-8", "replace").decode()


def _line(text: str) -> str:
    """Return one line of text, without characters that steer a terminal."""
    return "".join(character if character.isprintable() else " " for character in _text(text[:_MOST]))
