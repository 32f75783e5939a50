"""Files below a folder of a user: links are followed, hidden files and folders are left out unless asked for."""

import os
from collections.abc import Iterator
from pathlib import Path


def folders_in(
    root: Path, stamps: dict[str, int] | None = None, *, hidden: bool = False
) -> Iterator[tuple[Path, list[str]]]:
    """List folders and their files in order, links to nothing among them.

    Args:
        stamps: gets the times of change of the folders.
    """
    seen = set()
    for place, folders, files in os.walk(root, followlinks=True):
        here = Path(place)
        about = here.stat()
        if (about.st_dev, about.st_ino) in seen:  # a link to a folder above
            folders.clear()
            continue
        seen.add((about.st_dev, about.st_ino))
        if stamps is not None:
            stamps[place] = about.st_mtime_ns
        folders[:], named = (sorted(name for name in each if hidden or name[0] != ".") for each in (folders, files))
        # a pipe or a device has no end; a link to nowhere is named by whoever wants to read it
        yield here, [name for name in named if (here / name).is_file() or not (here / name).exists()]


def files_below(root: Path, *suffixes: str, hidden: bool = False) -> list[Path]:
    """List the files below a folder, of some suffixes in any case or of all; none where there is no such folder."""
    paths = (here / name for here, names in folders_in(root, hidden=hidden) for name in names)
    return sorted(path for path in paths if (not suffixes or path.suffix.lower() in suffixes) and path.is_file())
