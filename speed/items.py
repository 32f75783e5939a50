"""Runs a study of 100,000 items that cost nothing (pages read, prompts answered), and runs it again once finished.

    python speed/items.py [--items 100000] [--workers 2]

What is left is the frame's own cost: scheduling, the store, scoring and the tables. Its memory is compared with that
of a study of a tenth of the items.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

OHR = Path(sys.executable).with_name("ohr")
PLUGINS = Path(__file__).parents[1] / "tests" / "plugins.py"
SPEC = """\
name: items
plugins: [{plugins}]
replicates: 1
benchmark: {{kind: tiny, size: {documents}}}
knowledge_bases: [{{name: read, ocr: {{kind: pixels}}}}]
chunker: {{kind: page}}
retrievers: [{{kind: bm25}}]
generators: [{{kind: parrot}}]
evaluate: [retrieval, generation, overall]
"""
LIMITS = {"run": 1.0, "again": 10.0, "memory": 1.3}


def run(home: Path, workers: int) -> tuple[float, float]:
    """Return the seconds of a run, and the MB that its largest process had at most."""
    began = time.perf_counter()
    command = [str(OHR), "run", "spec.yaml", "--trust-plugins", "--workers", str(workers)]
    with (home / "output.txt").open("w") as output:
        started = psutil.Popen(command, cwd=home, stdout=output, stderr=output)
        most = 0.0
        while started.poll() is None:
            most = max(most, *map(_resident, (started, *started.children(recursive=True))))
            time.sleep(0.2)
    if started.returncode:
        raise SystemExit((home / "output.txt").read_text())
    return time.perf_counter() - began, most


def _resident(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / 1024**2
    except psutil.NoSuchProcess:
        return 0.0


def study(items: int, workers: int) -> tuple[float, float, float]:
    """Return the seconds of a run of a study and of its repetition, and the MB of its largest process."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        # of each document two pages are read, and two questions answered under five conditions
        (home / "spec.yaml").write_text(SPEC.format(plugins=json.dumps(str(PLUGINS)), documents=items // 12))
        seconds, most = run(home, workers)
        return seconds, run(home, workers)[0], most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    *_, small = study(given.items // 10, given.workers)
    seconds, again, most = study(given.items, given.workers)
    each = seconds / given.items * 1e3
    print(f"{given.items:,} items: {seconds:.1f} s, {each:.2f} ms each (limit {LIMITS['run']:.0f} ms)")
    print(f"run again: {again:.1f} s (limit {LIMITS['again']:.0f} s)")
    print(f"largest process: {most:.0f} MB, {most / small:.2f} times that of a tenth (limit {LIMITS['memory']})")


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    from speed.bytecode import require_bytecode

    require_bytecode()
    main()
