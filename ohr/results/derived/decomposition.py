"""The loss to noise split by stage: the cost of a noisy index, that of reading noisy text, and their overlap."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ohr.results.question_arrays import Questions
from ohr.results.run import Run
from ohr.results.score_arrays import CellScores, Floats, Place, ScoreTable
from ohr.results.tables.groups import ALL, GROUPS
from ohr.results.tables.table_files import Tables, export_csv
from ohr.statistics.clusters import Clusters
from ohr.statistics.estimate import Estimate
from ohr.statistics.intervals import clustered_means, differences
from ohr.statistics.swap import swap

Row = Mapping[str, Any]

MEASURED = ("swap_scores",)
"""Tables that a run with `decompose` writes beside those of every run."""
TABLE = "decomposition"
"""The table that follows from them; it has a copy as CSV."""

CELLS = ("score_clean", "score_noisy_index", "score_noisy_reading", "score_noisy")
"""Quantities that are the mean scores of the four cells."""

_PIPELINE = ("stage", "condition", "chunker", "retriever", "generator")
_ESTIMATE = ("low", "high", "se", "df", "n", "documents", "note")


def derive(folder: Path) -> None:
    """Make the table of the losses by stage from the measured tables of a folder, also as CSV.

    Raises:
        DataError: a table cannot be read or written.
    """
    run = Run(folder)
    whole = ScoreTable.of(run)
    index, reading = (
        ScoreTable(run.path("swap_scores"), whole.questions, noisy=noisy) for noisy in ("index", "reading")
    )
    with Tables(folder, (TABLE,)) as tables:
        for place in index.places:
            clean = whole.clean(place)
            assert clean is not None  # as its texts were swapped with those of the clean cell
            places = ((whole, clean), (index, place), (reading, place), (whole, place))
            tables.append_rows(TABLE, _rows(whole.questions, place, [table.read(at) for table, at in places]))
    export_csv(folder, TABLE)


def _rows(questions: Questions, place: Place, cells: list[CellScores]) -> list[dict[str, Any]]:
    """Return the quantities of one noisy cell, by metric and group of evidence sources.

    A question counts where all four cells define its score.

    Args:
        cells: clean; noisy index; noisy reading; noisy.
    """
    rows: list[dict[str, Any]] = []
    about = {name: getattr(place, name) for name in _PIPELINE}
    for metric in cells[1].metrics:
        only = [cell.only([metric]) for cell in cells]
        scores = np.concatenate([cell.values for cell in only])
        defined = ~np.isnan(scores).any(axis=0)
        failed = np.any([cell.failed[0] for cell in only], axis=0)
        for group in GROUPS:
            part = questions.part("evidence_source", group)
            kept = np.flatnonzero(defined[part.places])
            places = part.places[kept]
            found = _quantities(scores[:, places], part.clusters.among(kept)) if kept.size else {}
            rows += [
                {
                    **about,
                    "metric": metric,
                    "evidence_source": group,
                    "quantity": name,
                    "value": estimate.mean,
                    "failed": int(failed[places].sum()),
                    **{column: getattr(estimate, column) for column in _ESTIMATE},
                }
                for name, estimate in found.items()
            ]
    return rows


def _quantities(scores: Floats, clusters: Clusters) -> dict[str, Estimate]:
    """Estimate the means of the four cells and the quantities that are made of them; `scores` is (4, n)."""
    means = clustered_means(scores, clusters, [0] * len(scores))
    clean, index, reading, both = scores
    (total,) = differences((clean - both)[None, :], clusters)  # the loss that other tables have, with its interval
    return dict(zip(CELLS, means, strict=True)) | swap(clean, index, reading, both, clusters) | {"total": total}


def read_headlines(run: Run, metric: str | None = None, *, own: bool = True) -> list[Row]:
    """Read a run's losses by stage over all questions; none without any.

    Args:
        run: to read.
        metric: of all stages; by default each stage's headline.
        own: the metrics of the spec too.

    Raises:
        DataError: the manifest or the table cannot be read.
    """
    shown = {stage: names if own else names[:1] for stage, names in run.shown_metrics.items()}
    rows = run.rows_if_any(TABLE, evidence_source=ALL)
    return [row for row in rows if row["metric"] in ((metric,) if metric else shown[row["stage"]])]


def varying(rows: Sequence[Row], *parts: str) -> list[str]:
    """Return the parts of a pipeline of which the rows have several, and the retriever."""
    return [part for part in parts if part == "retriever" or len({row[part] for row in rows} - {None}) > 1]
