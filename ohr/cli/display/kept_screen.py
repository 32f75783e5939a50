"""The first screen of a finished run, which `ohr run` keeps in its folder: who looks again loads no table."""

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


class Kept(NamedTuple):
    """First screens and verdicts of a run, as its folder keeps them.

    Args:
        screens: by how many lines a command prints after them, as text.
    """

    screens: dict[str, list[Part]]
    verdicts: Verdicts


def read_kept(run: "Run") -> Kept | None:
    """Read what is kept of a run.

    Returns:
        None where there is nothing, or the file is damaged, was edited, or is of other code, results or prices.
    """
    with suppress(DataError):
        held = read_json(run.folder / SCREEN, absent={})
        if isinstance(held, dict) and held.get("key") == _key(run, held.get("screens"), held.get("verdicts")):
            return Kept(held["screens"], Verdicts(*held["verdicts"]))
    return None


def keep(run: "Run", kept: Kept) -> None:
    """Keep screens and verdicts in a run's folder; one that can only be read is good for reading."""
    with suppress(DataError):
        write_json(run.folder / SCREEN, {"key": _key(run, *kept), **kept._asdict()})


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
