"""Choices of a spec and metrics of its protocol that the statistics of a run depend on, read from its manifest."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from ohr.errors import DataError
from ohr.results.folder.run_folder import headlines
from ohr.statistics.margin import MARGIN
from ohr.treatments import plain_scans, recorded_treatments

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
        plain: where no condition is clean text, each noisy condition to the one that is read by the same engine without
            noise, with which it is compared.
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
    plain: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Self:
        """Return the choices that a manifest names; the defaults where it is one of an earlier version."""
        try:
            spec, bases = manifest["spec"], manifest["spec"]["knowledge_bases"]
            repeats = {base["condition"]: base["again_of"] for base in bases if base.get("again_of")}
            agents = {name: about["reads"] for name, about in manifest.get("agents", {}).items()}
            text_alone = {base["condition"] for base in bases if not _images_treated(base)}
            margin, plain = float(spec["margin"]), plain_scans(bases)
            hypotheses = tuple(spec["hypotheses"])
            return cls(margin, spec["strata"], headlines(manifest), repeats, hypotheses, agents, text_alone, plain)
        except (ValueError, KeyError, TypeError, DataError):
            return cls()


def _images_treated(base: Mapping[str, Any]) -> bool:
    """Report whether anything but an engine comes before the text of a knowledge base."""
    return any(each.family != "ocr" and each.takes == "image" for each in recorded_treatments(base))
