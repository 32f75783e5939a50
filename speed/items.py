"""Runs a study of 100,000 items that cost nothing (pages read, prompts answered), and runs it again once finished.

    python speed/items.py [--items 100000] [--workers 2]

What is left is the frame's own cost: scheduling, the store, scoring and the tables.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
LIMITS = {"run": 1.0, "again": 10.0}


def run(home: Path, workers: int) -> tuple[float, float, float]:
    """Return wall and CPU seconds of a run, and the MB that its main process or largest worker had at most."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [str(OHR), "run", "spec.yaml", "--trust-plugins", "--workers", str(workers)]
    with (home / "output.txt").open("w") as output:
        failed = subprocess.run(command, cwd=home, stdout=output, stderr=output, check=False).returncode
    if failed:
        raise SystemExit((home / "output.txt").read_text())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu, after.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        # of each document two pages are read and two questions answered in two stages
        documents = given.items // 6
        (home / "spec.yaml").write_text(SPEC.format(plugins=json.dumps(str(PLUGINS)), documents=documents))
        wall, cpu, most = run(home, given.workers)
        items = documents * 6
        print(f"{items:,} items: {wall:.1f} s ({cpu:.1f} s CPU), {most:.0f} MB")
        print(f"an item: {wall / items * 1e3:.2f} ms (limit {LIMITS['run']:.0f} ms), {cpu / items * 1e3:.2f} ms CPU")
        wall, cpu, most = run(home, given.workers)
        print(f"run again: {wall:.1f} s (limit {LIMITS['again']:.0f} s), {cpu:.1f} s CPU, {most:.0f} MB")


if __name__ == "__main__":
    main()
