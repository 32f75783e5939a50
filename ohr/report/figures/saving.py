"""Writing figures to files: the same run gives the same bytes, whatever the reader's matplotlibrc says."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ohr.report.figures.style import RC
from ohr.results.files import replaced

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(make: Callable[[], "Figure"], stem: Path) -> list[Path]:
    """Make a figure and write it as SVG and PNG, each whole or not at all; returns the files."""
    from matplotlib import style

    files = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    with style.context([RC], after_reset=True):
        figure = make()
        for file in files:
            with replaced(file) as new:  # no date in it
                figure.savefig(new, metadata={"Date": None} if file.suffix == ".svg" else None)
    return files
