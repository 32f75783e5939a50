"""Choices of a spec and metrics of its protocol that the statistics of a run depend on, read from its manifest."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ohr.errors import DataError
from ohr.results.folder import MANIFEST, headlines
from ohr.statistics.comparison import MARGIN

Strata = Literal["auto", "domain", "none"]


@dataclass(frozen=True, slots=True)
class Choices:
    """How differences are judged, which documents are taken as fixed, and which metrics are the headlines.

    Args:
        margin: difference of a score that matters.
        strata: `domain`: the domains are fixed, in these proportions; `none`: documents are drawn from all domains
            together; `auto`: fixed where each has at least five documents.
        headline: stage to metric.
    """

    margin: float = MARGIN
    strata: Strata = "auto"
    headline: Mapping[str, str] = field(
        default_factory=lambda: {"retrieval": "lcs", "generation": "f1", "overall": "f1"}
    )


def read_choices(folder: Path) -> Choices:
    """Read a run's choices; the defaults where it has no manifest, or one of an earlier version."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        spec = manifest["spec"]
        return Choices(float(spec["margin"]), spec["strata"], headlines(manifest))
    except (OSError, ValueError, KeyError, TypeError, DataError):
        return Choices()
