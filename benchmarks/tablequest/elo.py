"""ELO ratings of models that all met one opponent: Bradley-Terry by maximum likelihood, in closed form.

The paper names no algorithm. RPBench-Auto, of the same group (calculate_metrics.py, commit e61243f), fits a logistic
regression on a scale of 400 to the base 10, with a tie as half a win; where everyone meets one opponent only, its
maximum is the formula here. The paper's own ratings follow from it to the hundredth, with gpt-4o-vision as opponent and
gpt-4o at 1000: see `published/tables.yaml`.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .pairwise import Outcome

BASE = 1000.0
SCALE = 400.0
POINTS: Mapping[Outcome, float] = {"win": 1.0, "tie": 0.5, "loss": 0.0}
OVERALL = "overall"


def elo_of_share(share: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return the ratings of shares of the points against an opponent whose rating is 1000; nan stays nan.

    Formula: 1000 + 400 log10(s / (1 - s)) with s = (win + tie / 2) / n, kept within [0.5 / n, 1 - 0.5 / n]: half a game
    from the ends, where the rating is infinite.
    """
    clipped = np.clip(share, 0.5 / n, 1 - 0.5 / n)
    rated: NDArray[np.float64] = BASE + SCALE * np.log10(clipped / (1 - clipped))
    return rated
