"""CPU seconds of the commands for which people wait at a prompt, beside their limits: medians of RUNS runs.

    python -m speed.start_up [RUNS]

The small study is the quickstart, of which one document is run first. With OHRBENCH_DATA the study of OHRBench's
retrieval is checked and planned, too. A bare Python beside each command shows how busy the machine is.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from statistics import median

from speed.bytecode import require_bytecode

OHR = str(Path(sys.executable).parent / "ohr")
SMALL = str(files("ohr.pipelines") / "quickstart.yaml")
OHRBENCH = str(files("ohr.pipelines") / "ohrbench-retrieval.yaml")


def spent(command: list[str], folder: str) -> float:
    """Run a command and return its CPU seconds, those of the system included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def commands() -> Iterator[tuple[list[str], float]]:
    """Yield each command with its limit in CPU seconds."""
    yield ["--help"], 0.15
    for words in (["check", SMALL], ["plan", SMALL], ["plugins"], ["schema"]):
        yield words, 0.5
    for words in (["runs"], ["status", "quickstart"], ["show", "quickstart"]):
        yield words, 0.5
    if "OHRBENCH_DATA" in os.environ:
        for name in ("check", "plan"):
            yield [name, OHRBENCH], 1.5


def main(runs: int) -> None:
    require_bytecode()
    with tempfile.TemporaryDirectory() as folder:
        spent([OHR, "run", SMALL, "--limit", "1", "--executor", "inline", "--no-figures", "--no-report"], folder)
        for words, limit in commands():
            spent([OHR, *words], folder)  # writes the bytecode
            each = [(spent([sys.executable, "-c", "pass"], folder), spent([OHR, *words], folder)) for _ in range(runs)]
            bare, took = (median(times) for times in zip(*each, strict=True))
            shown = " ".join(["ohr", *(Path(word).name for word in words)])
            verdict = "met" if took <= limit else "NOT MET"
            print(f"{shown}: {took:.2f} s (limit {limit:g} s): {verdict}; bare Python {bare:.3f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
