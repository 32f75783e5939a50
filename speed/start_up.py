"""Times `ohr --help` and `ohr check`, and looks that neither imports torch."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from statistics import median
from time import perf_counter

OHR = Path(sys.executable).parent / "ohr"
SPEC = str(files("ohr.pipelines") / "quickstart.yaml")


def seconds(*arguments: str) -> float:
    began = perf_counter()
    subprocess.run([OHR, *arguments], check=True, capture_output=True)
    return perf_counter() - began


for name, arguments, limit in (("ohr --help", ["--help"], 0.3), ("ohr check quickstart.yaml", ["check", SPEC], 1.0)):
    seconds(*arguments)
    took = median(seconds(*arguments) for _ in range(7))
    print(f"{name}: {took:.2f} s (limit {limit} s): {'met' if took <= limit else 'NOT MET'}")
    imported = subprocess.run([sys.executable, "-X", "importtime", OHR, *arguments], capture_output=True, text=True)
    loaded = {line.rsplit("|", 1)[-1].strip() for line in imported.stderr.splitlines()}
    print(f"  torch imported: {'yes' if 'torch' in loaded else 'no'}")
