"""Does "four of five studies" hold? Pilots are drawn, a study is planned from each, and studies of that size are drawn.

    python speed/power.py [--pilots 200] [--studies 400]

Questions of one document change together (an intraclass correlation of .2). A pilot of 10, 21 or 50 documents with five
questions each loses 4 points; a loss of 10 points is to be shown among five comparisons. `true` is the smallest number
of documents with which four of five fresh studies show it. `range` is the median of what `ohr plan --from` would print;
`low` and `high` are how many studies of that size show the loss, and `enough` is the share of pilots whose upper end
suffices. `finds` is the share of fresh studies of the pilot's own size that show the loss which it is said to find. The
second table has the fewest documents that can show anything, and how many studies with one document less, and with as
many, show that every question loses 90 points.
"""

import argparse
from bisect import bisect_left

import numpy as np
from scipy import stats

from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import comparisons
from ohr.statistics.planning import POWER, Changes, detectable, documents_needed, limits
from ohr.statistics.signs import ALPHA, fewest
from ohr.statistics.variance import budget

PILOTS, PER_DOCUMENT, AMONG = (10, 21, 50), 5, 5
SEEN, WANTED = 0.04, 0.10
SIZES = {"whole": 1.0, "partial": 0.5}  # mean size of a loss: all of a question's score, or a uniform share
GAINS = {"": 0.0, ", one change in five a gain": 0.2}
MOST = 400


def study(rng, documents, loss, kind, gains, sets):
    """Draw (sets, questions) differences that lose so much on average."""
    size = SIZES[kind]
    rate = loss / (size * (1 - 2 * gains))
    shared = np.repeat(rng.standard_normal((sets, documents)), PER_DOCUMENT, axis=1)
    own = rng.standard_normal((sets, documents * PER_DOCUMENT))
    changed = stats.norm.cdf(np.sqrt(0.2) * shared + np.sqrt(0.8) * own) < rate
    sizes = np.ones(own.shape) if kind == "whole" else rng.random(own.shape)
    return changed * sizes * np.where(rng.random(own.shape) < gains, -1.0, 1.0)


def clusters(documents):
    return Clusters.of(np.repeat(np.arange(documents), PER_DOCUMENT))


def shown(table, documents, among=AMONG):
    """Return the share of studies that show a loss in the first step of Holm's method."""
    judged = comparisons(table, clusters(documents), among=among)
    return float(np.mean([each.p <= ALPHA / among and each.difference.mean > 0 for each in judged]))


def planned(pilot, documents):
    """Return the range of documents for the loss that is wanted, and the loss that the pilot's own size finds."""
    mine = clusters(documents)
    if not pilot.any():
        return None
    parts, changes = budget(pilot[None, :], mine), Changes.of(pilot, mine)
    whole = [
        documents_needed(WANTED, as_one(part), PER_DOCUMENT, 1, 0.0, AMONG, changes)
        for part in limits(parts, documents - 1)
    ]
    error = limits(parts, documents - 1)[1].total ** 0.5
    return whole, detectable(error, documents, documents - 1, AMONG, changes)


def as_one(parts):
    """A single draw cannot say what more questions help: all of the error counts as that of documents."""
    from dataclasses import replace

    return replace(parts, documents=parts.total, questions=0.0, draws=0.0, question_draws=0.0, shared=0.0)


def powers(rng, kind, gains, studies):
    """Return the chance that a study shows the loss that is wanted, by its documents: isotonic through a few sizes."""
    sizes = np.unique(np.geomspace(fewest(AMONG), MOST, 24).astype(int))
    found = [shown(study(rng, size, WANTED, kind, gains, studies), size) for size in sizes]
    return lambda size: float(np.interp(size, sizes, np.maximum.accumulate(found)))


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pilots", type=int, default=200)
    parser.add_argument("--studies", type=int, default=400)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    names = ("pilot", "true", "range (median)", "low", "high", "enough", "finds")
    print(f"{'losses':<36} {'{:>5} {:>5} {:>15} {:>5} {:>5} {:>7} {:>6}'.format(*names)}")
    for kind in SIZES:
        for gained, gains in GAINS.items():
            power = powers(rng, kind, gains, given.studies)
            true = bisect_left(range(MOST), True, key=lambda size: power(size) >= POWER)
            for documents in PILOTS:
                plans = [planned(one, documents) for one in study(rng, documents, SEEN, kind, gains, given.pilots)]
                known = [plan for plan in plans if plan is not None]
                low, high = (np.array([plan[0][end] for plan in known]) for end in (0, 1))
                finds = [plan[1] for plan in known if plan[1] < 1]
                fresh = [
                    shown(study(rng, documents, loss, kind, gains, 40), documents)
                    for loss in finds[:60]
                    if loss < SIZES[kind] * (1 - 2 * gains)
                ]
                ends = f"{np.median(low):.0f} to {np.median(high):.0f}"
                print(
                    f"{kind + gained:<36} {documents:>5} {true:>5} {ends:>15} {power(np.median(low)):>5.2f} "
                    f"{power(np.median(high)):>5.2f} {np.mean([power(end) >= POWER for end in high]):>7.0%} "
                    f"{np.mean(fresh) if fresh else np.nan:>6.0%}",
                    flush=True,
                )
    print(f"\n{'comparisons':>11} {'fewest':>7} {'shown with one less':>20} {'with as many':>13}")
    for among in (1, 2, 5, 12, 26, 260):
        least = fewest(among)
        tried = [
            shown(np.full((1, size * PER_DOCUMENT), 0.9) - rng.random((1, size * PER_DOCUMENT)) / 50, size, among)
            for size in (least - 1, least)
        ]
        print(f"{among:>11} {least:>7} {tried[0]:>20.0%} {tried[1]:>13.0%}")


if __name__ == "__main__":
    main()
