"""The funnel of a set of questions: a bar for what each rule left, from all that were written to the survivors."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ohr import extras
from ohr.questions.verification import FunnelRow, rule_name
from ohr.report.figures.panels import NothingToDraw
from ohr.report.figures.saving import USUAL, check_formats, save
from ohr.report.figures.style import GREY, HUES, INK, paler
from ohr.report.figures.wanted import Wanted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

_USUAL = Wanted()
_LINE, _BAR = 0.2, 0.72  # units of a line, and the share of it that is a bar
_LETTER, _NUMBERS, _TOP, _FOOT, _NARROWEST, _TICK = 0.062, 0.62, 0.08, 0.62, 0.9, 0.45  # units
_LEFT, _REMOVED, _UNDECIDED = HUES[0], HUES[1], GREY


def draw_funnel(
    rows: Sequence[FunnelRow],
    folder: Path,
    wanted: Wanted = _USUAL,
    formats: Sequence[str] = USUAL,
    *,
    force: bool = False,
) -> list[Path]:
    """Draw a funnel as `funnel.svg`, `funnel.png` or `funnel.pdf` in a folder, each whole or not at all.

    Raises:
        NothingToDraw: there is no rule.
        SpecError: a format is not known, or there is too much to draw.
        DataError: a file that ohr did not write is in the way.
        MissingExtra: matplotlib is not installed.
    """
    check_formats(formats)
    return save(funnel(rows, wanted), folder / f"funnel{wanted.suffix}", formats, force=force, own=True)


def funnel(rows: Sequence[FunnelRow], wanted: Wanted = _USUAL) -> "Picture":
    """Draw a funnel.

    Raises: as `draw_funnel`.
    """
    extras.require("matplotlib", "report")
    from ohr.report.figures.picture import drawn

    if not rows:
        raise NothingToDraw("nothing to draw: no rule was run")
    return drawn(partial(_figure, rows), wanted)


def _figure(rows: Sequence[FunnelRow], page: "Page") -> "Picture | None":
    names = ["written", *(rule_name(row.rule) for row in rows), "survivors"]
    left = 0.12 + _LETTER * max(map(len, names))
    width = max(page.width, left + _NARROWEST + _NUMBERS)
    height = _TOP + _LINE * len(names) + _FOOT
    if not page.holds(width, height):
        return None
    height = page.height or height
    figure = page.picture(width, height)
    box = (left / width, _FOOT / height, (width - left - _NUMBERS) / width, (height - _TOP - _FOOT) / height)
    axes: Axes = figure.add_axes(box)
    _draw(axes, rows, page.scale)
    _set_scale(axes, width - left - _NUMBERS)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    _add_legend(figure, undecided=any(row.undecided for row in rows))
    return figure


def _draw(axes: "Axes", rows: Sequence[FunnelRow], scale: float) -> None:
    """Draw the bars: what is left, then what was removed, of which the undecided last; the numbers beside them."""
    most = max(rows[0].entered, 1)
    lines = [(rows[0].entered, 0, 0), *((row.left, row.removed, row.undecided) for row in rows), (rows[-1].left, 0, 0)]
    for place, (left, removed, undecided) in enumerate(lines):
        is_end = place in (0, len(lines) - 1)
        widths = (left, removed - undecided, undecided)
        colors = (INK if is_end else paler(_LEFT, 0.35), _REMOVED, _UNDECIDED)
        start = 0
        for size, color in zip(widths, colors, strict=True):
            axes.barh(place, size, _BAR, start, color=color, linewidth=0)
            start += size
        if is_end:
            _add_label(axes, (start, place), f"{left:,}", INK, scale)
        elif removed:
            _add_label(axes, (start, place), f"−{removed:,}", _REMOVED, scale)
        elif not rows[place - 1].runs:
            _add_label(axes, (start, place), "not run", INK, scale)
    axes.set_xlim(0, most)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("questions")


def _add_label(
    axes: "Axes", end: tuple[float, float], text: str, color: tuple[float, float, float], scale: float
) -> None:
    """Write a number beside the end of a bar."""
    offset, size = (3 * scale, 0), 7 * scale
    axes.annotate(text, end, offset, textcoords="offset points", va="center", fontsize=size, color=color)


def _set_scale(axes: "Axes", width: float) -> None:
    """Set as many ticks as there is room for."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=max(1, int(width / _TICK)), integer=True))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _add_legend(figure: "Picture", *, undecided: bool) -> None:
    from matplotlib.patches import Patch

    kinds = [("left", paler(_LEFT, 0.35)), ("removed", _REMOVED), *([("undecided", _UNDECIDED)] * undecided)]
    handles = [Patch(color=color, label=name) for name, color in kinds]
    figure.legend(handles=handles, loc="lower center", ncols=3, frameon=False)
