"""The sandbox's processes, seen from the user's: their start, their report, their end."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ohr.errors import DataError

from .inside import wire
from .values import Limits, SandboxError

_BOOT = "import sys; sys.path.append(sys.argv[1]); from inside.starter import main; main()"
_OPTIONS = ("-s", "-S", "-P", "-B")
"""No site-packages but those of the modules, nothing from the working folder, nothing written. `-I` would be shorter,
and would ignore PYTHONHASHSEED."""

_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "TZ": "UTC",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
}
_KEPT = ("LD_LIBRARY_PATH", "PYTHONHOME", "SYSTEMROOT")
"""Variables without which some interpreters do not start; no other one is passed on."""

_PATIENCE = 60.0
"""Seconds that loading the modules may take; numpy takes 0.1, a cold network drive far more."""
_ENDING = 2.0


@dataclass
class Processes:
    """The processes of one sandbox: a starter, its lines to the lanes, and its report."""

    starter: subprocess.Popen[bytes]
    lines: list[socket.socket]
    base: str
    report: Mapping[str, Any]

    def end(self) -> None:
        """End all processes and delete their folder; no trouble if some are gone."""
        for line in self.lines:
            line.close()
        try:
            self.starter.wait(_ENDING)
        except subprocess.TimeoutExpired:
            os.killpg(self.starter.pid, signal.SIGKILL)
            self.starter.wait()
        if self.starter.stderr:
            self.starter.stderr.close()
        shutil.rmtree(self.base, ignore_errors=True)


def start(limits: Limits, function: str, workers: int, without: Collection[str]) -> Processes:
    """Start the processes of a sandbox.

    Raises:
        DataError: when a module of the limits cannot be imported.
        SandboxError: when the processes do not start.
    """
    if not hasattr(os, "fork") or not sys.executable:
        raise SandboxError("programs cannot be run here: the sandbox needs a Unix system with a Python interpreter")
    base = tempfile.mkdtemp(prefix="ohr-sandbox-")
    Path(base).chmod(0o711)  # a program that is nobody walks through it to its own folder
    pairs = [socket.socketpair() for _ in range(workers)]
    theirs = [pair[1].fileno() for pair in pairs]
    command = [sys.executable, *_OPTIONS, "-c", _BOOT, str(Path(__file__).parent), base]  # base: for ps
    try:
        starter = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=base,
            env=_environment(), pass_fds=theirs, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        for line, _ in pairs:
            line.close()
        Path(base).rmdir()
        raise SandboxError(f"the sandbox's interpreter does not start: {error}") from None
    finally:
        for _, other in pairs:
            other.close()
    made = Processes(starter, [line for line, _ in pairs], base, {})
    try:
        made.report = _report(
            made, {**_settings(limits, function), "lines": theirs, "base": base, "without": [*without]}
        )
    except BaseException:
        made.end()
        raise
    if made.report["root"] == "mount":  # nothing is in it; a run that is killed leaves no folder
        Path(base).rmdir()
    return made


def _settings(limits: Limits, function: str) -> dict[str, Any]:
    return {
        "modules": limits.modules,
        "paths": _paths(limits.modules),
        "function": function,
        "seconds": limits.seconds,
        "cpu_seconds": max(1, round(limits.cpu_seconds)),
        "memory": limits.memory_mb << 20,
        "folder": limits.folder_mb << 20,
        "output": limits.output_bytes,
    }


def _environment() -> dict[str, str]:
    return {**_ENVIRONMENT, **{name: os.environ[name] for name in _KEPT if name in os.environ}}


def _paths(modules: Sequence[str]) -> list[str]:
    """Return the folders that hold the modules, beside the standard library's."""
    folders: dict[str, None] = {}
    for name in modules:
        with suppress(ImportError, ValueError):
            found = find_spec(name.partition(".")[0])
            if found and found.has_location and found.origin:
                place = Path(found.origin)
                folders[str(place.parents[1] if found.submodule_search_locations else place.parent)] = None
    return list(folders)


def _report(made: Processes, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Send the settings to the starter and receive its report."""
    assert made.starter.stdin is not None
    with suppress(BrokenPipeError), made.starter.stdin as stdin:
        stdin.write(json.dumps(settings).encode())
    line = made.lines[0]
    line.settimeout(_PATIENCE)
    try:
        report: dict[str, Any] = json.loads(received(line, wire.LENGTH.unpack(received(line, wire.LENGTH.size))[0]))
    except TimeoutError:
        raise SandboxError(f"the sandbox's interpreter did not start within {_PATIENCE:g} seconds") from None
    except EOFError:
        raise SandboxError(f"the sandbox's interpreter ended at its start: {_last_words(made.starter)}") from None
    if fault := report.get("fault"):
        raise DataError(f"limits of programs: modules: {fault}; install it or leave it out")
    line.settimeout(None)
    return report


def received(line: socket.socket, size: int) -> bytes:
    """Return `size` bytes from a line.

    Raises:
        EOFError: when it ends before.
    """
    parts = []
    while size:
        part = line.recv(min(size, 1 << 16))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _last_words(starter: subprocess.Popen[bytes]) -> str:
    with suppress(ProcessLookupError):
        os.killpg(starter.pid, signal.SIGKILL)
    lines = starter.stderr.read().decode("utf-8", "replace").splitlines() if starter.stderr else []
    return lines[-1] if lines else "it printed no reason"
