"""The first screen of a finished run, kept in the run's folder: who looks again waits for no table and no library."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import ohr
from ohr.errors import DataError
from ohr.files.changes import state_of
from ohr.keys import key
from ohr.results.folder.run_folder import PRICES, SCREEN
from ohr.results.folder.whole_files import read_json, write_json

if TYPE_CHECKING:
    from ohr.results.run import Run

Part = str | list[list[str]]
"""A line, or the rows of a table under its headers."""


class Screen(NamedTuple):
    """First screen of a run.

    Args:
        parts: from the first line to the last.
        is_unjudged: whether too much failed for a comparison of the run.
    """

    parts: list[Part]
    is_unjudged: bool


def kept_screen(run: "Run", further: int, make: Callable[["Run", int], Screen]) -> Screen:
    """Return the screen that is kept for a run, or make and keep it.

    A screen of another version of ohr, of other results or of other prices is made again.

    Args:
        further: lines that a command prints after it.
        make: makes it.
    """
    path, sources = run.folder / SCREEN, _sources(run)
    kept: dict[str, Any] = {}
    with suppress(DataError, KeyError, TypeError, ValueError):  # a damaged file is made again
        held = read_json(path, absent={})
        kept = dict(held["screens"]) if held["key"] == sources else {}
        return Screen(*kept[str(further)])
    screen = make(run, further)
    with suppress(DataError):  # a folder that can only be read is good for reading
        write_json(path, {"key": sources, "screens": {**kept, str(further): screen}})
    return screen


def _sources(run: "Run") -> str:
    prices = read_json(run.folder / PRICES, absent=None)
    ((_, *summary),) = state_of(run.folder / "summary.parquet")
    return key("screen", ohr.__version__, run.manifest, summary, prices)
