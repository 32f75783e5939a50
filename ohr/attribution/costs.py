"""The table of attribution: from the scores of levels with some parts of a noise to the cost of each part."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ohr.attribution.levels import Trial, weights
from ohr.metrics.intervals import DIFFERENCES, clustered_means
from ohr.results.groups import GROUPS
from ohr.results.means import Counts, write_doses
from ohr.results.scores import CellScores, Floats, Place, Questions, ScoreTable
from ohr.results.tables import Tables, export_csv
from ohr.spec.model import KnowledgeBase, Spec
from ohr.spec.parts import Parts, parts

MEASURED = ("attribution_scores", "attribution_pages")
"""Tables that a run with attribution writes beside those of every run."""
DERIVED = ("attribution", "attribution_doses")
"""Tables that follow from these; each has a copy as CSV."""

_MORE_IS_WORSE = ("damaged", "damaged_content")

Terms = Mapping[str, Mapping[Parts, float]]
"""Part to the weight of each set of parts in its cost."""


@dataclass(frozen=True)
class _Level:
    """The scores of one level and of the sets of parts that a method tries of it.

    Args:
        whole: scores of the level itself, which has all parts.
        partial: scores of every trial.
        trials: by the name of the knowledge base.
    """

    name: str
    method: str
    every: Parts
    whole: ScoreTable
    partial: ScoreTable
    trials: Mapping[str, Trial]

    def pipelines(self) -> Iterator[tuple[Place, dict[Parts, Place]]]:
        """Yield each cell of the level, and the cells of the same pipeline with some of the parts."""
        for place in self.whole.places:
            if place.condition == self.name:
                alike = self.partial.pipelines.get(place.pipeline, ())
                mine = {self._trial(other).kept: other for other in alike if self._is_mine(self._trial(other))}
                yield place, mine

    def _trial(self, place: Place) -> Trial:
        return self.trials[self.partial.bases(place)[0][0]]

    def _is_mine(self, trial: Trial) -> bool:
        return (trial.of, trial.method) == (self.name, self.method)


def derive(
    folder: Path,
    spec: Spec,
    levels: Mapping[str, KnowledgeBase],
    trials: Mapping[str, Trial],
    counts: Mapping[str, Counts],
) -> None:
    """Make the tables of attribution from the measured ones of a folder, also as CSV.

    Args:
        folder: of the run.
        spec: what `attribution` asks for.
        levels: a knowledge base of each level, by condition.
        trials: by the name of the knowledge base.
        counts: of the trials' knowledge bases, by name.

    Raises:
        DataError: a table cannot be read or written.
    """
    questions = Questions.read(folder)
    whole = ScoreTable(folder / "scores.parquet", questions)
    partial = ScoreTable(folder / "attribution_scores.parquet", questions)
    with Tables(folder, DERIVED) as tables:
        write_doses(partial, folder / "attribution_pages.parquet", counts, tables, "attribution_doses")
        for name in spec.attribution.of if spec.attribution else ():
            for method in spec.attribution.methods if spec.attribution else ():
                names = tuple(part.name for part in parts(levels[name]))
                level = _Level(name, method, frozenset(names), whole, partial, trials)
                for place, alike in level.pipelines():
                    tables.append_rows("attribution", _costs(level, place, alike, _terms(spec, method, names)))
    for table in DERIVED:
        export_csv(folder, table)


def _terms(spec: Spec, method: str, names: tuple[str, ...]) -> Terms:
    """Write each part's cost as a weighted sum of the worth of sets of parts.

    By `leave_one_out`: the score without the part less that with all parts. By `shapley`: the part's mean contribution
    over the orders in which parts can be added, each set of parts at the edits of all.
    """
    if method == "shapley" and spec.attribution is not None:
        return weights(names, spec.attribution.permutations, spec.seed)
    every = frozenset(names)
    return {name: {every: 1.0, every - {name}: -1.0} for name in names}


def _costs(level: _Level, place: Place, alike: Mapping[Parts, Place], terms: Terms) -> list[dict[str, Any]]:
    """Return the cost of each part in one cell, by metric, part and group of evidence sources.

    A cost is what the part takes from a score (or adds to the damage), paired on the questions, with the interval of
    the other tables.
    """
    cell, questions = level.whole.read(place), level.whole.questions
    metrics = [metric for metric in cell.metrics if not metric.endswith("_floor") and metric != "lcs_gt"]
    signs = np.array([1.0 if metric in _MORE_IS_WORSE else -1.0 for metric in metrics])
    zero = np.zeros((len(metrics), len(questions.ids)))

    def worth(kept: Parts) -> Floats:
        found: CellScores = cell if kept == level.every else level.partial.read(alike[kept])
        return found.only(metrics).values

    table = np.stack([sum((w * worth(kept) for kept, w in found.items()), zero) for found in terms.values()])
    table = (signs[:, None] * table).reshape(-1, len(questions.ids))
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {(part, metric): [] for part in terms for metric in metrics}
    for group in GROUPS:
        held = questions.part("evidence_source", group)
        if held.places.size:
            costs = np.take(table, held.places, axis=1)
            made = clustered_means(costs, held.clusters, [0] * len(costs), within=[DIFFERENCES] * len(costs))
            for (part, metric), cost in zip(rows, made, strict=True):
                rows[part, metric].append(
                    {
                        "condition": level.name,
                        "method": level.method,
                        "part": part,
                        **{name: getattr(place, name) for name in ("stage", "chunker", "retriever", "generator")},
                        "metric": metric,
                        "evidence_source": group,
                        "cost": cost.mean,
                        **{name: getattr(cost, name) for name in ("low", "high", "se", "n", "documents", "note")},
                    }
                )
    return [row for metric in metrics for part in terms for row in rows[part, metric]]
