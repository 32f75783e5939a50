"""Means of one cell's scores over any of its questions, with intervals over documents.

A question's score in a cell is its mean over the replicates that define it; it is undefined where no replicate defines
it. A level's dose is the mean of its replicates' doses. Both hold everywhere.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import nan

import numpy as np

from ohr.results.score_arrays import CellScores, Part, Questions
from ohr.results.tables.groups import ALL
from ohr.statistics.estimate import Estimate
from ohr.statistics.intervals import clustered_means

Breakdown = Mapping[str, Mapping[str, Estimate]]
"""Trait (`evidence_source`, `domain`, ...) to group to estimate."""


def estimates(cell: CellScores, part: Part) -> list[Estimate]:
    """Average every metric of a cell over some of the questions, with intervals over documents."""
    failed = cell.failed[:, part.places].sum(axis=1).tolist()
    found = clustered_means(np.take(cell.values, part.places, axis=1), part.clusters, failed)
    return [replace(one, undefined=one.undefined + part.left_out) for one in found]


def breakdown(questions: Questions, cell: CellScores, metric: str) -> Breakdown:
    """Average one metric of a cell by every trait of the questions; each trait also has `all`, of all questions."""
    mine = cell.only([metric])
    (whole,) = estimates(mine, questions.part("evidence_source", ALL))
    return {
        trait: {
            **{group: estimates(mine, questions.part(trait, group))[0] for group in questions.groups(trait)},
            ALL: whole,
        }
        for trait in questions.traits
    }


def macro_over_domains(found: Breakdown) -> float:
    """Average the domains' means, each with the same weight; `all` weighs each question the same."""
    means = [one.mean for name, one in found["domain"].items() if name != ALL and one.n]
    return float(np.mean(means)) if means else nan
