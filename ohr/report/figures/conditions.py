"""Conditions of a run side by side, by stage and system, with their scores and losses; nothing here draws."""

from dataclasses import dataclass
from math import isnan

from ohr.report.figures.data import metric_rows, stage_of
from ohr.report.figures.panels import GROUP_NAMES, System
from ohr.results.derived.losses import Loss, Point, read_losses, read_points
from ohr.results.derived.pairs import FAILED
from ohr.results.run import Run
from ohr.results.tables.groups import ALL

MOST = 60
"""Rows of a section; of more, which no page holds, the tables have the rest, and the title says so."""
_LONGEST = 26
"""Characters of a name."""


@dataclass(frozen=True, slots=True)
class Row:
    """One condition in one system; without a loss where it is the clean text, or nothing is paired with it.

    Of a condition of which too much failed, the name says so, and the loss is not drawn.
    """

    point: Point
    loss: Loss | None

    @property
    def is_clean(self) -> bool:
        """Report whether nothing was done to the text."""
        return self.point.noise_type == "none"

    @property
    def name(self) -> str:
        """The condition, cut to the room that there is."""
        failed = self.loss is not None and self.loss.verdict == FAILED
        return shortened(" ".join(filter(None, ("failed:" if failed else "", self.point.noise, self.point.level))))


@dataclass(frozen=True, slots=True)
class Section:
    """A stage and a group of questions: rows by system."""

    title: str
    metric: str
    systems: dict[System, list[Row]]

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for rows in self.systems.values() for row in rows]

    @property
    def is_paired(self) -> bool:
        """Report whether any condition is compared with the clean text."""
        return any(row.loss for row in self.rows)

    def name(self, system: System) -> str:
        """Name a system: by the parts that differ, or where it is the only one by all of them."""
        parts = [(one.chunker, one.retriever, one.generator) for one in self.systems]
        several = [len(set(names)) > 1 or len(parts) == 1 for names in zip(*parts, strict=True)]
        mine = (system.chunker, system.retriever, system.generator)
        return shortened(" / ".join(part for part, shown in zip(mine, several, strict=True) if shown and part))


def shortened(name: str) -> str:
    """Cut a name to the room that there is."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def read_sections(run: Run, group: str, metric: str | None) -> list[Section]:
    """Read the scores and losses of a run's conditions, stage by stage.

    Args:
        run: to read.
        group: of questions.
        metric: of all stages; by default each stage's headline.

    Raises:
        DataError: a table is missing or cannot be read, or no stage has the metric.
    """
    points = read_points(run, group=group)
    losses = {(*_key(loss), loss.metric): loss for loss in read_losses(run, group, every_metric=True)}
    labels = run.agent_labels
    several = len({point.chunker for point in points if point.chunker}) > 1
    made = []
    for name, shown in metric_rows(points, run.headlines, metric).items():
        systems: dict[System, list[Row]] = {}
        key = (stage_of(name), shown)
        held = [point for point in points if (point.stage, point.metric) == key and not isnan(point.mean)]
        for point in held[:MOST]:
            system = System.of(point, labels, chunker=several)
            systems.setdefault(system, []).append(Row(point, losses.get((*_key(point), shown))))
        if systems:
            title = name.capitalize() + ("" if group == ALL else f", {GROUP_NAMES[group].lower()}")
            cut = f" (the first {MOST} of {len(held):,} rows)" if len(held) > MOST else ""
            made.append(Section(title + cut, shown, systems))
    return made


def _key(of: Point | Loss) -> tuple[str, ...]:
    return of.stage, of.condition, of.chunker, of.retriever, of.generator
