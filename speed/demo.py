"""Times `ohr demo` from an empty store, and again with a full one; needs Linux, to count what its workers take.

`python -m speed.demo [RUNS]`, three by default. Core seconds say what the work is where others use the machine, too.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter
from typing import NamedTuple

from speed.bytecode import require_bytecode

OHR = Path(sys.executable).parent / "ohr"
ADOPT = 36
"""Linux's PR_SET_CHILD_SUBREAPER: processes whose parent has ended become this one's, which then counts their time."""
LIMITS = {"empty store": 35, "again": 3}
"""Seconds on two idle cores."""


class Took(NamedTuple):
    """Seconds of the clock and of cores that a run took, and the load of the machine before it."""

    wall: float
    cores: float
    load: float


def demo(folder: Path) -> tuple[Took, str]:
    """Run the demo in a folder; returns what it took and what it said."""
    load, used, began = os.getloadavg()[0], core_seconds(), perf_counter()
    done = subprocess.run([OHR, "demo"], cwd=folder, check=True, capture_output=True, text=True)
    wall = perf_counter() - began
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return Took(wall, core_seconds() - used, load), done.stdout + done.stderr


def core_seconds() -> float:
    """Return the core seconds of all processes that have ended below this one."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def row(name: str, took: Sequence[Took]) -> str:
    """Put some runs in a line, medians first."""
    wall, cores, _ = (median(column) for column in zip(*took, strict=True))
    each = "; ".join(f"{one.wall:.1f} s, {one.cores:.1f} core s at load {one.load:.1f}" for one in took)
    return f"{name}: {wall:.1f} s (limit {LIMITS[name]} s on two idle cores), {cores:.1f} core seconds, of [{each}]"


def main(runs: int) -> None:
    """Run the demo so often, each time from an empty store and then again."""
    require_bytecode()
    ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    cold, warm, printed = list[Took](), list[Took](), ""
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(demo(Path(folder))[0])
            took, printed = demo(Path(folder))
            warm.append(took)
    print(row("empty store", cold))
    print(row("again", warm))
    print("the second run said:", next((line for line in printed.splitlines() if "stage calls" in line), "(nothing)"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
