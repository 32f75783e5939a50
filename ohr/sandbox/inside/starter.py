"""The starter: a clean interpreter that loads the allowed modules once, isolates itself, and forks the lanes.

It receives its task, as JSON, and the lanes' lines over its standard input, and reports there what works here.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import socket
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from . import kernel, lane, probes, walls

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
_MOST_OF_TASK = 1 << 20


def main() -> None:
    """Isolate this process, report, and serve until all lines are closed."""
    control = socket.socket(fileno=0)
    message, lines, _, _ = socket.recv_fds(control, _MOST_OF_TASK, lane.FILES)
    task = walls.Task(**json.loads(message))
    if fault := _load(task.modules, task.paths):
        control.sendall(json.dumps({"fault": fault}).encode())
        return
    task = replace(task, taken=_address_space())
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, encoding="ascii")
    reasons = dict.fromkeys(task.without, "left out")
    if "namespaces" not in reasons:
        try:
            walls.separate()
        except OSError as error:
            reasons["namespaces"] = str(error)
    if "namespaces" not in reasons and (child := os.fork()):
        os.closerange(3, lane.FILES)
        os.waitpid(child, 0)
        return
    _begin(control, lines, task, reasons)


def _begin(control: socket.socket, lines: Sequence[int], task: walls.Task, reasons: Mapping[str, str]) -> None:
    """Find what works, report it, and fork the lanes; this process is the first of its namespace, if that is new."""
    wall, lacks = probes.works(task, reasons)
    needed = wall.filter and "limits" in wall.names
    broken = probes.trial(lambda: probes.attack(wall, task)) if needed else ""
    control.sendall(json.dumps({"works": wall.names, "lacks": lacks, "broken": broken}).encode())
    gc.collect()
    gc.freeze()  # so that children do not copy the pages of all objects when they collect garbage
    for line in lines:
        if os.fork() == 0:
            _serve(line, lines, task, wall)
    os.closerange(3, lane.FILES)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def _serve(line: int, lines: Sequence[int], task: walls.Task, wall: walls.Walls) -> None:
    try:
        for other in {*lines} - {line}:
            os.close(other)
        with contextlib.suppress(OSError):
            kernel.call("prctl", kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
        lane.serve(socket.socket(fileno=line), task, wall)
    finally:
        os._exit(0)


def _load(modules: Collection[str], paths: Collection[str]) -> str:
    """Import all that programs may import; return the reason where a module is not there."""
    sys.path.extend(paths)
    gc.disable()
    for name in modules:
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


def _address_space() -> int:
    """Return the bytes of address space that this interpreter takes by itself."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 30
