"""The usual figures of a run, which are drawn once: who runs it again loads nothing that draws."""

import json
from contextlib import suppress
from pathlib import Path

import ohr
from ohr.results.folder.run_folder import FIGURES
from ohr.results.folder.whole_files import damaged
from ohr.results.run import Run

INDEX = "figures.json"
"""Written last, beside the usual figures: which files there are, with size and hash."""


def figures_at_hand(run: Run) -> list[Path]:
    """Return a run's usual figures; none unless all of them are there and whole."""
    folder = run.folder / FIGURES
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):  # no index, or a damaged one
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if index["ohr"] == ohr.__version__ and damaged(folder, index["files"], hashes=True) is None:
            return [folder / name for name in index["files"]]
    return []
