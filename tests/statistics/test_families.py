"""A family of comparisons: each is what it is by itself, whatever others are beside it."""

from math import nan

import numpy as np
import pytest

from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import comparisons, family


def test_each_member_is_compared_as_by_itself():
    rng = np.random.default_rng(0)
    clusters, other = Clusters.of(np.arange(60) // 2), Clusters.of(np.arange(40))
    sparse = np.where(rng.random(60) < 0.9, 0.0, rng.random(60))
    undefined = np.where(rng.random(60) < 0.1, nan, rng.random(60) - 0.3)
    members = [
        (rng.random(60) - 0.4, clusters, 0.02),
        (rng.random(40) - 0.5, other, 0.02),
        (sparse, clusters, 0.02),
        (undefined, clusters, 0.02),
        (rng.random(60) - 0.5, clusters, 0.1),
        (np.zeros(60), clusters, 0.02),
    ]
    for (values, mine, margin), (found, _, _) in zip(members, family(members), strict=True):
        (alone,) = comparisons(values[None, :], mine, margin, among=len(members))
        assert found.verdict == alone.verdict
        assert (found.p, found.difference.low, found.difference.high) == pytest.approx(
            (alone.p, alone.difference.low, alone.difference.high), abs=1e-12, nan_ok=True
        )
        assert (found.lost, found.gained) == (alone.lost, alone.gained)
        assert found.detectable == pytest.approx(alone.detectable, nan_ok=True)
