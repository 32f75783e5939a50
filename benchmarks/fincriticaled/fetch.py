"""Fetches FinCriticalED from the hub."""

from collections.abc import Sequence
from pathlib import Path

from ohr.files import hub
from ohr.messages.wording import named

from .release_files import TABLES

REPOSITORY = "TheFinAI/FinCriticalED"


def fetch(
    folder: Path, revision: str | None = None, *, repository: str = REPOSITORY, endpoint: str | None = None
) -> Sequence[str]:
    """Download the data set into a folder as `ohr.files.hub.fetch` does, and return lines to print."""
    found = hub.fetch(repository, folder, revision, endpoint=endpoint)
    root = hub.root_below(folder, _has_table)
    if root is None:  # the layout on the hub was never seen by this project
        there = named(sorted(found.files))
        return [
            found.line,
            f"no {' or '.join(TABLES)} among them ({there}): put one together as the docs of fincriticaled say",
        ]
    return [found.line, f"root: {root}"]


def _has_table(root: Path) -> bool:
    return any((root / inside / name).is_file() for inside in (".", "data") for name in TABLES)
