"""Choices of a spec and metrics of its protocol that the statistics of a run depend on, read from its manifest."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from ohr.errors import DataError
from ohr.results.folder.run_folder import headlines
from ohr.statistics.comparison import MARGIN
from ohr.treatments import recorded_engine, recorded_treatments

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


def plain_scans(knowledge_bases: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return for each noisy condition the one of the same engine without noise; nothing where there is clean text.

    Args:
        knowledge_bases: as a resolved spec and a manifest have them.
    """
    bases = [base for base in knowledge_bases if not base.get("again_of")]
    noisy = {base["condition"]: any(each.family != "ocr" for each in recorded_treatments(base)) for base in bases}
    readers = {base["condition"]: recorded_engine(base) or {"kind": "ground_truth"} for base in bases}
    if any(reader["kind"] == "ground_truth" and not noisy[condition] for condition, reader in readers.items()):
        return {}
    engines = {condition: json.dumps(reader, sort_keys=True, default=str) for condition, reader in readers.items()}
    plain = {engines[condition]: condition for condition in reversed(noisy) if not noisy[condition]}
    return {
        condition: plain[engines[condition]] for condition in noisy if noisy[condition] and engines[condition] in plain
    }


def _images_treated(base: Mapping[str, Any]) -> bool:
    """Report whether anything but an engine comes before the text of a knowledge base."""
    return any(each.family != "ocr" and each.takes == "image" for each in recorded_treatments(base))
