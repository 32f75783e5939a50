"""A figure of matplotlib that looks the same whatever the user's settings are, in files and in notebooks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ohr.errors import SpecError
from ohr.report.figures.style import settings

DPI = {"paper": 200, "slides": 144}
"""Dots per inch of pictures: a slide of 13.3 inches has 1920."""

_SLIDE = (6.4, 8.0, 10.0, 12.5, 15.6, 19.5, 24.4, 30.5)
"""Units that a slide is wide: the first is for large type; what needs more room has smaller type."""


class Picture(Figure):
    """A figure with settings of its own. No list of open figures holds it, so that nothing has to close it."""

    def __init__(self, scale: float = 1.0, **about: Any) -> None:
        super().__init__(**about)
        self._scale = scale
        FigureCanvasAgg(self)

    def savefig(self, fname: Any, **how: Any) -> None:
        """Write the figure as `matplotlib.figure.Figure.savefig` does: the same run gives the same bytes, undated."""
        with style.context([settings(self._scale)], after_reset=True):
            super().savefig(fname, **how)

    def _repr_png_(self) -> bytes:
        """Return the picture that a notebook shows; matplotlib itself shows figures of pyplot only."""
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()


@dataclass(frozen=True, slots=True)
class Page:
    """Where a figure is drawn. A unit is an inch on paper, and larger on a slide, as are type and lines.

    Args:
        width: units.
        height: units; None where it follows from what is drawn.
        scale: inches of a unit.
        dpi: dots per inch.
    """

    width: float
    height: float | None
    scale: float
    dpi: int

    def picture(self, width: float, height: float) -> Picture:
        """Return an empty figure of that many units."""
        size = (width * self.scale, height * self.scale)
        return Picture(self.scale, figsize=size, dpi=self.dpi)

    def holds(self, width: float, height: float) -> bool:
        """Report whether something of that many units has room."""
        return self.height is None or (width <= self.width + 1e-9 and height <= self.height + 1e-9)


def drawn(draw: Callable[[Page], Picture | None], look: str, inches: float) -> Picture:
    """Draw a figure with the largest type for which it has room.

    Args:
        draw: returns nothing where the page has not enough room.
        look: `paper` or `slides`.
        inches: that it is wide.

    Raises:
        SpecError: there is too much to draw.
    """
    for page in _pages(look, inches):
        with style.context([settings(page.scale)], after_reset=True):
            if (picture := draw(page)) is not None:
                picture.draw_without_rendering()  # ticks are made now, with these settings
                return picture
    raise SpecError("there is too much to draw for a slide; draw fewer columns, or use the style paper")


def _pages(look: str, inches: float) -> Iterator[Page]:
    if look == "paper":
        yield Page(inches, None, 1.0, DPI["paper"])
        return
    for units in _SLIDE:
        yield Page(units, units * 9 / 16, inches / units, DPI["slides"])
