"""Profiles `ohr run` of a spec in one process: CPU time by package and by function, and peak memory by phase.

The profiler counts CPU time of the main thread and slows calls of small functions, so its seconds are shares of the
whole rather than times of a run without it; the first line gives both. Memory is the peak of resident memory since the
phase before, which the kernel counts (Linux only).

    python speed/profile_run.py SPEC [--set KEY=VALUE ...] [other options of `ohr run`]
"""

import cProfile
import io
import os
import pstats
import sys
from collections import defaultdict
from contextlib import suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from time import process_time

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
FUNCTIONS = 20
HOME = Path(__file__).parents[1]
PHASES = {
    "read and hash inputs": ("ohr.runner.run", "read_inputs"),
    "compile": ("ohr.runner.run", "compile_graph"),
    "execute steps, write tables": ("ohr.runner.run", "execute"),
    "derive tables": ("ohr.runner.tabulate", "derive"),
    "figures": ("ohr.cli.display.finished", "figures_of"),
    "report": ("ohr.cli.display.finished", "report_of"),
}
"""A function for each phase of a run; what comes between is `between`."""
peaks: dict[str, float] = {}
spent: dict[str, float] = {}


def peak() -> float:
    """Return the peak of resident memory since the last call, in MB, and reset it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (high,) = (int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return high / 1024


def watch(phase: str, module: str, name: str) -> None:
    """Note the peak memory and CPU time of a function."""
    owner = import_module(module)
    called = getattr(owner, name)

    @wraps(called)
    def noted(*given, **named):
        peaks["between"] = max(peaks.get("between", 0), peak())
        began = process_time()
        try:
            return called(*given, **named)
        finally:
            peaks[phase] = max(peaks.get(phase, 0), peak())
            spent[phase] = spent.get(phase, 0) + process_time() - began

    setattr(owner, name, noted)


def package(file: str) -> str:
    """Name the part that a function is in: a folder of the product, an installed package, or Python."""
    path = Path(file)
    with suppress(ValueError):
        parts = path.relative_to(HOME).parts
        if parts[0] != ".venv":
            return "/".join(parts[:2] if len(parts) > 2 else parts[:1])
    if "site-packages" in path.parts:
        return path.parts[path.parts.index("site-packages") + 1].removesuffix(".py")
    return "built in" if file == "~" else "python"


def table(stats: pstats.Stats, total: float) -> None:
    """Print CPU time by package, and the functions with the most time of their own and with what they call."""
    by_package: dict[str, float] = defaultdict(float)
    rows: list[tuple[float, float, int, str]] = []
    for (file, line, name), (_, calls, own, whole, _) in stats.stats.items():  # type: ignore[attr-defined]
        by_package[package(file)] += own
        rows.append((own, whole, calls, f"{package(file)}: {Path(file).name}:{line} {name}" if line else name))
    print(f"\nCPU time by package, profiled ({total:.1f} s)")
    for name, seconds in sorted(by_package.items(), key=lambda item: -item[1])[:FUNCTIONS]:
        print(f"{seconds:8.2f} s {seconds / total:6.1%}  {name}")
    for title, column in (("of their own", 0), ("with all that they call", 1)):
        print(f"\nfunctions by CPU time {title}\n{'own':>8}{'whole':>9}{'calls':>10}")
        ours = rows if column == 0 else [row for row in rows if row[3].partition(":")[0].split("/")[0] in OURS]
        for own, whole, calls, name in sorted(ours, key=lambda row: row[column], reverse=True)[:FUNCTIONS]:
            print(f"{own:8.2f}{whole:9.2f}{calls:10}  {name}")


OURS = ("ohr", "noise", "ocr", "retrievers", "generators", "agents", "benchmarks")


def main(arguments: list[str]) -> None:
    """Run `ohr run` with some arguments under the profiler."""
    app = import_module("ohr.cli.app").app

    for phase, (module, name) in PHASES.items():
        watch(phase, module, name)
    profiler = cProfile.Profile(process_time)
    began = process_time()
    with suppress(SystemExit):
        profiler.runcall(app, ["run", *arguments, "--executor", "inline"], standalone_mode=True)
    total = process_time() - began
    peaks["between"] = max(peaks.get("between", 0), peak())
    print(f"{total:.1f} s of CPU time under the profiler\n\nphase: CPU seconds, peak memory")
    for phase in [*PHASES, "between"]:
        if phase in peaks:
            print(f"{spent.get(phase, total - sum(spent.values())):8.2f} s {peaks[phase]:7.0f} MB  {phase}")
    table(pstats.Stats(profiler, stream=io.StringIO()), total)


if __name__ == "__main__":
    main(sys.argv[1:])
