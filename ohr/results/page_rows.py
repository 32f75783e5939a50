"""Rows about pages: how far each is from the ground truth, what notation it has, and which edits were made to it."""

from collections.abc import Iterable, Mapping
from typing import Any

from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS
from ohr.metrics.ranking import PageId
from ohr.metrics.realism import SeenPage
from ohr.spec.model import KnowledgeBase
from ohr.spec.sweep import shown
from ohr.steps.score import noise_type


def page_row(base: KnowledgeBase, seen: SeenPage, sources: Iterable[str]) -> dict[str, Any]:
    """Write a page as a row."""
    return {
        **_level(base),
        "noise_type": noise_type(base),
        "knob": base.knob,
        "document": seen.dose.document,
        "domain": seen.dose.document.split("/")[0],
        "page": seen.dose.index,
        "sources": ",".join(sorted(sources)),
        "edit_distance": seen.dose.edit_distance,
        "edit_distance_content": seen.dose.edit_distance_content,
        "empty": seen.dose.empty,
        "redundant": seen.redundant,
        **{f"commands_{kind}": seen.commands.get(kind, 0) for kind in KINDS},
        **{count: seen.blocks.get(count, 0) for count in COUNTS},
    }


def edit_row(base: KnowledgeBase, page: PageId, rule: str, edits: int) -> dict[str, Any]:
    """Write a page's edits by one rule as a row."""
    return {**_level(base), "document": page[0], "page": page[1], "rule": rule, "edits": edits}


def _level(base: KnowledgeBase) -> Mapping[str, Any]:
    value = None if base.knob_value is None else shown(base.knob_value)
    return {"kb": base.name, "noise": base.noise, "knob_value": value, "replicate": base.replicate}
