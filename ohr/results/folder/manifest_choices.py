"""Choices of a spec and metrics of its protocol that the statistics of a run depend on, read from its manifest."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ohr.errors import DataError
from ohr.results.folder.run_folder import MANIFEST, headlines
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
        repeats: condition to the condition that it repeats.
        hypotheses: the comparisons that the spec writes down.
        agents: the parts of a knowledge base that each agent looks at: `text`, `image`.
        text_alone: conditions whose page images are clean, so that noise can only be in the text.
    """

    margin: float = MARGIN
    strata: Strata = "auto"
    headline: Mapping[str, str] = field(
        default_factory=lambda: {"retrieval": "lcs", "generation": "f1", "overall": "f1"}
    )
    repeats: Mapping[str, str] = field(default_factory=dict)
    hypotheses: Sequence[Mapping[str, Any]] = ()
    agents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    text_alone: Collection[str] = ()


def read_choices(folder: Path) -> Choices:
    """Read a run's choices; the defaults where it has no manifest, or one of an earlier version."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        spec = manifest["spec"]
        repeats = {b["condition"]: b["again_of"] for b in spec["knowledge_bases"] if b.get("again_of")}
        agents = {name: about["reads"] for name, about in manifest.get("agents", {}).items()}
        bases = spec["knowledge_bases"]
        alone = {base["condition"] for base in bases if not base.get("image_noise")}
        judged = float(spec["margin"]), spec["strata"]
        return Choices(*judged, headlines(manifest), repeats, tuple(spec["hypotheses"]), agents, alone)
    except (OSError, ValueError, KeyError, TypeError, DataError):
        return Choices()
