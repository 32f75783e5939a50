"""Protocols on made-up studies, whose truth is known: intervals, the largest of many losses, and verdicts."""

from pathlib import Path

import numpy as np

from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import comparisons
from ohr.statistics.intervals import clustered_means
from speed.interval_coverage import held, naive, right_or_wrong, structures
from speed.verdicts import changed
from studies.runs import Values, percent

STUDIES = 1000
"""Made-up studies of each kind: a share of them has a standard error of at most 1.6 points."""
DOCUMENTS = 24
SEED = 7


def clustered_errors(_work: Path) -> Values:
    """How often two intervals hold the true mean: right or wrong answers, half of them right, correlation .2."""
    values: Values = {"documents": DOCUMENTS, "level": 95, "correlation": 0.2, "five": 5, "fewest": 50, "most": 84}
    for kind, questions in (("equal", "five"), ("long", "many")):
        rng = np.random.default_rng(SEED)
        by_document, by_question = [], []
        for code in structures(rng, DOCUMENTS, kind):
            scores = right_or_wrong(rng, code, STUDIES // 20, 0.5, 0.2)
            by_document += held(clustered_means(scores, Clusters.of(code)), 0.5)
            by_question.append(naive(scores, 0.5))
        values |= {f"{questions}: by document": percent(by_document), f"{questions}: naive": percent(by_question)}
    return values


def _study(rng, documents, conditions, lost, gained):
    """Draw a study: the changes of each condition's questions, (conditions, n), of up to 1, and the documents."""
    code = np.repeat(np.arange(documents), np.maximum(1, rng.gamma(4, 5 / 4, documents).round().astype(int)))
    is_changed = changed(rng, code, conditions, lost + gained)
    sign = np.where(rng.random(is_changed.shape) < lost / (lost + gained), 1.0, -1.0)
    return is_changed * sign * rng.random(is_changed.shape), Clusters.of(code)


def largest_loss(_work: Path, conditions: int = 12) -> Values:
    """The largest of twelve equal losses: in truth 20% of the questions lose .5 on average, and 10% gain as much."""
    rng = np.random.default_rng(SEED)
    truth, largest, alone, together = 0.05, [], [], []
    for _ in range(STUDIES):
        values, clusters = _study(rng, DOCUMENTS, conditions, 0.2, 0.1)
        picked = max(comparisons(values, clusters, among=conditions), key=lambda loss: loss.difference.mean)
        largest.append(picked.difference.mean)
        alone.append(picked.difference.low <= truth <= picked.difference.high)
        together.append(picked.wide_low <= truth <= picked.wide_high)
    return {
        "conditions": conditions,
        "documents": DOCUMENTS,
        "true loss, points": 100 * truth,
        "largest, points": round(100 * float(np.mean(largest)), 1),
        "its own interval holds": percent(alone),
        "wide interval holds": percent(together),
        "level": 95,
    }


def not_significant(_work: Path) -> Values:
    """Verdicts on a true loss of 5 points, in studies of 12 and 24 documents."""
    values: Values = {"true loss, points": 5}
    for documents in (12, 24):
        rng = np.random.default_rng(SEED)
        verdicts = []
        for _ in range(STUDIES):
            changes, clusters = _study(rng, documents, 1, 0.1, 0.0)
            verdicts.append(comparisons(changes, clusters)[0].verdict)
        missed = [word not in ("worse", "small") for word in verdicts]
        values |= {f"{documents} documents": documents, f"{documents}: missed": percent(missed)}
        if documents == 12:
            values["12: same"] = percent([word in ("same", "small") for word in verdicts])
    return values
