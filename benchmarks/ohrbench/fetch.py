"""Fetches OHRBench from the hub."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ohr.files import hub

REPOSITORY = "opendatalab/OHR-Bench"


@dataclass(frozen=True, slots=True)
class Fetched:
    """The result of a fetch.

    Args:
        root: the folder that holds `retrieval_base`: the benchmark's `root`.
        commit: of the data set; a second fetch takes the same one.
        unpacked: files that came out of archives.
    """

    root: Path
    commit: str
    files: int
    unpacked: int


def fetch(
    folder: Path, revision: str | None = None, *, repository: str = REPOSITORY, endpoint: str | None = None
) -> Fetched:
    """Download the data set into a folder, check every file, and unpack its archives, as `ohr.files.hub` does.

    Args:
        folder: made if it is not there.
        revision: a commit, tag or branch; by default the commit of an earlier fetch into this folder, else the newest.
        endpoint: the hub's address; by default that of `HF_ENDPOINT`.

    Raises:
        MissingExtra: huggingface_hub is not installed.
        DataError: the hub cannot be reached, a file is not what the hub says it is, or an archive is damaged or would
            write outside of the folder.
    """
    found = hub.fetch(repository, folder, revision, endpoint=endpoint)
    return Fetched(_root(folder), found.commit, len(found.files), found.unpacked)


def _root(folder: Path) -> Path:
    """Find the folder that holds the knowledge bases, at most two levels down."""
    candidates: Sequence[Path] = [folder, *sorted(folder.glob("*/")), *sorted(folder.glob("*/*/"))]
    return next((path for path in candidates if (path / "retrieval_base").is_dir()), folder)
