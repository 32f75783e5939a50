"""The first screen of a finished run, kept in the run's folder: who looks again waits for no table and no library."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
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


class Verdicts(NamedTuple):
    """The comparisons of a run with clean text, summed up in JSON values.

    Args:
        largest: the largest loss that is shown, by the parts that `ohr runs` lists; None where none is.
        unjudged: comparisons of which too much failed.
        compared: all of them.
    """

    largest: dict[str, Any] | None
    unjudged: int
    compared: int


def kept_screen(
    run: "Run", further: int, make: Callable[["Run", int], list[Part]], judge: Callable[["Run"], Verdicts]
) -> tuple[list[Part], Verdicts]:
    """Return the screen that is kept for a run, with its verdicts, or make and keep them.

    Those of another version of ohr, of other results or of other prices are made again.

    Args:
        further: lines that a command prints after it.
        make: makes it.
        judge: sums the comparisons up.
    """
    kept = _kept(run)
    if str(further) in kept.get("screens", ()):
        return kept["screens"][str(further)], Verdicts(*kept["verdicts"])
    parts, verdicts = make(run, further), judge(run)
    screens = {**kept.get("screens", {}), str(further): parts}
    with suppress(DataError):  # a folder that can only be read is good for reading
        write_json(run.folder / SCREEN, {"key": _key(run, screens, verdicts), "verdicts": verdicts, "screens": screens})
    return parts, verdicts


def kept_verdicts(run: "Run") -> Verdicts | None:
    """Return the verdicts that are kept for a run; None where there are none that fit."""
    kept = _kept(run)
    return Verdicts(*kept["verdicts"]) if kept else None


def _kept(run: "Run") -> dict[str, Any]:
    """Read what is kept; nothing of a file that is damaged, that somebody has edited, or that does not fit."""
    with suppress(DataError):
        kept = read_json(run.folder / SCREEN, absent={})
        if isinstance(kept, dict) and kept.get("key") == _key(run, kept.get("screens"), kept.get("verdicts")):
            return kept
    return {}


def _key(run: "Run", screens: Any, verdicts: Any) -> str:
    prices = read_json(run.folder / PRICES, absent=None)
    ((_, *summary),) = state_of(run.folder / "summary.parquet")
    return key("screen", ohr.__version__, _newest_code(), run.manifest, summary, prices, screens, verdicts)


@cache
def _newest_code() -> int:
    """Return when a module that makes the screen was last changed, in nanoseconds: a version has many states."""
    root = Path(ohr.__file__).parent
    return max(path.stat().st_mtime_ns for part in _MADE_BY for path in (root / part).rglob("*.py"))


_MADE_BY = ("cli/display", "messages", "report", "results", "statistics")
