"""ELO ratings of models that all met one opponent: Bradley-Terry by maximum likelihood, in closed form.

The paper names no algorithm. RPBench-Auto, of the same group (calculate_metrics.py, commit e61243f), fits a logistic
regression on a scale of 400 to the base 10, with a tie as half a win; where everyone meets one opponent only, its
maximum is the formula here. The paper's own ratings follow from it to the hundredth, with gpt-4o-vision as opponent and
gpt-4o at 1000: see `published/tables.yaml`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10, nan

import numpy as np
from numpy.typing import NDArray

from .pairwise import Outcome

BASE = 1000.0
SCALE = 400.0
POINTS: Mapping[Outcome, float] = {"win": 1.0, "tie": 0.5, "loss": 0.0}
OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Rating:
    """A model's rating against the opponent, whose own is 1000.

    Args:
        value: clipped at half a game; nan without games.
        low: end of the bootstrap interval over questions; nan where all questions of a level have the same result,
            since a bootstrap shows no spread then, however few they are.
        high: the other end.
        games: number of questions.
        clipped: it won or lost all of them, so that the rating without a clip is undefined.
    """

    value: float
    low: float
    high: float
    games: int
    clipped: bool


def elo_vs_baseline_mle(win: int, tie: int, loss: int, *, clip: bool = False) -> float:
    """Return the rating against an opponent whose rating is 1000; nan where it is undefined.

    Formula: 1000 + 400 log10(s / (1 - s)) with s = (win + tie / 2) / n.

    Args:
        clip: keep s within [0.5 / n, 1 - 0.5 / n], half a game from the ends, where the rating is infinite.

    Edge cases: no games -> nan; all won or all lost -> nan, with `clip` a finite rating.
    """
    if min(win, tie, loss) < 0:
        raise ValueError(f"counts must not be negative: {win} won, {tie} tied, {loss} lost")
    n = win + tie + loss
    if not n:
        return nan
    share = (win + tie / 2) / n
    if clip:
        share = min(max(share, 0.5 / n), 1 - 0.5 / n)
    return BASE + SCALE * log10(share / (1 - share)) if 0 < share < 1 else nan


def elo_raw_unanchored(records: Mapping[str, Sequence[int]], opponent: str = "gpt-4o") -> dict[str, float]:
    """Return ratings as a regression without an anchor has them: their mean, with the opponent's, is 1000.

    The likelihood fixes differences only, and a fit that starts at 0 keeps the sum there. Shift the ratings with
    `anchored` before they are compared with those of other models.

    Args:
        records: won, tied and lost games of each model against the opponent.

    Edge cases: one model won or lost all -> all nan.
    """
    against = {name: elo_vs_baseline_mle(*games) for name, games in records.items()} | {opponent: BASE}
    mean = sum(against.values()) / len(against)
    return {name: BASE + rating - mean for name, rating in against.items()}


def anchored(ratings: Mapping[str, float], anchor: str) -> dict[str, float]:
    """Shift ratings so that the model `anchor` has 1000."""
    return {name: BASE + rating - ratings[anchor] for name, rating in ratings.items()}


def ratings_by_level(
    outcomes: Mapping[str, Sequence[Outcome]], rng: np.random.Generator, *, draws: int = 2000, level: float = 0.95
) -> dict[str, Rating]:
    """Return a model's rating at each level, and `overall`, pooled over the questions as in the paper.

    Args:
        outcomes: results of a model's questions, by their level of difficulty.
        rng: draws the bootstrap's questions.
        draws: of the bootstrap; 2,000 place the ends of a 95% interval to about a tenth of its width.
        level: of the interval.
    """
    points = {name: np.array([POINTS[one] for one in found]) for name, found in outcomes.items()}
    strata = {name: [held] for name, held in points.items()} | {OVERALL: list(points.values())}
    return {name: _rating(held, rng, draws, level) for name, held in strata.items()}


def _rating(strata: Sequence[NDArray[np.float64]], rng: np.random.Generator, draws: int, level: float) -> Rating:
    """Rate points of some levels together; the bootstrap draws within each level, whose size is by design."""
    held = [points for points in strata if points.size]
    n = sum(points.size for points in held)
    if not n:
        return Rating(nan, nan, nan, 0, clipped=False)
    total = float(sum(points.sum() for points in held))
    low, high = nan, nan
    if any(np.ptp(points) for points in held):
        drawn = sum(rng.choice(points, (draws, points.size)).sum(axis=1) for points in held)
        low, high = np.quantile(_elo(np.asarray(drawn), n), [(1 - level) / 2, (1 + level) / 2])
    return Rating(float(_elo(np.array(total), n)), float(low), float(high), n, clipped=total in (0.0, float(n)))


def _elo(points: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    return elo_of_share(points / n, n)


def elo_of_share(share: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the ratings that belong to shares of the points, clipped at half a game of `n`; nan stays nan."""
    clipped = np.clip(share, 0.5 / n, 1 - 0.5 / n)
    rated: NDArray[np.float64] = BASE + SCALE * np.log10(clipped / (1 - clipped))
    return rated
