"""Scores against the effort of a question: a line for each pipeline, from clean to noisy, a panel for each quantity."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from ohr import extras
from ohr.report.figures.choices import Wanted
from ohr.report.figures.panels import METRIC_NAMES, NothingToDraw
from ohr.report.figures.style import CLEAN_MARKER, CLEAN_SIZE, HUES, INK, MARKERS, Block, Color, line, place_blocks
from ohr.results.run import Run
from ohr.results.tables.groups import ALL
from ohr.results.tables.schema import CELL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

Row = Mapping[str, Any]
Dashes = Literal["-", "--", ":"]
Look = tuple[Color, Dashes]

QUANTITIES = {"calls": "calls per question", "tokens": "tokens per question", "seconds": "seconds per question"}
_LEFT, _RIGHT, _TOP, _GAP, _FOOT, _HEIGHT = 0.6, 0.12, 0.12, 0.45, 0.55, 2.3  # units
_LINES: tuple[Dashes, ...] = ("-", "--", ":")
"""Lines of pipelines that share a color."""
_WIDE = 20.0
"""Ratio of the largest to the smallest effort from which an axis is logarithmic."""


def effort(run: Run, wanted: Wanted) -> "Picture":
    """Draw the scores of whole pipelines against calls, tokens and seconds, of a run with agents.

    Raises:
        NothingToDraw: the run has no agent.
        DataError: a table of the run cannot be read.
        SpecError: there is more than a slide holds.
        MissingExtra: matplotlib is not installed.
    """
    extras.require("matplotlib", "report")
    from ohr.report.figures.picture import drawn

    labels = run.agent_labels
    found: list[Row] = [
        row for row in run.rows_if_any("effort") if row["stage"] == "overall" and not isnan(row["calls"])
    ]
    if wanted.metric is not None:
        found = list(_scored(run, found, wanted.metric))
    if not labels or not found:
        raise NothingToDraw(f"{run.folder}: nothing to draw: it has no agents")
    return drawn(partial(_figure, [_as_drawn(row, labels) for row in found]), wanted)


def _scored(run: Run, rows: Sequence[Row], metric: str) -> Iterator[Row]:
    """Yield rows with the mean of another metric as their score."""
    summary = run.rows("summary", by="evidence_source", group=ALL, metric=metric, stage="overall")
    scores = {tuple(row[name] for name in CELL): row for row in summary}
    for row in rows:
        if (score := scores.get(tuple(row[name] for name in CELL))) is not None:
            yield {**row, "metric": metric, "score": score["mean"], "low": score["low"], "high": score["high"]}


def _as_drawn(row: Row, labels: Mapping[str, str]) -> dict[str, Any]:
    """Add what is drawn: the pipeline's name, and all tokens and seconds, those of shared calls over all questions."""
    parts = (row["chunker"], row["retriever"], labels.get(row["generator"], row["generator"]))
    tokens = row["tokens_in"] + row["tokens_out"] + row["shared_tokens"]
    seconds = row["seconds"] + row["shared_seconds"]
    return {**row, "pipeline": " / ".join(filter(None, parts)), "tokens": tokens, "seconds": seconds}


def _figure(rows: Sequence[Row], page: "Page") -> "Picture | None":
    looks = _looks(rows)
    noises = list(dict.fromkeys(row["noise"] for row in rows if row["noise_type"] != "none"))
    marks = {noise: MARKERS[place % len(MARKERS)] for place, noise in enumerate(noises)}
    figure = page.picture(page.width, page.height or page.width)
    foot = place_blocks(figure, _blocks(looks, marks, page.scale), page.scale) + _FOOT
    height = _TOP + _HEIGHT + foot
    if not page.holds(page.width, height):
        return None
    figure.set_size_inches(page.width * page.scale, height * page.scale)
    ends = (100 * row[end] for row in rows for end in ("score", "high") if not isnan(row[end]))
    top = min(100.0, 1.1 * max(ends, default=100.0)) or 100.0
    stated = {name: [row for row in rows if not isnan(row[name])] for name in QUANTITIES}  # systems may state no tokens
    panels = [name for name in QUANTITIES if stated[name]]
    width = (page.width - _LEFT - _RIGHT - (len(panels) - 1) * _GAP) / len(panels)
    for place, quantity in enumerate(panels):
        left = _LEFT + place * (width + _GAP)
        box = (left / page.width, foot / height, width / page.width, _HEIGHT / height)
        axes: Axes = figure.add_axes(box)
        for pipeline, look in looks.items():
            _draw(axes, [row for row in stated[quantity] if row["pipeline"] == pipeline], quantity, look, marks)
        _set_axes(axes, [row[quantity] for row in stated[quantity]], QUANTITIES[quantity])
        axes.set_ylim(-0.03 * top, 1.03 * top)
        if place == 0:
            axes.set_ylabel(f"Overall: {METRIC_NAMES.get(rows[0]['metric'], rows[0]['metric'])} (%)", parse_math=False)
        else:
            axes.tick_params(axis="y", labelleft=False)
    return figure


def _looks(rows: Sequence[Row]) -> dict[str, Look]:
    """Choose a color and a line for each pipeline."""
    names = dict.fromkeys(row["pipeline"] for row in rows)
    return {name: (HUES[n % len(HUES)], _LINES[n // len(HUES) % len(_LINES)]) for n, name in enumerate(names)}


def _draw(axes: "Axes", rows: Sequence[Row], quantity: str, look: Look, marks: Mapping[str, str]) -> None:
    """Draw one pipeline: from its clean score to each level of each noise, in the order of the levels."""
    color, dashes = look
    clean = [row for row in rows if row["noise_type"] == "none"]
    for noise in marks:
        levels = [row for row in rows if row["noise"] == noise]
        joined = [*clean[:1], *levels]
        xs, ys = [row[quantity] for row in joined], [100 * row["score"] for row in joined]
        axes.plot(xs, ys, dashes, color=color, linewidth=0.6)
        axes.plot(xs[len(joined) - len(levels) :], ys[len(joined) - len(levels) :], marks[noise], color=color)
    for row in rows:
        if not isnan(row["low"]):
            axes.vlines(row[quantity], 100 * row["low"], 100 * row["high"], color=color, linewidth=0.6, alpha=0.5)
    for row in clean:
        axes.plot(row[quantity], 100 * row["score"], CLEAN_MARKER, color=color, markersize=CLEAN_SIZE, zorder=3)


def _set_axes(axes: "Axes", values: Sequence[float], label: str) -> None:
    positive = [value for value in values if value > 0]
    if positive and len(positive) == len(values) and max(positive) / min(positive) > _WIDE:
        axes.set_xscale("log")
    else:
        axes.set_xlim(0, 1.08 * max(values) or 1)
    axes.set_xlabel(label)


def _blocks(looks: Mapping[str, Look], marks: Mapping[str, str], scale: float) -> list[Block]:
    pipelines = [(line(color=c, linestyle=dashes, linewidth=2 * scale), name) for name, (c, dashes) in looks.items()]
    clean = line(marker=CLEAN_MARKER, markersize=CLEAN_SIZE * scale, linestyle="none", color=INK)
    noises = [(line(marker=mark, linestyle="none", color=INK), noise) for noise, mark in marks.items()]
    how = [(clean, "clean"), *noises, (line(color=INK, alpha=0.5), "95% interval over documents")]
    return [Block("Pipeline [agent looks at]", pipelines), Block("Noise", how)]
