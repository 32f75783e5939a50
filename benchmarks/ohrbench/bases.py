"""Which knowledge bases and documents a folder of OHRBench has."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.faults import Fault

TRUTH = "gt"
"""Name of the knowledge base that is the ground truth."""


def base_names(root: Path) -> list[str]:
    """Name the knowledge bases under `root`, ground truth first.

    Raises:
        DataError: there is no ground truth, so that nothing can be evaluated.
    """
    folder = root / "retrieval_base"
    if not (folder / TRUTH).is_dir():
        raise DataError(f"{folder / TRUTH}: no such folder; OHRBench has retrieval_base/gt/<domain>/<document>.json")
    others = sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != TRUTH)
    return [TRUTH, *(name for name in others if not name.startswith("."))]


def compare(base: str, truth: Mapping[str, tuple[Page, ...]], here: Mapping[str, tuple[Page, ...]]) -> Iterator[Fault]:
    """Tell what a knowledge base has beyond the ground truth; what it lacks is told by whatever reads it."""
    for name in here:
        if name not in truth:
            yield Fault(f"documents of {base} without ground truth, indexed all the same", name)
