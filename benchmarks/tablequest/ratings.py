"""Numbers of TableQuest's protocol that are more than a mean, and the published ones: accuracies and ELO ratings.

The paper names no algorithm for ratings. RPBench-Auto, of the same group (calculate_metrics.py, commit e61243f), fits a
logistic regression on a scale of 400 to the base 10, with a tie as half a win: Bradley-Terry by maximum likelihood.
Where everyone meets one opponent only, its maximum is the formula here. The paper's own ratings follow from it to the
hundredth, with gpt-4o-vision as opponent and gpt-4o at 1000: see `published/tables.yaml`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import nan
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ohr.contracts import Aggregate, Mean, Published

from ..published import published_numbers
from .context_questions import Level

BASE = 1000.0
SCALE = 400.0
OVERALL = "overall"


def elo_of_share(share: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return the ratings of shares of the points against an opponent whose rating is 1000; nan stays nan.

    Formula: 1000 + 400 log10(s / (1 - s)) with s = (win + tie / 2) / n, kept within [0.5 / n, 1 - 0.5 / n]: half a game
    from the ends, where the rating is infinite.
    """
    clipped = np.clip(share, 0.5 / n, 1 - 0.5 / n)
    rated: NDArray[np.float64] = BASE + SCALE * np.log10(clipped / (1 - clipped))
    return rated


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


WARNING = "the ratings follow with gpt-4o-vision as the opponent and gpt-4o at 1000, as under protocol reference"


def published(*, on_the_papers_scale: bool) -> tuple[Published, ...]:
    """Return ratings, as printed, and accuracies.

    The recall of Table 4 is left out, since it is no score of a system.

    Args:
        on_the_papers_scale: own ratings are on the paper's scale too, so that published ones need no warning.
    """
    numbers = published_numbers(__package__, _about)
    if on_the_papers_scale:
        return numbers
    return tuple(replace(number, warning=WARNING) if number.metric == "elo" else number for number in numbers)


def _about(table: Mapping[str, Any], row: Mapping[str, str], column: str) -> Mapping[str, Any] | None:
    if "unit" not in table:
        return None
    where = {} if column == OVERALL else {"metric": table["by_level"], "group": f"level={column}"}
    known = {"stage": "generation", "metric": table["metric"], "main": True, "unit": table["unit"], **where}
    return {**known, "value": float(row[column])} if table["unit"] == "number" else known
