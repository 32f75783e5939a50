"""Check that pyproject.toml lists every package of ohr.

The editable installation that tests use finds packages that the list omits; an installed wheel does not.
"""

import tomllib
from pathlib import Path

from .source import ROOT, modules

FILES_ONLY = {"ohr.pipelines"}
"""Packages that hold data and no Python module."""


def faults(root: Path = ROOT) -> list[str]:
    """Return one line for each package that the list omits, and for each listed package that does not exist."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(settings["tool"]["setuptools"]["packages"]) - FILES_ONLY
    present = {name if file.stem == "__init__" else name.rpartition(".")[0] for name, file in modules(root).items()}
    return [
        *(f"pyproject.toml: packages: add {name}: a wheel would not contain it" for name in sorted(present - listed)),
        *(f"pyproject.toml: packages: delete {name}: it does not exist" for name in sorted(listed - present)),
    ]
