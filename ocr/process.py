"""Running somebody else's program: its time limit, what it prints, and an end for all that it has started."""

import os
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

_MOST_PRINTED = 64 << 20
"""Bytes of standard output that are kept; a document of thousands of pages has a few million characters."""
_BLOCK = 1 << 16
_LINE = 300


class Failed(Exception):
    """A program that failed; the message says how, with the last line that it wrote to standard error."""


def run(words: Sequence[str], seconds: float, environment: Mapping[str, str], folder: Path) -> bytes:
    """Run a program and return its standard output; all its processes end with it.

    Args:
        seconds: time limit.
        environment: variables set beside those of this process.
        folder: where it runs.

    Raises:
        Failed: it does not start, ends with another status than 0, or takes too long.
    """
    try:
        program = subprocess.Popen(
            list(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            cwd=folder,
            start_new_session=True,  # a group of its own, to be ended as a whole
        )
    except OSError as error:
        raise Failed(f"{words[0]} does not start: {error.strerror}") from None
    assert program.stdout is not None and program.stderr is not None
    printed, errors = deque[bytes](), deque[bytes](maxlen=1)
    readers = [
        Thread(target=_keep, args=(program.stdout, printed, _MOST_PRINTED), daemon=True),
        Thread(target=_keep_last_line, args=(program.stderr, errors), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        status: int | None = program.wait(seconds)
    except subprocess.TimeoutExpired:
        status = None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    for reader in readers:
        reader.join(5)
    said = b"".join(errors).decode(errors="replace").strip()
    detail = f": {said}" if said else ""
    if status is None:
        raise Failed(f"no result within {seconds:g} s{detail}")
    if status:
        how = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
        raise Failed(f"{how}{detail}")
    return b"".join(printed)


def _keep(stream: IO[bytes], kept: deque[bytes], most: int) -> None:
    """Read all of a stream and keep its first bytes; a pipe that nobody reads would stop the program."""
    with stream:
        while block := os.read(stream.fileno(), _BLOCK):
            if most > 0:
                kept.append(block[:most])
                most -= len(block)


def _keep_last_line(stream: IO[bytes], kept: deque[bytes]) -> None:
    """Read all of a stream and keep the end of its last line that is not blank."""
    tail = b""
    with stream:
        while block := os.read(stream.fileno(), _BLOCK):
            tail = (tail + block)[-_BLOCK:]
            lines = [line for line in tail.splitlines() if line.strip()]
            kept.append(lines[-1][-_LINE:] if lines else b"")
