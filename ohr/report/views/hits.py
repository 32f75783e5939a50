"""Runs of retrievers for readers and scripts: the table of their means, all numbers, and the score of each topic."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ohr.files.names import printable
from ohr.report.views.view import Cell, Interval, View
from ohr.results.derived.ranked_runs import Hits
from ohr.statistics.estimate import FEW_DOCUMENTS, NO_INTERVAL


def means(hits: Hits) -> View:
    """Make the table of means, a row for each run."""
    rows: list[dict[str, Cell]] = [
        {
            "run": run,
            **{
                measure: Interval(one.mean, one.low, one.high, is_share=True)
                for measure, one in zip(hits.measures, estimates, strict=True)
            },
            "topics": len(hits.topics),
            "missing": int(missing.sum()),
        }
        for run, estimates, missing in zip(hits.runs, hits.means(), hits.missing, strict=True)
    ]
    by = "documents" if hits.cluster == "document" else "topics"
    how = f"Means over all topics of the qrels, with 95% intervals over {by}; a missing topic scores 0."
    if len(hits.clusters.counts) < NO_INTERVAL:
        how += f" Fewer than {NO_INTERVAL} {by} give no interval."
    marks = {one.note for estimates in hits.means() for one in estimates} & {FEW_DOCUMENTS}
    if marks:
        how += f" The {by} are few, of which some have most topics: read intervals with care."
    return View.whole("Scores of runs", how, rows, ["run", *hits.measures, "topics", "missing"])


def plain(hits: Hits) -> dict[str, Any]:
    """Return every number of the runs, for JSON."""
    runs = [
        {
            "run": run,
            "missing": int(missing.sum()),
            "scores": {measure: asdict(one) for measure, one in zip(hits.measures, estimates, strict=True)},
        }
        for run, estimates, missing in zip(hits.runs, hits.means(), hits.missing, strict=True)
    ]
    about = {"topics": len(hits.topics), "documents": len(hits.clusters.counts), "cluster": hits.cluster}
    return {**about, "measures": hits.measures, "runs": runs, "notes": hits.notes}


def write_per_topic(hits: Hits, path: Path) -> None:
    """Write the score of each topic as CSV: `run`, `topic`, `missing`, and a column for each measure."""
    import pyarrow
    from pyarrow import csv

    tables = [
        pyarrow.table(
            {
                "run": [printable(run)] * len(hits.topics),
                "topic": hits.topics,
                "missing": missing,
                **dict(zip(hits.measures, scores, strict=True)),
            }
        )
        for run, scores, missing in zip(hits.runs, hits.scores, hits.missing, strict=True)
    ]
    csv.write_csv(pyarrow.concat_tables(tables), path)
