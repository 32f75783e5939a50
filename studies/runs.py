"""Small runs for the studies, and means of their scores."""

import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ohr.messages.wording import counted
from ohr.results.run import Run
from ohr.results.score_arrays import ScoreTable
from ohr.runner.run import run
from ohr.spec.read import read_spec

Values = dict[str, float]
PIPELINES = Path(__file__).parents[1] / "pipelines"
WORK = "OHR_STUDY"
"""The environment variable by which specs name the folder of a study, so that reports of their runs do not."""


def run_pipeline(name: str, work: Path, *overrides: str) -> Run:
    """Run a spec of `pipelines`, with `key=value` on top, as `run_spec`."""
    os.environ[WORK] = str(work)
    return _run(PIPELINES / f"{name}.yaml", work, overrides)


def run_spec(text: str, work: Path) -> Run:
    """Run a spec in a folder, which keeps its store and its runs; a second call finds them.

    Ends where an item failed, since means then say something else, and names files that could not be read.
    """
    text = textwrap.dedent(text).lstrip()
    name = next(line.split()[1] for line in text.splitlines() if line.startswith("name:"))
    path = work / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return _run(path, work)


def _run(path: Path, work: Path, overrides: Sequence[str] = ()) -> Run:
    print(
        f"running {' '.join([str(path), *overrides])}: one killed continues where it was", file=sys.stderr, flush=True
    )
    of = Run(run(read_spec(path, overrides), store=work / ".ohr", runs=work / "runs", workers=1).folder)
    unread = [warning for warning in of.manifest["warnings"] if "not readable" in warning]
    failed = [row for row in of.rows("failures") if row["kind"] == "error"]
    if unread or failed:
        first = unread or [f"{row['stage']} of {row['item']}: {row['reason']}" for row in failed]
        sys.exit(f"{of.folder}: {counted(len(failed), 'item')} failed; {first[0]}: nothing is kept")
    return of


def points(value: float, digits: int = 1) -> float:
    """Return a share or a score in points."""
    return round(100 * value, digits)


def percent(values) -> int:
    """Return the share of true values in whole percent."""
    return round(100 * float(np.mean(values)))


def summary(of: Run, condition: str, metric: str = "lcs", group: str = "all", by: str = "evidence_source"):
    """Return the row of `summary` of a condition's retrieval, or of its pages."""
    stage = "page" if metric == "damaged" else "retrieval"
    (row,) = of.rows("summary", stage=stage, condition=condition, metric=metric, by=by, group=group)
    return row


def question_scores(of: Run, condition: str, metric: str = "lcs"):
    """Return each question's score of a condition's retrieval, (questions,), and the documents of all."""
    scores = ScoreTable.of(of)
    (place,) = (place for place in scores.of_stage("retrieval") if place.condition == condition)
    part = scores.questions.part("evidence_source", "all")
    return scores.read(place).only([metric]).values[0][part.places], part.clusters


def draw_means(of: Run, condition: str):
    """Return the mean retrieval score of each draw of a condition, (draws,)."""
    scores = ScoreTable.of(of)
    (place,) = (place for place in scores.of_stage("retrieval") if place.condition == condition)
    return np.nanmean(scores.read(place).only(["lcs"]).draws[0], axis=1)
