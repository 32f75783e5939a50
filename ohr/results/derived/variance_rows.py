"""The table of variance: what the squared standard error of each score, and of each loss, is made of."""

from collections.abc import Iterator
from math import nan
from typing import Any

import numpy as np

from ohr.results.derived.pairs import ScoredRun
from ohr.results.score_arrays import Floats, Part
from ohr.results.tables.groups import ALL
from ohr.statistics.estimate import NO_INTERVAL, SAME
from ohr.statistics.planning import Changes
from ohr.statistics.variance import budget

_CHANGES = {"loss": "loss", "square": "square", "size": "size", "changed": "documents"}


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
            if columns := _columns(values, part, is_loss=of == "lost"):
                yield {**place.named, "metric": metric, "of": of, **columns}


def _columns(draws: Floats, part: Part, *, is_loss: bool) -> dict[str, Any]:
    """Estimate the parts, from the questions that every draw defines; nothing with too few documents."""
    chosen = draws[:, part.places]
    kept = np.flatnonzero(~np.isnan(chosen).any(axis=0))
    clusters = part.clusters.among(kept) if kept.size < chosen.shape[1] else part.clusters
    documents = len(clusters.counts)
    if not kept.size or documents < NO_INTERVAL:
        return {}
    parts, means = budget(chosen[:, kept], clusters), chosen[:, kept].mean(axis=0)
    means = np.where(np.abs(means) < SAME, 0.0, means)
    changes = Changes.of(means, clusters) if is_loss and means.any() else None
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
        **{name: getattr(changes, field) if changes else nan for name, field in _CHANGES.items()},
    }
