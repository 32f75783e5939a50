"""The loss to noise split by stage: the cost of a noisy index, that of reading noisy text, and their overlap."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ohr.results.run import Run
from ohr.results.score_arrays import Floats, Place, ScoreTable
from ohr.results.tables.groups import ALL, GROUPS
from ohr.results.tables.table_files import export_csv, write_table
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
    write_table(folder, TABLE, (row for place in index.places for row in _rows(place, whole, index, reading)))
    export_csv(folder, TABLE)


def _rows(place: Place, whole: ScoreTable, index: ScoreTable, reading: ScoreTable) -> Iterator[dict[str, Any]]:
    """Yield the quantities of a noisy cell by metric and evidence source, of questions that all four cells score."""
    clean = whole.clean(place)
    assert clean is not None  # as its texts were swapped with those of the clean cell
    cells = [table.read(at) for table, at in ((whole, clean), (index, place), (reading, place), (whole, place))]
    for metric in cells[1].metrics:
        only = [cell.only([metric]) for cell in cells]
        scores = np.concatenate([cell.values for cell in only])
        defined = ~np.isnan(scores).any(axis=0)
        failed = np.any([cell.failed[0] for cell in only], axis=0)
        for group in GROUPS:
            part = whole.questions.part("evidence_source", group)
            kept = np.flatnonzero(defined[part.places])
            places = part.places[kept]
            found = _quantities(scores[:, places], part.clusters.among(kept)) if kept.size else {}
            about = {**place.named, "metric": metric, "evidence_source": group, "failed": int(failed[places].sum())}
            for name, estimate in found.items():
                columns = {column: getattr(estimate, column) for column in _ESTIMATE}
                yield {**about, "quantity": name, "value": estimate.mean, **columns}


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
