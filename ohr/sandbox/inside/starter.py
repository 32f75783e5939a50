"""The starter: a clean interpreter that loads the allowed modules once, isolates itself, and forks lanes.

Its standard input is a socket, over which it receives its task, as JSON, and reports what works here; then the socket
is the lanes'.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import socket
import sys
from pathlib import Path

from . import lane, walls

_WARM = (
    "_strptime", "encodings.ascii", "encodings.cp1252", "encodings.gbk", "encodings.latin_1", "encodings.utf_16",
    "encodings.utf_32", "unicodedata",
)  # fmt: skip
_WARM_NUMPY = (
    "numpy.char", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random", "numpy.rec",
    "numpy.strings",
)  # fmt: skip
"""Modules that the allowed ones and the compiler load on first use, when files are out of reach."""

_FIRST_TO_GO = "1000"
"""The highest oom_score_adj: when memory runs out, the kernel ends a program, not the user's run."""
_GUESS = 1 << 30
"""Bytes of address space of an interpreter with numpy, where the system does not say."""
_MOST_OF_TASK = 1 << 20


def main() -> None:
    """Isolate this process, report, and wait for the lanes, which serve until the socket is closed."""
    control = socket.socket(fileno=0)
    task = walls.Task(**json.loads(control.recv(_MOST_OF_TASK)))
    if fault := _load(task):
        control.sendall(json.dumps({"fault": fault}).encode())
        return
    taken = _GUESS
    with contextlib.suppress(OSError):
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, encoding="ascii")
    task.memory = taken + (task.memory_mb << 20)
    reasons, child = dict.fromkeys(task.without, "left out"), 0
    if "namespaces" not in reasons:
        try:
            walls.separate()
            child = os.fork()  # the child is the first process of its namespace: with it, all others there end
        except OSError as error:
            reasons["namespaces"] = str(error)
    if not child:
        _fork_lanes(control, task, reasons)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def _fork_lanes(control: socket.socket, task: walls.Task, reasons: dict[str, str]) -> None:
    """Find what works, report it, and fork the lanes."""
    wall, lacks, broken = walls.working(task, reasons)
    control.sendall(json.dumps({"works": wall.names, "lacks": lacks, "broken": broken}).encode())
    gc.collect()
    gc.freeze()  # so that children do not copy the pages of all objects when they collect garbage
    for _ in range(task.workers):
        if os.fork() == 0:
            try:
                lane.serve(control, task, wall)
            finally:
                os._exit(0)


def _load(task: walls.Task) -> str:
    """Import all that programs may import; return the reason where a module is not there."""
    sys.path.extend(task.paths)
    gc.disable()
    for name in task.modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            return f"{name} cannot be imported: {error}"
    for name in (*_WARM, *(_WARM_NUMPY if "numpy" in sys.modules else ())):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if numpy := sys.modules.get("numpy"):
        numpy.linalg.inv(numpy.eye(8))  # BLAS takes its memory now, not from each program's share
    sys.path.clear()
    sys.path_importer_cache.clear()
    return ""
