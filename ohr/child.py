"""A program that is run for a page or document: with a time limit, and without traces when it ends."""

import os
import re
import selectors
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from ohr.files.names import printable

_BLOCK = 1 << 16
_TAIL = 4096
"""Bytes of messages that are kept: the last ones have the reason."""
_LONGEST = 32 << 20
"""Bytes of output that are kept; no page has more."""
_COLORS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PATIENCE = 0.05
"""Seconds between looks at a program that prints nothing."""
_GUARD = 'read -r _; kill -s KILL -- "-$1" 2>/dev/null; rm -rf -- "$2"'
"""Ends a program and removes its folder when the process that started it is gone, whatever killed that one."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Args:
        status: as of `subprocess`; None where it took too long.
        message: the last line that it wrote on stderr.
        too_long: it wrote more on stdout than is kept.
    """

    status: int | None
    output: bytes
    message: str
    too_long: bool = False

    def fault(self, seconds: float) -> str:
        """Explain why the program failed; nothing where it did not."""
        said = f": {self.message}" if self.message else ""
        if self.status is None:
            return f"took longer than {seconds:g} seconds{said}"
        if self.status < 0:
            return f"was ended by {_signal(-self.status)}{said}"
        if self.status > 0:
            return f"ended with status {self.status}{said}"
        return f"wrote more than {_LONGEST >> 20} MB" if self.too_long else ""


def call(words: Sequence[str], seconds: float, environment: Mapping[str, str], folder: Path) -> Ended:
    """Run a program, and end all that it started when it ends or takes too long.

    Args:
        environment: variables that are set besides those of this process.
        folder: a temporary folder, which is removed, too, where this process is killed meanwhile.

    Raises:
        OSError: it cannot be started.
    """
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        start_new_session=True,  # a group of its own, which can be ended as a whole
    ) as child:
        try:
            with _guarded(child.pid, folder):
                return _followed(child, monotonic() + seconds)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)


@contextmanager
def _guarded(group: int, folder: Path) -> Iterator[None]:
    """Let a small process wait for the end of this one: its pipe closes, whatever ends the process that holds it."""
    with subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "sh", str(group), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as guard:
        try:
            yield
        finally:
            guard.kill()  # before its pipe is closed


def _followed(child: "subprocess.Popen[bytes]", end: float) -> Ended:
    """Read what a program writes until it ends: pipes that are full would stop it."""
    assert child.stdout is not None and child.stderr is not None  # they are pipes
    kept, tail, length = bytearray(), bytearray(), 0
    with selectors.DefaultSelector() as pipes:
        for pipe in (child.stdout, child.stderr):
            os.set_blocking(pipe.fileno(), False)
            pipes.register(pipe, selectors.EVENT_READ)
        while pipes.get_map() and monotonic() < end:
            ready = pipes.select(min(_PATIENCE, max(end - monotonic(), 0)))
            for key, _ in ready:
                block = _block(key.fileobj, pipes)
                if key.fileobj is child.stderr:
                    tail[:] = (tail + block)[-_TAIL:]
                else:
                    length += len(block)
                    kept += block[: max(_LONGEST - len(kept), 0)]
            if not ready and child.poll() is not None:
                break  # something that it started holds the pipes open
    status = _status(child, end)
    return Ended(status, bytes(kept), _last_line(bytes(tail)), length > _LONGEST)


def _block(pipe: Any, pipes: selectors.BaseSelector) -> bytes:
    block = os.read(pipe.fileno(), _BLOCK)
    if not block:
        pipes.unregister(pipe)
    return block


def _status(child: "subprocess.Popen[bytes]", end: float) -> int | None:
    try:
        return child.wait(max(end - monotonic(), 0))
    except subprocess.TimeoutExpired:
        return None


def _last_line(said: bytes) -> str:
    lines = _COLORS.sub("", said.decode("utf-8", "replace")).splitlines()
    return printable(next((line.strip() for line in reversed(lines) if line.strip()), "")[-300:])


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
