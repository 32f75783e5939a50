"""Choices of the user, the contents of a figure and its place, and how figures are written."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ohr import extras
from ohr.errors import SpecError
from ohr.report.figures.panels import COLUMNS, Axis
from ohr.results.folder.replace import written
from ohr.results.tables.groups import ALL

if TYPE_CHECKING:
    from ohr.report.figures.picture import Picture

Look = Literal["paper", "slides"]
LOOKS: tuple[str, ...] = get_args(Look)
AXES: tuple[str, ...] = get_args(Axis)

NARROWEST, WIDEST = 2.0, 60.0
"""Inches that a figure may be wide."""
_PAPER, _SLIDE = 7.0, 40 / 3  # inches: the text of a two-column page, and the slide of today's programs
_ROOM = 5.0  # inches of paper that all columns need
_UNSAFE = re.compile(r"[^\w@.-]")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Choices for the figures of a run.

    Args:
        x: the x axis of curves; by default each dose that the run has.
        metric: of all stages; by default each stage's headline.
        columns: groups of evidence sources; by default all that there is room for.
        style: `paper` or `slides`.
        width: inches; by default the text of a two-column page, or a slide.
        joint: whether curves have the bands that hold at all levels together; by default where they are few.

    Raises:
        SpecError: one of them is not known, or the width cannot be drawn.
    """

    x: Axis | None = None
    metric: str | None = None
    columns: Sequence[str] = ()
    style: Look = "paper"
    width: float | None = None
    joint: bool | None = None

    def __post_init__(self) -> None:
        _refuse("x axis", [self.x] if self.x else [], AXES)
        _refuse("style", [self.style], LOOKS)
        _refuse("column", self.columns, COLUMNS)
        if self.width is not None and not NARROWEST <= self.width <= WIDEST:
            raise SpecError(f"a figure is {NARROWEST:g} to {WIDEST:g} inches wide, not {self.width:g}")

    @property
    def inches(self) -> float:
        """How wide the figure is."""
        return self.width or (_PAPER if self.style == "paper" else _SLIDE)

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns of curves, in their order: those that were asked for, or all, or where these are too many one."""
        everything = COLUMNS if self.style == "paper" and self.inches >= _ROOM else (ALL,)
        return tuple(group for group in COLUMNS if group in self.columns) or everything

    @property
    def suffix(self) -> str:
        """The end of the names of files: the choices that differ from the usual ones."""
        style = "" if self.style == "paper" else self.style
        width = "" if self.width is None else f"{self.width:g}in"
        joint = "" if self.joint is None else "joint" if self.joint else "pointwise"
        metric = _UNSAFE.sub("_", self.metric or "")[:60]
        return "".join(f"-{part}" for part in (metric, *self.columns, style, width, joint) if part)


def _refuse(thing: str, chosen: Sequence[str], known: Sequence[str]) -> None:
    """Refuse an unknown choice.

    Raises:
        SpecError: one is not known.
    """
    for name in chosen:
        if name not in known:
            raise SpecError(f"there is no {thing} {name!r}; choose one of: {', '.join(known)}")


USUAL = ("svg", "png")
_DATES: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
"""Formats, and the metadata that leave out when a file was written."""


def drawn_as(wanted: Wanted, draw: Callable[..., "Picture | None"], *about: Any) -> "Picture":
    """Draw what a figure is about with the largest type for which its page has room.

    Raises:
        SpecError: there is too much to draw.
        MissingExtra: matplotlib is not installed.
    """
    extras.require("matplotlib", "report")
    from ohr.report.figures.picture import drawn

    return drawn(partial(draw, *about), wanted.style, wanted.inches)


def check_formats(formats: Sequence[str]) -> None:
    """Refuse an unknown format.

    Raises:
        SpecError: one is not known.
    """
    _refuse("format", formats, tuple(_DATES))


def save(picture: "Picture", stem: Path, formats: Sequence[str], *, force: bool, own: bool) -> list[Path]:
    """Write a figure in each format, each whole or not at all, as `written` does; returns the files."""
    files = []
    for name in dict.fromkeys(formats):
        file = stem.with_name(f"{stem.name}.{name}")
        with written(file, "--out", force=force, own=own) as new:
            picture.savefig(new, format=name, metadata=_DATES[name])
        files.append(file)
    return files
