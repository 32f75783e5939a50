"""Figures that only some runs have: losses by stage, effort of agents, facts that survive, ratios, confidence."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from ohr.report.engine_settings import engine_of
from ohr.report.figures.choices import Wanted, drawn_as
from ohr.report.figures.panels import METRIC_NAMES, NothingToDraw
from ohr.report.figures.style import (
    CLEAN_MARKER,
    CLEAN_SIZE,
    GREY,
    HUES,
    INK,
    MARKERS,
    Block,
    Color,
    clean_mark,
    hollow_mark,
    line,
    place_blocks,
    shortened,
)
from ohr.report.headlines import METRICS
from ohr.report.trust import reliability
from ohr.report.views.loss_tables import QUANTITIES
from ohr.results.derived.decomposition import read_headlines, varying
from ohr.results.derived.fact_survival import STEPS, pipelines, read_survival
from ohr.results.run import Run
from ohr.results.tables.groups import ALL
from ohr.results.tables.schema import CELL
from ohr.statistics.estimate import FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ohr.report.figures.picture import Page, Picture

Row = Mapping[str, Any]
Dashes = Literal["-", "--", ":"]

_LINES: tuple[Dashes, ...] = ("-", "--", ":")  # lines of pipelines or conditions that share a color
_MOST_BLOCKS, _MOST_PANELS = 60, 12  # of a figure; the table has the rest


def _nothing(run: Run, why: str) -> NothingToDraw:
    return NothingToDraw(f"{run.folder}: nothing to draw: {why}")


def _face(row: Row, color: Color) -> Color | str:
    """Return the fill of a mark: none where the documents are few."""
    return "white" if row["documents"] < FEW else color


# --- the loss to noise split by stage: an interval for each part of it, a block for each condition and pipeline -------

_PARTS: Mapping[str, tuple[Color, str]] = {
    "total": (INK, "D"),
    "index_alone": (HUES[0], "o"),
    "gain_of_repairing_index": (HUES[0], ">"),
    "reading_alone": (HUES[1], "s"),
    "gain_of_repairing_reading": (HUES[1], ">"),
    "overlap": (GREY, "v"),
}
"""Quantities from the top of a block to its foot: color and marker."""

_LINE, _BETWEEN = 0.085, 0.12  # units: of one quantity, and between two blocks
_STEP = _LINE * len(_PARTS) + _BETWEEN

Column = tuple[str, str, str]
"""Stage, metric and generator."""
Place = tuple[str, str]
"""Condition, and the pipeline that searches."""


def decomposition(run: Run, choices: Wanted) -> "Picture":
    """Draw a run's losses by stage.

    Raises: as `draw`; NothingToDraw where the run has none, or none of the metric.
    """
    if not (rows := read_headlines(run, choices.metric, own=False)):
        of = f" of {choices.metric}" if choices.metric else ""
        raise _nothing(run, f"no losses{of} by stage; ask for them with `decompose: true`")
    return drawn_as(choices, _draw_decomposition, rows)


def _draw_decomposition(rows: Sequence[Row], page: "Page") -> "Picture | None":
    left, right, top, gap, foot, narrowest = 1.6, 0.12, 0.42, 0.15, 0.95, 1.5  # units: around and between axes
    places = _places(rows)
    blocks = list(dict.fromkeys(block for block, _ in places))[:_MOST_BLOCKS]
    columns = list(dict.fromkeys(column for _, column in places))
    axes_width = max(narrowest, (page.width - left - right + gap) / len(columns) - gap)
    width, height = left + len(columns) * (axes_width + gap) - gap + right, len(blocks) * _STEP
    if not page.holds(width, top + height + foot):
        return None
    height = height if page.height is None else page.height - top - foot
    total = top + height + foot
    figure = page.picture(width, total)
    for number, (stage, metric, generator) in enumerate(columns):
        start = left + number * (axes_width + gap)
        axes: Axes = figure.add_axes((start / width, foot / total, axes_width / width, height / total))
        held = {block: places[block, column] for block, column in places if column == columns[number]}
        _draw_blocks(axes, blocks, held, page.scale)
        title = "\n".join(filter(None, (stage.capitalize(), shortened(generator, 22))))
        axes.set_title(title, weight="bold", loc="left", parse_math=False)
        axes.set_xlabel(f"loss of {METRICS.get(metric, metric)} (points)", parse_math=False)
        names = ["\n".join(shortened(name, 24) for name in block) if not number else "" for block in blocks]
        axes.set_yticklabels(names, parse_math=False)
    marks = [
        line(color=color, marker=marker, linewidth=page.scale, label=QUANTITIES[name])
        for name, (color, marker) in _PARTS.items()
    ]
    if any(row["documents"] < FEW for row in rows):
        marks.append(hollow_mark(label=f"fewer than {FEW} documents"))
    figure.legend(handles=marks, loc="lower center", ncols=3, frameon=False)
    return figure


def _places(rows: Sequence[Row]) -> Mapping[tuple[Place, Column], Mapping[str, Row]]:
    """Return the rows of each block in each column, by quantity."""
    places: dict[tuple[Place, Column], dict[str, Row]] = defaultdict(dict)
    parts = varying(rows, "chunker", "retriever")
    for row in rows:
        block = row["condition"], " / ".join(filter(None, (row[part] for part in parts)))
        places[block, (row["stage"], row["metric"], row["generator"] or "")][row["quantity"]] = row
    return places


def _draw_blocks(axes: "Axes", blocks: Sequence[Place], held: Mapping[Place, Mapping[str, Row]], scale: float) -> None:
    """Draw a column's blocks from the top down; the y axis is in units."""
    axes.axvline(0, color=INK, linewidth=0.6 * scale)
    for number, block in enumerate(blocks):
        for order, (name, (color, marker)) in enumerate(_PARTS.items()):
            if (row := held.get(block, {}).get(name)) is None:
                continue
            y = number * _STEP + (order + 0.5) * _LINE + _BETWEEN / 2
            value, low, high = (100 * row[column] for column in ("value", "low", "high"))
            if not isnan(low):
                axes.hlines(y, low, high, color=color, linewidth=scale)
            axes.plot(value, y, marker, color=color, markerfacecolor=_face(row, color), markersize=3.2 * scale)
        if number:
            axes.axhline(number * _STEP, color="0.8", linewidth=0.4 * scale)
    axes.set_yticks([(number + 0.5) * _STEP for number in range(len(blocks))])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_ylim(len(blocks) * _STEP, 0)


# --- scores against effort: a line for each pipeline, from clean to noisy, a panel for each quantity ------------------

_EFFORTS = {"calls": "calls per question", "tokens": "tokens per question", "seconds": "seconds per question"}
_WIDE = 20.0  # ratio of the largest to the smallest effort from which an axis is logarithmic


def effort(run: Run, choices: Wanted) -> "Picture":
    """Draw the scores of whole pipelines against calls, tokens and seconds, of a run with agents.

    Raises: as `draw`; NothingToDraw where the run has no agent.
    """
    labels = run.agent_labels
    rows: list[Row] = [row for row in run.rows_if_any("effort", stage="overall") if not isnan(row["calls"])]
    if choices.metric is not None:
        rows = list(_scored(run, rows, choices.metric))
    if not labels or not rows:
        raise _nothing(run, "it has no agents")
    return drawn_as(choices, _draw_effort, [_as_drawn(row, labels) for row in rows])


def _scored(run: Run, rows: Sequence[Row], metric: str) -> Iterator[Row]:
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


def _draw_effort(rows: Sequence[Row], page: "Page") -> "Picture | None":
    left, right, above, gap, inner = 0.6, 0.12, 0.12, 0.45, 2.3  # units: around and between axes, and their height
    names = list(dict.fromkeys(row["pipeline"] for row in rows))
    looks = {name: (HUES[n % len(HUES)], _LINES[n // len(HUES) % len(_LINES)]) for n, name in enumerate(names)}
    noises = list(dict.fromkeys(row["noise"] for row in rows if row["noise_type"] != "none"))
    marks = {noise: MARKERS[place % len(MARKERS)] for place, noise in enumerate(noises)}
    figure = page.picture(page.width, page.height or page.width)
    foot = place_blocks(figure, _effort_blocks(looks, marks, page.scale), page.scale) + 0.55
    height = above + inner + foot
    if not page.holds(page.width, height):
        return None
    figure.set_size_inches(page.width * page.scale, height * page.scale)
    ends = (100 * row[end] for row in rows for end in ("score", "high") if not isnan(row[end]))
    top = min(100.0, 1.1 * max(ends, default=100.0)) or 100.0
    stated = {name: [row for row in rows if not isnan(row[name])] for name in _EFFORTS}  # systems may state no tokens
    panels = [name for name in _EFFORTS if stated[name]]
    width = (page.width - left - right - (len(panels) - 1) * gap) / len(panels)
    for place, quantity in enumerate(panels):
        start = left + place * (width + gap)
        axes: Axes = figure.add_axes((start / page.width, foot / height, width / page.width, inner / height))
        for pipeline, (color, dashes) in looks.items():
            own = [row for row in stated[quantity] if row["pipeline"] == pipeline]
            _draw_pipeline(axes, own, quantity, color, dashes, marks)
        _set_axes(axes, [row[quantity] for row in stated[quantity]], _EFFORTS[quantity])
        axes.set_ylim(-0.03 * top, 1.03 * top)
        if place == 0:
            axes.set_ylabel(f"Overall: {METRIC_NAMES.get(rows[0]['metric'], rows[0]['metric'])} (%)", parse_math=False)
        else:
            axes.tick_params(axis="y", labelleft=False)
    return figure


def _draw_pipeline(
    axes: "Axes", rows: Sequence[Row], quantity: str, color: Color, dashes: Dashes, marks: Mapping[str, str]
) -> None:
    """Draw one pipeline: from its clean score to each level of each noise, in the order of the levels."""
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


def _effort_blocks(looks: Mapping[str, tuple[Color, Dashes]], marks: Mapping[str, str], scale: float) -> list[Block]:
    named = [(line(color=c, linestyle=dashes, linewidth=2 * scale), name) for name, (c, dashes) in looks.items()]
    noises = [(line(marker=mark, linestyle="none", color=INK), noise) for noise, mark in marks.items()]
    how = [(clean_mark(scale), "clean"), *noises, (line(color=INK, alpha=0.5), "95% interval over documents")]
    return [Block("Pipeline [agent looks at]", named), Block("Noise", how)]


# --- the share of each protocol number that is left under each condition, beside the same questions on clean pages ----


def ratios(run: Run, choices: Wanted) -> "Picture":
    """Draw the ratios of a run's aggregates to their clean values.

    Raises: as `draw`; NothingToDraw where the benchmark has none, or the run no clean condition to compare with.
    """
    rows = [row for row in run.rows_if_any("aggregates") if not isnan(row["ratio"])]
    if not rows:
        raise _nothing(run, "no protocol number is compared with clean pages")
    return drawn_as(choices, _draw_ratios, rows)


def _panel(row: Row) -> tuple[str, str, str]:
    return row["stage"], " / ".join(filter(None, (row[p] for p in ("chunker", "retriever", "generator")))), row["name"]


def _draw_ratios(rows: Sequence[Row], page: "Page") -> "Picture | None":
    left, right, gap, foot, title, narrowest = 1.6, 0.15, 0.15, 0.45, 0.17, 1.3  # units; `title`: a line of one
    panels = list(dict.fromkeys(map(_panel, rows)))[:_MOST_PANELS]
    conditions = list(dict.fromkeys(row["condition"] for row in rows))
    columns = min(len(panels), max(1, int((page.width - left - right + gap) / (narrowest + gap))))
    axes_width = (page.width - left - right + gap) / columns - gap
    axes_height = max(0.8, 0.17 * len(conditions))
    titles = {panel: [*panel[1].split(" / "), panel[2]] for panel in panels}  # a part each, since panels are narrow
    top = 0.08 + title * max(map(len, titles.values()))
    height = -(-len(panels) // columns) * (top + axes_height + foot)
    if not page.holds(page.width, height):
        return None
    figure = page.picture(page.width, height)
    for place, panel in enumerate(panels):
        start = left + place % columns * (axes_width + gap)
        low = height - place // columns * (top + axes_height + foot) - top - axes_height
        box = (start / page.width, low / height, axes_width / page.width, axes_height / height)
        axes: Axes = figure.add_axes(box)
        own = [row for row in rows if _panel(row) == panel]
        _draw_ratio(axes, own, conditions, page.scale)
        axes.set_title("\n".join(filter(None, titles[panel])), weight="bold", loc="left", parse_math=False)
        axes.set_xlabel(f"share of {own[0]['ratio_of']}", parse_math=False)
        axes.set_yticks(range(len(conditions)), conditions if place % columns == 0 else [""] * len(conditions))
    return figure


def _draw_ratio(axes: "Axes", rows: Sequence[Row], conditions: Sequence[str], scale: float) -> None:
    axes.axvline(1, color=INK, linewidth=0.6 * scale)
    for row in rows:
        y = conditions.index(row["condition"])
        if not isnan(row["ratio_low"]):
            axes.hlines(y, row["ratio_low"], row["ratio_high"], color=HUES[0], linewidth=scale)
        axes.plot(row["ratio"], y, "o", color=HUES[0], markerfacecolor=_face(row, HUES[0]))
    axes.set_ylim(len(conditions) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


# --- the survival of facts from the page to the answer: a line for each condition, a panel for each pipeline ----------

Look = tuple[Color, str, Dashes]
"""Color, marker and line of a condition."""


def survival(run: Run, choices: Wanted) -> "Picture":
    """Draw the share of facts that is left after each step.

    Raises: as `draw`; NothingToDraw where the run's questions have no facts.
    """
    if not (rows := read_survival(run)):
        raise _nothing(run, "its questions have no facts")
    return drawn_as(choices, _draw_survival, rows)


def _draw_survival(rows: Sequence[Row], page: "Page") -> "Picture | None":
    left, right, above, gap, foot, inner = 0.55, 0.12, 0.42, 0.2, 0.55, 2.1  # units: around axes, and their height
    panels = list(pipelines(rows).items())[:_MOST_PANELS]
    looks = _looks(rows)
    columns = min(len(panels), max(1, int((page.width - left - right + gap) / (2.2 + gap))))
    axes_width = min((page.width - left - right - (columns - 1) * gap) / columns, 4.5)
    legend = 0.16 * -(-len(looks) // 3) + 0.1
    width = max(page.width if columns > 1 else 0, left + columns * (axes_width + gap) - gap + right)
    height = -(-len(panels) // columns) * (above + inner + foot) + legend
    if not page.holds(width, height):
        return None
    figure = page.picture(width, height)
    for place, (pipeline, held) in enumerate(panels):
        start = left + place % columns * (axes_width + gap)
        top = place // columns * (above + inner + foot) + above
        axes: Axes = figure.add_axes((start / width, 1 - (top + inner) / height, axes_width / width, inner / height))
        _draw_facts(axes, held, looks, page.scale)
        axes.set_title(" / ".join(filter(None, pipeline)) or "pages", weight="bold", loc="left", parse_math=False)
        if place % columns:
            axes.set_yticklabels([])
        else:
            axes.set_ylabel("facts left (%)")
    marks = [
        line(color=color, marker=marker, linestyle=dashes, linewidth=page.scale, label=name)
        for name, (color, marker, dashes) in looks.items()
    ]
    figure.legend(handles=marks, loc="lower center", ncols=min(3, len(marks)), frameon=False)
    return figure


def _draw_facts(axes: "Axes", held: Mapping[str, Mapping[str, Row]], looks: Mapping[str, Look], scale: float) -> None:
    steps = [step for step in STEPS if any(step in rows for rows in held.values())]
    for number, (condition, rows) in enumerate(held.items()):
        color, marker, dashes = looks[condition]
        shift = (number - (len(held) - 1) / 2) * 0.05  # so that intervals do not cover each other
        left = [(place, rows[step]) for place, step in enumerate(steps) if step in rows]
        xs, ys = [place + shift for place, _ in left], [100 * row["mean"] for _, row in left]
        axes.plot(xs, ys, dashes, color=color, linewidth=scale)
        for x, y, (_, row) in zip(xs, ys, left, strict=True):
            if not isnan(row["low"]):
                axes.vlines(x, 100 * row["low"], 100 * row["high"], color=color, linewidth=0.8 * scale)
            axes.plot(x, y, marker, color=color, markerfacecolor=_face(row, color))
    axes.set_xticks(range(len(steps)), [STEPS[step].replace(" ", "\n", 1) for step in steps])
    axes.set_xlim(-0.4, len(steps) - 0.6)
    axes.set_ylim(-3, 103)


def _looks(rows: Sequence[Row]) -> dict[str, Look]:
    """Choose each condition's color and marker, in the run's order: clean text is ink, and a star."""
    clean = {row["condition"] for row in rows if row["noise_type"] == "none"}
    names = list(dict.fromkeys(row["condition"] for row in rows))
    noisy = [name for name in names if name not in clean]
    looks: dict[str, Look] = dict.fromkeys(clean, (INK, CLEAN_MARKER, "-"))
    for place, name in enumerate(noisy):
        looks[name] = HUES[place % len(HUES)], MARKERS[place % len(MARKERS)], _LINES[place // len(HUES) % len(_LINES)]
    return {name: looks[name] for name in names}


# --- what confidence is worth: a panel for each engine, a curve for each condition that it reads -----------


def confidence(run: Run, choices: Wanted) -> "Picture":
    """Draw the share of right words against the confidence that was stated.

    Raises: as `draw`; NothingToDraw where no engine stated any.
    """
    if not (rows := reliability(run)):
        raise _nothing(run, "no engine stated how sure it is of its words")
    return drawn_as(choices, _draw_confidence, rows, engine_of(run))


def _draw_confidence(rows: Sequence[Row], engines: Mapping[str, str], page: "Page") -> "Picture | None":
    left, right, above, gap, foot, inner = 0.55, 0.12, 0.42, 0.45, 0.5, 2.3  # units: around axes, and their height
    panels: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        panels[engines[row["condition"]]][row["condition"]].append(row)
    longest = max(len(held) for held in panels.values())
    columns = min(len(panels), max(1, int((page.width - left - right + gap) / (inner + gap))))
    legend = 0.16 * longest + 0.1
    width, step = left + columns * (inner + gap) - gap + right, above + inner + foot + legend
    height = -(-len(panels) // columns) * step
    if not page.holds(width, height):
        return None
    figure = page.picture(width, height)
    for place, (engine, held) in enumerate(list(panels.items())[:_MOST_PANELS]):
        start, top = left + place % columns * (inner + gap), place // columns * step + above
        axes: Axes = figure.add_axes((start / width, 1 - (top + inner) / height, inner / width, inner / height))
        axes.plot([0, 100], [0, 100], ":", color=GREY, linewidth=page.scale)
        for number, (condition, points) in enumerate(held.items()):
            _draw_reliability(axes, condition, points, number, page.scale)
        axes.set_title(engine, weight="bold", loc="left", parse_math=False)
        axes.set_xlabel("confidence stated (%)")
        axes.legend(loc="upper left", bbox_to_anchor=(-0.05, -0.2), frameon=False, borderaxespad=0)
        if not place % columns:
            axes.set_ylabel("words right (%)")
    return figure


def _draw_reliability(axes: "Axes", condition: str, points: Sequence[Row], number: int, scale: float) -> None:
    color, marker = HUES[number % len(HUES)], MARKERS[number % len(MARKERS)]
    xs, ys = [100 * row["confidence"] for row in points], [100 * row["right"] for row in points]
    axes.plot(xs, ys, "-", color=color, linewidth=scale, marker=marker, label=shortened(condition))
    for x, row in zip(xs, points, strict=True):
        if not isnan(row["right_low"]):
            axes.vlines(x, 100 * row["right_low"], 100 * row["right_high"], color=color, linewidth=0.6 * scale)
    axes.set_xlim(-3, 103)
    axes.set_ylim(-3, 103)
