"""The table by which the channel is judged: its rows, the engine's values, and the limits of a prediction's error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from speed.channel_rows import Data

FIXED = {"query-term survival": 0.02, "answer-string survival": 0.035, "singletons": 0.04, "in runs of 10+": 0.04,
         "intraclass": 0.1, "KS of content edit distance": 0.1}  # fmt: skip
"""Limits that are distances. The others are two document-clustered standard errors of the real value, for what has
one, and a quarter of it."""

WORST = 5
"""Limits at which the distance of a row is cut, so that one row does not decide their mean."""

FEWEST = 20
"""Questions of a group that is worth a row: with fewer, two standard errors exclude nothing."""


@dataclass(frozen=True)
class Row:
    """One line of the table: the engine's value, and the limit of a prediction's error."""

    name: str
    real: float
    limit: float

    def apart(self, made: float) -> float:
        """Return the distance of a prediction in limits; beyond 1 it fails."""
        return (made - self.real) / self.limit


def distances(rows: Sequence[Row], made: Mapping[str, float]) -> np.ndarray:
    """Return how many limits each row of a prediction is away from the engine's value, each at most WORST."""
    return np.minimum(np.abs([row.apart(made[row.name]) for row in rows]), WORST)


def groups(data: Data) -> dict[str, np.ndarray]:
    """Return which questions are pooled, by domain, and by evidence source."""
    domain = np.array([question.domain for question in data.asked])
    source = np.array([question.evidence_source for question in data.asked])
    found = {"pooled": np.ones(len(domain), dtype=bool)}
    found |= {name: domain == name for name in data.domains if len(data.domains) > 1}
    found |= {str(name): source == name for name in np.unique(source)}
    return {name: here for name, here in found.items() if here.sum() >= FEWEST}


def summary(data: Data, values: Mapping, real: Mapping) -> dict[str, float]:
    """Reduce what was measured of one run to the table's rows."""
    made: dict[str, float] = {}
    for measure, title in (("r_noise", "r_noise"), ("drop", "BM25 LCS drop")):
        made |= {f"{title}, {name}": float(values[measure][here].mean()) for name, here in groups(data).items()}
    made["query-term survival"] = float(np.nanmean(values["terms"]))
    made["answer-string survival"] = float(np.nanmean(values["answers"]))
    for title in ("median missing", "singletons", "in runs of 10+", "intraclass", "numbers to words"):
        made[title] = values[title]
    if len(values["distance"]):
        made["KS of content edit distance"] = _ks(real["distance"], values["distance"])
    return made


def table(data: Data, real: Mapping) -> list[Row]:
    """Return the rows with the real values and their limits."""
    documents = np.array([question.document for question in data.asked])
    domain = np.array([question.domain for question in data.asked])
    found = []
    for name, value in summary(data, real, real).items():
        measure, _, group = name.partition(", ")
        if group:
            here = groups(data)[group]
            values = real["r_noise" if measure == "r_noise" else "drop"][here].astype(float)
            limit = 2 * _clustered_error(values, documents[here], domain[here])
        elif name == "median missing":
            limit = 2 * _median_error(real["missing"], np.array([document for document, _ in data.pages]))
        else:
            limit = FIXED[name] if name in FIXED else 0.25 * value
        found.append(Row(name, value, limit))
    return found


def _clustered_error(values: np.ndarray, documents: np.ndarray, strata: np.ndarray) -> float:
    """Standard error of a mean, clustered by document within fixed domains."""
    total = 0.0
    for stratum in np.unique(strata):
        here = strata == stratum
        _, owner = np.unique(documents[here], return_inverse=True)
        sums = np.bincount(owner, values[here] - values[here].mean())
        if len(sums) > 1:
            total += float((sums**2).sum()) * len(sums) / (len(sums) - 1)
    return float(np.sqrt(total)) / len(values)


def _median_error(values: np.ndarray, documents: np.ndarray, draws: int = 200) -> float:
    """Standard error of a median, by resampling documents."""
    rng = np.random.default_rng(0)
    names, owner = np.unique(documents, return_inverse=True)
    held = [values[owner == number] for number in range(len(names))]
    drawn = (np.concatenate([held[n] for n in rng.integers(0, len(names), len(names))]) for _ in range(draws))
    return float(np.std([np.median(one) for one in drawn]))


def _ks(one: np.ndarray, other: np.ndarray) -> float:
    grid = np.sort(np.concatenate([one, other]))
    ranks = [np.searchsorted(np.sort(values), grid, side="right") / len(values) for values in (one, other)]
    return float(np.abs(ranks[0] - ranks[1]).max())
