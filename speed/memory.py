"""Compares the peak memory of a run with that of a run on ten times the pages, all processes together."""

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import sleep

import psutil

OHR = Path(sys.executable).parent / "ohr"
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SPEC = """
name: memory
replicates: 1
plugins: [{plugin}]
benchmark: {{kind: repeated, times: {times}}}
knowledge_bases:
  - name: blur
    image_noise: {{kind: psf_blur, severity: 0.3}}
    ocr: {{kind: tesseract}}
retrievers:
  - {{kind: bm25}}
evaluate: [retrieval]
"""


def peak(times: int) -> int:
    """Return the highest sum of resident memory of the run and its workers, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "memory.yaml"
        spec.write_text(SPEC.format(plugin=Path(__file__).parent / "repeated.py", times=times))
        run = psutil.Popen(
            [OHR, "run", spec, "--trust-plugins", "--workers", "2"], cwd=folder, stdout=subprocess.DEVNULL
        )
        highest = 0
        while run.poll() is None:
            highest = max(highest, _resident(run))
            sleep(0.05)
        if run.returncode:
            sys.exit(f"the run ended with status {run.returncode}")
    return highest


def _resident(run: psutil.Popen) -> int:
    total = 0
    for process in (run, *run.children(recursive=True)):
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


pairs = [(peak(1), peak(10)) for _ in range(RUNS)]
for few, many in pairs:
    print(f"peak {few >> 20} MiB with the pages once, {many >> 20} MiB with ten times as many: {many / few:.2f}")
print(f"median ratio: {median(many / few for few, many in pairs):.2f} (limit 1.3)")
