"""Numbers of TableQuest's protocol that are more than a mean: accuracy over two levels, and ratings."""

from collections.abc import Sequence
from functools import partial
from math import nan
from typing import Any, get_args

import numpy as np

from ohr.contracts import Aggregate, Mean

from .elo import BASE, OVERALL, elo_of_share
from .question_files import Level

LEVELS: tuple[Level, ...] = get_args(Level)
QUESTIONS = 80
"""Questions of each level of the published evaluation."""
GPT_4O_POINTS = {"easy": 51, "medium": 44, "hard": 61}
"""Points of gpt-4o against gpt-4o-vision, of 80 a level, which the paper's ratings imply: `published/tables.yaml`."""


def opponent_ratings() -> dict[str, float]:
    """Return the ratings of gpt-4o-vision on the paper's scale, on which gpt-4o has 1000, by level and `overall`."""
    points = {**GPT_4O_POINTS, OVERALL: sum(GPT_4O_POINTS.values())}
    asked = {name: QUESTIONS * (len(LEVELS) if name == OVERALL else 1) for name in points}
    return {name: 2 * BASE - float(elo_of_share(won / asked[name], asked[name])) for name, won in points.items()}


def aggregates(*, on_the_papers_scale: bool) -> list[Aggregate]:
    """Return accuracies and ratings, those with a judge too; a cell has those whose metrics it has.

    Args:
        on_the_papers_scale: the opponent has the ratings that the paper's tables imply for gpt-4o-vision, not 1000.
    """
    of_opponent = opponent_ratings() if on_the_papers_scale else dict.fromkeys((*LEVELS, OVERALL), BASE)
    return [
        _accuracy("accuracy", "table_accuracy"),
        _accuracy("accuracy judged", "table_accuracy_judged"),
        *(_rating(name, rating) for name, rating in of_opponent.items()),
    ]


def _accuracy(name: str, metric: str) -> Aggregate:
    parts = tuple(Mean(metric, {"level": level}) for level in LEVELS[:2])
    return Aggregate(name, parts, mean_of_means, ratio=True, source="mean of the accuracies of easy and medium")


def _rating(level: str, opponent: float) -> Aggregate:
    where = {} if level == OVERALL else {"level": level}
    formula = f"{opponent:.2f} + 400 log10(s / (1 - s)) with the share s of the points, clipped at half a game"
    name = "elo" if level == OVERALL else f"elo {level}"
    return Aggregate(name, (Mean("pairwise", where),), partial(rating, opponent=opponent), "number", source=formula)


def mean_of_means(parts: Any, counts: Any) -> Any:  # noqa: ARG001 # its contract
    """Average means with equal weights; nan where one is undefined."""
    return np.mean(parts, axis=0)


def rating(parts: Sequence[Any], counts: Sequence[int], opponent: float = BASE) -> Any:
    """Return the rating of a share of points, against an opponent with a rating.

    Edge cases: no games -> nan.
    """
    share = np.asarray(parts[0], dtype=float)
    return opponent - BASE + elo_of_share(share, counts[0]) if counts[0] else share * nan
