"""The table of attribution: from the rows of levels with some parts of a noise to what each part costs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ohr.attribution.levels import Trial, weights
from ohr.metrics.intervals import DIFFERENCES, clustered_mean
from ohr.results.summary import GROUPS, strata_of
from ohr.spec.model import Spec
from ohr.spec.parts import Parts, parts

Row = Mapping[str, Any]
Cell = tuple[str, str | None, str | None, str | None, str]
"""Stage, chunker, retriever, generator, metric."""

_MORE_IS_WORSE = ("damaged", "damaged_content")


@dataclass
class _Worths:
    """Mean scores over replicates, by cell, coalition and question, of one level and method."""

    sums: dict[Cell, dict[Parts, dict[str, list[float]]]]
    about: dict[str, Row]


def shares(spec: Spec, rows: Sequence[Row], trials: Mapping[str, Trial]) -> list[dict[str, Any]]:
    """Give what each part of each level costs: per method, cell, metric and group of questions.

    A cost is what the part takes from a score (or adds to the damage), paired on the questions, with the interval of
    the other tables. By `leave_one_out`: the score without the part less that with all parts. By `shapley`: the part's
    mean contribution over the orders in which parts can be added, each set of parts at the edits of all.
    """
    wanted = spec.attribution
    if wanted is None:
        return []
    found = []
    for level in wanted.of:
        bases = [base for base in spec.knowledge_bases if base.condition == level]
        names = tuple(part.name for part in parts(bases[0]))
        for method in wanted.methods:
            if method == "shapley":
                sums = weights(names, wanted.permutations, spec.seed)
            else:
                every = frozenset(names)
                sums = {name: {every: 1.0, every - {name}: -1.0} for name in names}
            worths = _worths(rows, trials, level, method, frozenset(names))
            found += list(_of_level(level, method, sums, worths))
    return found


def _worths(rows: Sequence[Row], trials: Mapping[str, Trial], level: str, method: str, every: Parts) -> _Worths:
    sums: dict[Cell, dict[Parts, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    about: dict[str, Row] = {}
    for row in rows:
        trial = trials.get(row["kb"])
        if trial is not None and (trial.of, trial.method) == (level, method):
            kept = trial.kept
        elif row["condition"] == level:
            kept = every
        else:
            continue
        if row["metric"].endswith("_floor") or row["metric"] == "lcs_gt":
            continue
        cell = (row["stage"], row["chunker"], row["retriever"], row["generator"], row["metric"])
        sums[cell][kept][row["question_id"]].append(row["value"])
        about[row["question_id"]] = row
    return _Worths(sums, about)


def _of_level(
    level: str, method: str, sums: Mapping[str, Mapping[Parts, float]], worths: _Worths
) -> Iterator[dict[str, Any]]:
    for cell, coalitions in worths.sums.items():
        stage, chunker, retriever, generator, metric = cell
        sign = 1.0 if metric in _MORE_IS_WORSE else -1.0
        questions = sorted(set.intersection(*(set(found) for found in coalitions.values())))
        means = {kept: np.array([np.mean(found[q]) for q in questions]) for kept, found in coalitions.items()}
        about = [worths.about[question] for question in questions]
        for part, terms in sums.items():
            costs = sign * sum((weight * means[kept] for kept, weight in terms.items()), np.zeros(len(questions)))
            for group, belongs in GROUPS.items():
                chosen = [place for place, row in enumerate(about) if belongs(row["evidence_source"])]
                if not chosen:
                    continue
                documents = [about[place]["document"] for place in chosen]
                domains = [about[place]["domain"] for place in chosen]
                made = clustered_mean(
                    costs[chosen], documents, strata=strata_of(documents, domains), within=DIFFERENCES
                )
                yield {
                    "kb": level,
                    "method": method,
                    "part": part,
                    "stage": stage,
                    "chunker": chunker,
                    "retriever": retriever,
                    "generator": generator,
                    "metric": metric,
                    "evidence_source": group,
                    "cost": made.mean,
                    "low": made.low,
                    "high": made.high,
                    "se": made.se,
                    "n": made.n,
                    "documents": made.documents,
                    "note": made.note,
                }
