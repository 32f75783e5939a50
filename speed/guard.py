"""Compares the speed and memory of this version with those of the last release: `make speed`.

Each figure is a ratio to a peer that is measured in the same turn, larger is better, the median of three turns. Peers
are a plain implementation of the published code (with OHRBENCH_DATA; otherwise those rows are left out), a bare loop,
and for the rest a fixed piece of work in Python and numpy. `ratios.json` keeps the ratios of the last release; a fall
of a tenth is a failure, and `--keep` writes the file again. A shared machine can do that by itself: repeat such a row.

    python -m speed.guard [--keep]
"""

import json
import os
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import numpy as np  # after the threads

from speed import agents, ohrbench_retrieval
from speed.bytecode import require_bytecode
from speed.made_up_run import large
from speed.ohrbench_retrieval import spent

TURNS = 3
DOMAIN = "manual"
KEPT = Path(__file__).with_name("ratios.json")
OHR = str(Path(sys.executable).with_name("ohr"))
SPEC = str(files("ohr.pipelines") / "quickstart.yaml")
WITH_ANSWERS = ["--set", "generators=[{kind: extractive}]", "--set", "evaluate=[retrieval, generation, overall]"]
"""Values that add the stages which the demo leaves out, with a baseline: the ratios of earlier releases have them."""
PLAIN = 60.0
"""MB of memory of a Python process that has imported numpy and pyarrow: the peer of the demo's memory."""


def yardstick() -> float:
    """Return the CPU seconds of a fixed piece of work: text, mappings and arrays."""
    began = process_time()
    words = [f"word{number % 5_000}" for number in range(400_000)]
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + len(word.upper().replace("W", "v"))
    values = np.random.default_rng(0).random(1_000_000)
    for _ in range(6):
        values = np.sort(values)[::-1] * 1.000_001
    return process_time() - began


def of_ohrbench() -> Iterator[tuple[str, float]]:
    """Retrieval of one domain, and `ohr run` on it."""
    with TemporaryDirectory() as folder:
        ohrbench_retrieval.measure("fill", "gt", [DOMAIN], folder)
        plain, ours = (ohrbench_retrieval.measure(side, "gt", [DOMAIN], folder) for side in ("plain", "cold"))
        other = ohrbench_retrieval.measure("plain", "MinerU", [DOMAIN], folder)
    seconds = [sum(side["seconds"].values()) for side in (plain, ours, other)]
    yield "OHRBench, retrieval alone", seconds[0] / seconds[1]
    with TemporaryDirectory() as folder:
        for about, (used, peak) in ohrbench_retrieval.runs([DOMAIN], folder):
            yield f"OHRBench, ohr run, {about}", (seconds[0] + seconds[2]) / used
            yield f"OHRBench, memory, {about}", plain["peak"] / peak


def of_demo() -> Iterator[tuple[str, float]]:
    """The demo's study with answers, on four documents in one process, from an empty store and again."""
    study = [OHR, "run", SPEC, "--limit", "4", "--executor", "inline", *WITH_ANSWERS, "--set", "decompose=false"]
    with TemporaryDirectory() as folder:
        for about in ("empty store", "again"):
            peer = yardstick()
            used, peak = spent(study, folder, dict(os.environ))
            yield f"demo, {about}", 10 * median((peer, yardstick())) / used
            yield f"demo, memory, {about}", PLAIN / peak


def of_report() -> Iterator[tuple[str, float]]:
    """The report of 240 questions."""
    with TemporaryDirectory() as home:
        folder = large(240).write(Path(home))
        peer = yardstick()
        used, peak = spent([OHR, "report", str(folder)], home, dict(os.environ))
        yield "report", 10 * median((peer, yardstick())) / used
        yield "report, memory", PLAIN / peak


def of_agents() -> Iterator[tuple[str, float]]:
    """Agents through the engine against a bare loop."""
    server, url = agents.started(0.02)
    try:
        agents.bare(url, agents.IN_FLIGHT, 1)
        bare = agents.bare(url, 250, 5)
        yield "agents", bare / agents.ours(url, 250, 5)[0]
    finally:
        server.terminate()


def main(*, keep: bool) -> int:
    """Print each ratio beside that of the last release; return 1 where one fell by a tenth or more."""
    with_data = "OHRBENCH_DATA" in os.environ
    found: dict[str, list[float]] = {}
    for _ in range(TURNS):
        for rows in ([of_ohrbench] if with_data else []) + [of_demo, of_report, of_agents]:
            for name, ratio in rows():
                found.setdefault(name, []).append(ratio)
                print(f"  {name}: {ratio:.3g}", file=sys.stderr, flush=True)
    ratios = {name: round(median(values), 3) for name, values in found.items()}
    last: dict[str, float] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    fallen = [name for name, ratio in ratios.items() if ratio < 0.9 * last.get(name, 0)]
    print(f"{'ratio to its peer, larger is better':48}{'now':>8}{'last':>8}")
    for name, ratio in ratios.items():
        print(f"{name:48}{ratio:8.3g}{last.get(name, float('nan')):8.3g}{'  FAILED: fell' if name in fallen else ''}")
    if not with_data:
        print("OHRBench's rows are left out: OHRBENCH_DATA names no folder")
    if keep:
        KEPT.write_text(json.dumps(last | ratios, indent=2) + "\n", encoding="utf-8")
    return int(bool(fallen))


if __name__ == "__main__":
    require_bytecode()
    sys.exit(main(keep="--keep" in sys.argv[1:]))
