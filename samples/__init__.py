"""Scripts that build the samples that ohr ships from their sources; see README.md. No part of the installed package."""

from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
"""The folder in which each benchmark has its `source/`, and the `sample/` or `data/` that is built from it."""
