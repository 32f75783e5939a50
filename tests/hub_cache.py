"""A cache of the Hugging Face hub, in which models that are on this machine stand for others."""

from pathlib import Path


def cached(home: Path, name: str, revision: str, files: Path) -> None:
    """Put a model's folder into a cache, under a name and a commit."""
    snapshots = home / f"models--{name.replace('/', '--')}" / "snapshots"
    snapshots.mkdir(parents=True)
    (snapshots / revision).symlink_to(files.resolve(), target_is_directory=True)
