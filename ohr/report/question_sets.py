"""A set of questions for readers: its funnel as tables and as a figure, and the faults that its owner can repair."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ohr.questions.imports import Repair
from ohr.questions.verification import FunnelRow, rule_name
from ohr.report.figures.choices import USUAL, Wanted, check_formats, drawn_as, save
from ohr.report.figures.panels import NothingToDraw
from ohr.report.figures.style import GREY, HUES, INK, paler
from ohr.report.views.view import Cell, View
from ohr.results.tables.table_files import write_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

_LONGEST = 80  # characters of a question or a reason in a table


def funnel(rows: Sequence[FunnelRow]) -> list[View]:
    """Arrange a funnel: the counts of the rules that removed candidates, then examples of each of these.

    The other rules are named below the counts: those that removed nothing, and those that were not run.
    """
    lines: list[tuple[Cell, ...]] = [
        (rule_name(row.rule), row.entered, row.removed, row.undecided, row.left) for row in rows if row.removed
    ]
    if rows:
        removed, undecided = sum(row.removed for row in rows), sum(row.undecided for row in rows)
        lines.append(("all rules", rows[0].entered, removed, undecided, rows[-1].left))
    how = (
        "Rules are run from the top; a question that one removes does not reach the next. "
        "Undecided, of those removed: no model gave a reply that could be used."
    )
    for title, names in (
        ("Removed nothing", [rule_name(row.rule) for row in rows if row.runs and not row.removed]),
        ("Not run", [rule_name(row.rule) for row in rows if not row.runs]),
    ):
        how += f" {title}: {', '.join(names)}." if names else ""
    headers = ("removed by", "entered", "removed", "undecided", "left")
    counts = View("Verification of the questions", how, headers, tuple(lines), labels=1)
    examples = [
        (rule_name(row.rule), _beginning(example.question), _beginning(example.reason))
        for row in rows
        for example in row.examples
    ]
    starts = frozenset(place for place, line in enumerate(examples) if not place or line[0] != examples[place - 1][0])
    shown = "The first questions that each rule removed."
    removals = View("Removed questions", shown, ("removed by", "question", "reason"), tuple(examples), starts=starts)
    return [counts, removals] if examples else [counts]


def _beginning(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3].rstrip()}..."


_HOW = "An answer that is not in the evidence is listed also where the question stays; other faults remove a question."


def repairs(faults: Sequence[Repair]) -> View:
    """Make the table of faults, a row for each."""
    rows = tuple((repair.candidate, repair.where, repair.fault, repair.detail) for repair in faults)
    return View("Questions to repair", _HOW, ("question", "where", "fault", "detail"), rows, labels=4)


def repair_counts(faults: Sequence[Repair]) -> View:
    """Make the table of how many faults of each kind there are, and how many questions have them."""
    questions = {
        fault: len({repair.candidate for repair in faults if repair.fault == fault}) for fault in _kinds(faults)
    }
    rows = tuple((fault, count, questions[fault]) for fault, count in _kinds(faults).items())
    return View("Faults of questions", "A question may have several.", ("fault", "faults", "questions"), rows)


def write_repairs(faults: Sequence[Repair], path: Path) -> None:
    """Write the table of faults as CSV: `question`, `where`, `fault`, `detail`."""
    import pyarrow

    view = repairs(faults)
    columns = [pyarrow.array([row[place] for row in view.rows], pyarrow.string()) for place in range(len(view.headers))]
    with path.open("w", encoding="utf-8", newline="") as opened:
        write_csv(opened, view.headers, pyarrow.table(columns, names=list(view.headers)).to_batches())


def _kinds(faults: Sequence[Repair]) -> Counter[str]:
    return Counter(repair.fault for repair in faults)


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
    return save(funnel_figure(rows, wanted), folder / f"funnel{wanted.suffix}", formats, force=force, own=True)


def funnel_figure(rows: Sequence[FunnelRow], wanted: Wanted = _USUAL) -> "Picture":
    """Draw a funnel.

    Raises: as `draw_funnel`.
    """
    if not rows:
        raise NothingToDraw("nothing to draw: no rule was run")
    return drawn_as(wanted, _figure, rows)


def _figure(rows: Sequence[FunnelRow], page: "Page") -> "Picture | None":
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

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
    ticks = max(1, int((width - left - _NUMBERS) / _TICK))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=ticks, integer=True))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    undecided = any(row.undecided for row in rows)
    kinds = [("left", paler(_LEFT, 0.35)), ("removed", _REMOVED), *([("undecided", _UNDECIDED)] * undecided)]
    handles = [Patch(color=color, label=name) for name, color in kinds]
    figure.legend(handles=handles, loc="lower center", ncols=3, frameon=False)
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
    offset, size = (3 * scale, 0), 7 * scale
    axes.annotate(text, end, offset, textcoords="offset points", va="center", fontsize=size, color=color)
