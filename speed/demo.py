"""Times `ohr demo` from an empty store, and again with a full one."""

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

OHR = Path(sys.executable).parent / "ohr"
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3


def demo(folder: Path) -> tuple[float, str]:
    began = perf_counter()
    done = subprocess.run([OHR, "demo"], cwd=folder, check=True, capture_output=True, text=True)
    return perf_counter() - began, done.stdout + done.stderr


cold, warm, printed = [], [], ""
for _ in range(RUNS):
    with tempfile.TemporaryDirectory() as folder:
        cold.append(demo(Path(folder))[0])
        took, printed = demo(Path(folder))
        warm.append(took)
print(f"empty store: {median(cold):.1f} s of {[round(x, 1) for x in cold]} (limit 45 s)")
print(f"again: {median(warm):.1f} s of {[round(x, 1) for x in warm]} (limit 5 s)")
print("the second run said:", next((line for line in printed.splitlines() if "stage calls" in line), "(nothing)"))
