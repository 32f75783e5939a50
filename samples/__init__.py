"""Scripts that build the samples that ohr ships from their sources; see README.md. No part of the installed package."""

import json
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
"""The folder in which each benchmark has its `source/`, and the `sample/` or `data/` that is built from it."""


def put(path: Path, content: str | bytes) -> None:
    """Write a file, and its folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def as_json(value: object) -> str:
    """Write a value as a JSON file."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
