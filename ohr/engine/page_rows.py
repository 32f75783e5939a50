"""Rows about pages: how far each is from the ground truth, what notation it has, and which edits were made to it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ohr.engine.bases import Bases
from ohr.engine.score import noise_type
from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS
from ohr.metrics.ranking import PageId
from ohr.metrics.realism import SeenPage
from ohr.spec.model import KnowledgeBase
from ohr.spec.sweep import shown


def seen_pages(bases: Bases, base: KnowledgeBase, measured: Iterable[SeenPage]) -> list[SeenPage]:
    """Fill in the evidence sources and edits of pages that were measured."""
    sources: dict[PageId, set[str]] = defaultdict(set)
    for question in bases.recipe.inputs.questions:
        for index in question.pages:
            sources[question.document, index].add(question.evidence_source)
    edits: dict[PageId, Counter[str]] = {}
    for document in bases.recipe.inputs.documents:
        edits |= bases.edits_by_page(base, document)
    return [_filled(page, sources, edits) for page in measured]


def _filled(page: SeenPage, sources: Mapping[PageId, set[str]], edits: Mapping[PageId, Counter[str]]) -> SeenPage:
    place = page.dose.document, page.dose.index
    return replace(page, sources=frozenset(sources.get(place, ())), edits=edits.get(place, {}))


def page_row(base: KnowledgeBase, seen: SeenPage) -> dict[str, Any]:
    """Write a page as a row."""
    return {
        **_level(base),
        "noise_type": noise_type(base),
        "knob": base.knob,
        "document": seen.dose.document,
        "domain": seen.dose.document.split("/")[0],
        "page": seen.dose.index,
        "sources": ",".join(sorted(seen.sources)),
        "edit_distance": seen.dose.edit_distance,
        "edit_distance_content": seen.dose.edit_distance_content,
        "empty": seen.dose.empty,
        "redundant": seen.redundant,
        **{f"commands_{kind}": seen.commands.get(kind, 0) for kind in KINDS},
        **{count: seen.blocks.get(count, 0) for count in COUNTS},
    }


def edit_rows(base: KnowledgeBase, seen: SeenPage) -> list[dict[str, Any]]:
    """Write a page's edits as rows, one per rule."""
    place = {"document": seen.dose.document, "page": seen.dose.index}
    return [{**_level(base), **place, "rule": rule, "edits": count} for rule, count in sorted(seen.edits.items())]


def _level(base: KnowledgeBase) -> Mapping[str, Any]:
    value = None if base.knob_value is None else shown(base.knob_value)
    where = {"kb": base.name, "condition": base.condition}
    return {**where, "noise": base.noise, "knob_value": value, "replicate": base.replicate}
