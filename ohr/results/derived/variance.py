"""The table of variance: what the squared standard error of each score, and of each loss, is made of."""

from collections.abc import Iterator
from math import nan
from typing import Any

import numpy as np

from ohr.results.derived.pairs import ScoredRun
from ohr.results.score_arrays import Floats, Part
from ohr.results.tables.groups import ALL
from ohr.statistics.clusters import Clusters
from ohr.statistics.estimate import NO_INTERVAL, SAME
from ohr.statistics.planning import Changes
from ohr.statistics.variance import Budget, budget

_UNCHANGED = dict.fromkeys(("loss", "square", "size", "changed"), nan)


def variance_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of `variance`: of each stage's headline metric, over all questions."""
    scores = run.scores
    part = scores.questions.part("evidence_source", ALL)
    for place, metric in run.headlines():
        draws = scores.read(place).only([metric]).draws[0]
        tried = {"score": draws}
        clean = scores.reference(place)
        if clean is not None and clean != place:
            (before,) = scores.read(clean).only([metric]).values
            tried["lost"] = before - draws
        for of, values in tried.items():
            found = _of(values, part)
            if found is not None:
                parts, clusters, means = found
                changes = _changes(means, clusters) if of == "lost" and (np.abs(means) >= SAME).any() else _UNCHANGED
                yield {**place.named, "metric": metric, "of": of, **_columns(parts, clusters), **changes}


def _of(draws: Floats, part: Part) -> tuple[Budget, Clusters, Floats] | None:
    """Estimate the parts, from the questions that every draw defines; None with too few documents.

    Returns:
        The parts, the clusters of these questions, and their means over the draws.
    """
    chosen = draws[:, part.places]
    kept = np.flatnonzero(~np.isnan(chosen).any(axis=0))
    clusters = part.clusters.among(kept) if kept.size < chosen.shape[1] else part.clusters
    if not kept.size or len(clusters.counts) < NO_INTERVAL:
        return None
    return budget(chosen[:, kept], clusters), clusters, chosen[:, kept].mean(axis=0)


def _changes(differences: Floats, clusters: Clusters) -> dict[str, float]:
    found = Changes.of(np.where(np.abs(differences) < SAME, 0.0, differences), clusters)
    return {"loss": found.loss, "square": found.square, "size": found.size, "changed": found.documents}


def _columns(parts: Budget, clusters: Clusters) -> dict[str, Any]:
    documents = len(clusters.counts)
    return {
        "total": parts.total,
        "from_documents": parts.documents,
        "from_questions": parts.questions,
        "from_draws": parts.draws,
        "from_question_draws": parts.question_draws,
        **{name: getattr(parts, name) for name in ("shared", "shared_ratio", "shared_p", "per_document")},
        "draws": parts.made,
        "documents": documents,
        "effective_documents": parts.effective_documents,
        "cv": float(clusters.counts.std() / clusters.counts.mean()),
        "df": parts.effective_documents - 1,
    }
