"""The starter: a clean interpreter that loads the allowed modules once, isolates itself, and forks the lanes.

It reads its settings as JSON from its standard input and reports on the first lane's line what works here.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import kernel, lane, namespaces, probes, wire
from .confine import Sizes

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


def main() -> None:
    """Isolate this process, report, and serve until all lines are closed."""
    settings = json.load(sys.stdin)
    lines = _lines(settings["lines"])
    _, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(lane.FILES, highest), highest))
    if fault := _load(settings["modules"], settings["paths"]):
        _report(lines[0], {"fault": fault})
        return
    null = os.open(os.devnull, os.O_RDWR)
    sizes = Sizes(settings["cpu_seconds"], _address_space() + settings["memory"], settings["folder"])
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, encoding="ascii")
    kinds = namespaces.separate(settings["without"])
    if kinds.get("processes") == "" and (child := os.fork()):
        for line in lines:
            line.close()
        os.waitpid(child, 0)
        return
    _begin(lines, settings, sizes, null, kinds)


def _begin(
    lines: Sequence[socket.socket], settings: Mapping[str, Any], sizes: Sizes, null: int, kinds: Mapping[str, str]
) -> None:
    """Find what works, report it, and fork the lanes; this process is the first of its namespace, if that is new."""
    base, without = settings["base"], settings["without"]
    plan, reasons = probes.plan(sizes, base, without, mounts=kinds.get("mounts") == "")
    walls = plan.filter and plan.limits
    broken = probes.trial(lambda: probes.attack(plan, sizes, base)) if walls else ""
    _report(lines[0], {"reasons": {**reasons, **kinds}, "root": plan.root, "broken": broken})
    task = lane.Task(
        plan, sizes, base, settings["function"], settings["modules"], settings["seconds"], settings["output"], null
    )
    gc.collect()
    gc.freeze()  # so that children do not copy the pages of all objects when they collect garbage
    for line in lines:
        if os.fork() == 0:
            for other in lines:
                if other is not line:
                    other.close()
            _serve(line, task)
    for line in lines:
        line.close()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    if plan.root != "mount":  # the user's process deletes it too, unless it was killed
        shutil.rmtree(base, ignore_errors=True)


def _serve(line: socket.socket, task: lane.Task) -> None:
    with contextlib.suppress(OSError):
        kernel.call("prctl", kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
    try:
        lane.serve(line, task)
    finally:
        os._exit(0)


def _lines(numbers: Sequence[int]) -> list[socket.socket]:
    """Take over the lines, with the lowest descriptors there are."""
    lines = []
    for number in numbers:
        lines.append(socket.socket(fileno=os.dup(number)))
        os.close(number)
    return lines


def _load(modules: Sequence[str], paths: Sequence[str]) -> str:
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


def _report(line: socket.socket, what: Mapping[str, Any]) -> None:
    data = json.dumps(what).encode()
    line.sendall(wire.LENGTH.pack(len(data)) + data)
