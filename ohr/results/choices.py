"""Choices of a spec that its statistics depend on, read from the manifest of the run."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ohr.results.folder import MANIFEST
from ohr.statistics.comparison import MARGIN

Strata = Literal["auto", "domain", "none"]


@dataclass(frozen=True, slots=True)
class Choices:
    """How differences are judged, and which documents are taken as fixed.

    Args:
        margin: difference of a score that matters.
        strata: `domain`: the domains are fixed, in these proportions; `none`: documents are drawn from all domains
            together; `auto`: fixed where each has at least five documents.
    """

    margin: float = MARGIN
    strata: Strata = "auto"


def read_choices(folder: Path) -> Choices:
    """Read a run's choices; the defaults where it has no manifest, or one of an earlier version."""
    try:
        spec = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["spec"]
        return Choices(float(spec["margin"]), spec["strata"])
    except (OSError, ValueError, KeyError, TypeError):
        return Choices()
