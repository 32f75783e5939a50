"""The manifest of a run: everything that somebody needs to check it or to run it again."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import ohr
from ohr.engine.ledger import Ledger
from ohr.graph.keys import Keys
from ohr.messages.wording import counted
from ohr.results.tables import read_rows
from ohr.spec.model import Calibration

_PACKAGES = (
    "bm25s", "faiss-cpu", "jieba", "numpy", "onnxruntime", "opencv-python", "pypdfium2", "quicktok-v1", "rapidfuzz",
    "rapidocr", "sentence-transformers", "tesserocr", "torch", "transformers",
)  # fmt: skip

_ROOM = 0.95
"""A smaller share than this of the edits that were to be made is a warning: the dose is not the one asked for."""


def begun(keys: Keys) -> dict[str, Any]:
    """Return what is known when a run begins."""
    spec, inputs = keys.spec, keys.inputs
    return {
        "ohr": ohr.__version__,
        "key": keys.run,
        "spec": spec.resolved,
        "protocol": asdict(spec.benchmark.scoring),
        "plugins": dict(spec.plugin_digests),
        "prompt_sha256": keys.prompt_digests,
        "data": {document.name: inputs.leaf(document, images=False) for document in inputs.documents},
        "documents": len(inputs.documents),
        "questions": len(inputs.questions),
        "machine": {"system": platform.platform(), "python": platform.python_version(), "cpus": os.cpu_count()},
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def ended(keys: Keys, ledger: Ledger, folder: Path) -> dict[str, Any]:
    """Return what a run found out and what it did.

    Args:
        keys: of the calibrated spec.
    """
    calibrations = keys.spec.calibrations
    doses = read_rows(folder / "doses.parquet")
    warnings = [*keys.inputs.warnings, *_misses(calibrations), *_shortfalls(doses), *ledger.warnings]
    return {
        "spec": keys.spec.resolved,
        "warnings": warnings,
        "calibration": [asdict(found) for found in calibrations],
        "noise": doses,
        "calls": {name: count for name, count in ledger.calls.items() if count},
        "seconds": {phase: round(seconds, 2) for phase, seconds in ledger.seconds.items()},
        "tokens": dict(ledger.tokens),
        "failures": [failure.as_row() for failure in ledger.failures],
    }


def _misses(calibrations: Sequence[Calibration]) -> list[str]:
    """Warn where the nearest dose that was found is not near enough."""
    return [
        f"{found.noise}: target_{found.target.measure} {found.target.value:g} was met to {found.achieved:.3f} only, "
        f"at {found.knob} {found.value:g}: the dose jumps there, or "
        f"{counted(len(found.passes), 'measurement')} did not find it"
        for found in calibrations
        if not found.met
    ]


def _shortfalls(doses: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warn where noise that was placed found no room for its dose."""
    return [
        f"{dose['kb']}: only {dose['edits']:,} of {counted(dose['edits_aimed'], 'edit')} found a place: no equal dose"
        for dose in doses
        if dose["edits"] < _ROOM * dose["edits_aimed"]
    ]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
