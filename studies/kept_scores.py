"""Kept scores of retrieval, their estimates, and how the tables of docs/real-documents.md write them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet
from scipy.optimize import brentq

from ohr.metrics.dose import Floats
from ohr.statistics.clusters import Clusters
from ohr.statistics.derived import against_zero, of_means
from ohr.statistics.estimate import Estimate

LEVEL = 0.95
_FARTHEST = 1e3
"""Of an end of the interval of a ratio from the ratio; one farther away is infinite."""


@dataclass(frozen=True)
class Scores:
    """Scores of retrieval of all questions, by condition and retriever, in one order.

    Args:
        ids: of the questions. documents, domains, sources: theirs.
        values: (questions,) by condition and retriever.
    """

    ids: list[str]
    documents: Any
    domains: Any
    sources: Any
    values: Mapping[tuple[str, str], Floats]

    @classmethod
    def read(cls, path: Path) -> "Scores":
        """Read kept scores."""
        table = parquet.read_table(path)
        columns = {name: table[name].to_numpy() for name in table.column_names}
        ids, first, places = np.unique(columns["question_id"], return_index=True, return_inverse=True)
        cells = list(zip(columns["condition"].tolist(), columns["retriever"].tolist(), strict=True))
        number = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
        values = np.full((len(number), len(ids)), np.nan)
        values[[number[cell] for cell in cells], places] = columns["value"]
        documents, domains, sources = (columns[name][first] for name in ("document", "domain", "evidence_source"))
        return cls(ids.tolist(), documents, domains, sources, dict(zip(number, values, strict=True)))

    def estimate(
        self,
        cells: list[tuple[str, str]],
        function: Callable[[Floats], Any],
        among: int = 1,
        chosen: Any = None,
        *,
        zero: bool = True,
    ) -> Estimate:
        """Estimate a function of the means of some cells, over all or some questions, among so many judged together."""
        places = np.arange(len(self.ids)) if chosen is None else np.flatnonzero(chosen)
        columns = np.array([self.values[cell][places] for cell in cells])
        clusters = Clusters.of(self.documents[places], self.domains[places])
        level = 1 - (1 - LEVEL) / among  # Bonferroni
        if zero:
            return against_zero(columns, clusters, function, level)
        return of_means(columns, clusters, {"": function}, level)[""]


def first_less(means: Floats) -> Any:
    """Return the first of some means less the second: a loss."""
    return means[0] - means[1]


def over(means: Floats) -> Any:
    """Return the second loss over the first, of four means."""
    return (means[2] - means[3]) / (means[0] - means[1])


def ratio(scores: Scores, cells: list[tuple[str, str]], among: int = 1) -> Estimate:
    """Return the second loss over the first, of four cells, with the interval of Fieller (JRSS B 16(2), 1954).

    It has an infinite end where the first loss is hardly shown, and two where it is 0.
    """
    first = scores.estimate(cells, first_less, zero=False)
    if first.mean == 0:
        return replace(first, mean=math.nan, low=-math.inf, high=math.inf)
    if first.mean < 0:  # both losses with the other sign have the same ratio
        cells = [cells[place] for place in (1, 0, 3, 2)]
    linear = scores.estimate(cells, over)

    def beyond(share: float) -> Estimate:
        return scores.estimate(
            cells, lambda means: first_less(means[2:]) - share * first_less(means), among, zero=False
        )

    def end(of: str, far: float) -> float:
        at_mean, beyond_it = (getattr(beyond(place), of) for place in (linear.mean, linear.mean + far))
        if at_mean == 0:  # the ratio of all documents is the same
            return linear.mean
        if not at_mean * beyond_it < 0:
            return far * math.inf
        return brentq(lambda share: getattr(beyond(share), of), *sorted((linear.mean, linear.mean + far)))

    return replace(linear, low=end("low", -_FARTHEST), high=end("high", _FARTHEST))


def retrievers(scores: Scores, chosen: Any = None) -> dict[str, dict[str, Any]]:
    """Return of each retriever its score on the truth, its loss, and how much less it loses than BM25."""
    names = list(dict.fromkeys(retriever for _, retriever in scores.values))
    rows: dict[str, dict[str, Any]] = {}
    for name in names:
        cells = [("gt", name), ("MinerU", name)]
        bm25 = [("gt", "bm25"), ("MinerU", "bm25"), *cells]
        rows[name] = {
            "score": float(np.nanmean(scores.values[cells[0]][slice(None) if chosen is None else chosen])),
            "loss": scores.estimate(cells, first_less, len(names), chosen),
            "spared": scores.estimate(bm25, lambda m: (m[0] - m[1]) - (m[2] - m[3]), len(names) - 1, chosen)
            if name != "bm25"
            else None,
        }
    return rows


def points(estimate: Estimate) -> str:
    """Write a difference in points with its interval."""
    return f"{100 * estimate.mean:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def shares(estimate: Estimate) -> str:
    """Write a share, a ratio or a number of words with its interval."""
    return f"{estimate.mean:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def line(*cells: Any) -> str:
    """Write a row of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"
