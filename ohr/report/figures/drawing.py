"""The figures of a run as files: which there are, and drawing them."""

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import ohr
from ohr import extras
from ohr.report.figures.at_hand import INDEX, figures_at_hand
from ohr.report.figures.choices import USUAL, Wanted, check_formats, save
from ohr.report.figures.panels import Axis, NothingToDraw, dose_axes
from ohr.results.derived.losses import has_sweep, read_points
from ohr.results.folder.run_folder import FIGURES
from ohr.results.folder.whole_files import listed, replaced
from ohr.results.run import Run
from ohr.results.tables.groups import ALL

if TYPE_CHECKING:
    from ohr.report.figures.picture import Picture

_FILES: dict[Axis, str] = {
    "r_noise": "performance",
    "evidence_loss": "performance-evidence-loss",
    "condition": "performance-by-condition",
}
_USUAL = Wanted()


def figures(run: Run) -> list[Path]:
    """Return a run's usual figures; they are drawn unless all of them are there and whole.

    Raises: as `draw`.
    """
    return figures_at_hand(run) or draw(run)


def draw(
    run: Run,
    wanted: Wanted = _USUAL,
    formats: Sequence[str] = USUAL,
    out: Path | None = None,
    *,
    force: bool = False,
) -> list[Path]:
    """Draw a run's figures.

    Where some noise has several levels, these are curves against r_noise and against evidence loss; otherwise the
    conditions side by side. A run whose benchmark has no ground truth has no evidence loss; without evidence it has no
    r_noise either: then its knowledge bases are drawn one after the other. A run with losses has a figure of its
    summary; one with losses by stage, with facts, or with protocol numbers that are compared with clean pages has
    figures of these too, as has one whose engines state how sure they are.

    Args:
        wanted: what the figures show; with an x axis, only curves against it are drawn. Names of files say what
            differs from the usual choices.
        formats: `svg`, `pdf` or `png`.
        out: the folder for the files; by default `figures` in that of the run.
        force: keep files of `out` that ohr did not write as `<name>.bak-<time>`.

    Returns:
        The files. Each appears whole or not at all.

    Raises:
        DataError: a table of the run is missing or cannot be read, there is nothing to draw, or `out` has
            files that ohr did not write.
        SpecError: a format is not known, or there is too much to draw.
        MissingExtra: matplotlib is not installed.
    """
    extras.require("matplotlib", "report")
    check_formats(formats)
    folder, files = run.folder / FIGURES if out is None else out, []
    with warnings.catch_warnings():  # a letter that no font has is drawn as a box: hundreds of lines say no more
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        for name, picture in _pictures(run, wanted):
            files += save(picture, folder / f"{name}{wanted.suffix}", formats, force=force, own=out is None)
    if out is None and (wanted, tuple(formats)) == (_USUAL, USUAL):
        index = {"ohr": ohr.__version__, "files": listed(folder, files)}
        with replaced(folder / INDEX) as new:
            new.write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    return files


def _pictures(run: Run, wanted: Wanted) -> Iterator[tuple[str, "Picture"]]:
    """Yield the figures of a run with their names.

    Raises: as `draw`.
    """
    # imported when something is drawn: the figures of most runs that are shown are there
    from ohr.report.figures.conditions_figure import comparison
    from ohr.report.figures.curves_figure import performance
    from ohr.report.figures.other_figures import confidence, decomposition, effort, ratios, survival
    from ohr.report.figures.summary_figure import summary

    if wanted.x is not None:
        yield _FILES[wanted.x], performance(run, wanted.x, wanted)
        return
    others: list[tuple[str, Picture]] = []
    for draw_further in (summary, decomposition, survival, ratios, effort, confidence):
        with suppress(NothingToDraw):
            others.append((draw_further.__name__, draw_further(run, wanted)))
    try:
        if has_sweep((point.noise, point.condition) for point in read_points(run, group=ALL)):
            yield from _curves(run, wanted)
        else:
            yield "comparison", comparison(run, wanted)
    except NothingToDraw:  # a run that scores pages alone has no stage to draw
        if not others:
            raise
    yield from others


def _curves(run: Run, wanted: Wanted) -> Iterator[tuple[str, "Picture"]]:
    """Yield the curves against every dose that tells levels apart; without any, its conditions one after the other."""
    from ohr.report.figures.curves_figure import performance

    drawn = False
    for axis in dose_axes(run):
        with suppress(NothingToDraw):
            yield _FILES[axis], performance(run, axis, wanted)
            drawn = True
    if not drawn:
        yield _FILES["condition"], performance(run, "condition", wanted)
