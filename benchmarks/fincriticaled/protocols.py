"""How FinCriticalED is scored: the published way and the repaired one, and the numbers that are more than a mean."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from ohr.contracts import Aggregate, Mean, ScoringProtocol

from ..copies import only_mean
from .facts import TYPES
from .totals import aggregate, ffa_recall_style, key

Protocol = Literal["clean", "reference"]

_LEXICAL = ("rouge1", "rougeL", "edit_similarity", "coverage")
_PAGE = {
    "clean": ("ffa_strict", "ffa_strict_found", "ffa", *_LEXICAL),
    "reference": ("ffa", "ffa_found", *_LEXICAL),
}
_NOTEBOOK = "published notebook: correct / found x (1 - missing / all), rounded as there"
_WHOLE = 1e-6
"""Distance from a whole number within which a mean times its count is that number."""


def scoring(protocol: Protocol) -> ScoringProtocol:
    """Return the rules of a protocol.

    `reference` searches for values as published, and leaves out pages without text; `clean` wants whole values, and
    scores such pages 0. Retrieval, over all pages, is ohr's addition.
    """
    published = protocol == "reference"
    skips = {"skip_blank": published}
    return ScoringProtocol(
        name=protocol,
        page=_PAGE[protocol],
        facts="fact_in_text",
        index_scope="corpus",
        metric_fields={
            "ffa": {"rule": "substring", **skips},
            "ffa_found": {"kind": "ffa", "rule": "substring", "count": "found", **skips},
            "ffa_strict": {"kind": "ffa", "rule": "whole", **skips},
            "ffa_strict_found": {"kind": "ffa", "rule": "whole", "count": "found", **skips},
            "fact_in_text": {"rule": "substring" if published else "whole"},
            **{name: {"kind": "page_lexical", "measure": name, **skips} for name in _LEXICAL},
        },
    )


def aggregates(protocol: Protocol) -> Sequence[Aggregate]:
    """Return FFA, accuracy among the found facts, missing rate and edit distance; a judge's where one is asked."""
    distance = Aggregate("edit_distance", (Mean("edit_similarity"),), missing, source="smaller is better")
    judged = ("ffa_judge", "ffa_judge_found")
    if protocol == "reference":
        types: Sequence[Mapping[str, str]] = [{}, *({"type": name} for name in TYPES.values())]
        by_type = [_published("ffa", ("ffa", "ffa_found"), where) for where in types]
        rates = [_published(rate, ("ffa", "ffa_found")) for rate in ("acc_found", "missing_rate")]
        of_judge = [_published(rate, judged) for rate in ("ffa", "acc_found", "missing_rate")]
        return (*by_type, *rates, *of_judge, distance)
    strict = Aggregate(
        "ffa_strict", (Mean("ffa_strict"),), only_mean, ratio=True, source="whole values, each counted once"
    )
    parts = (Mean("ffa_strict"), Mean("ffa_strict_found"))
    rates = [Aggregate("acc_found", parts, accuracy), Aggregate("missing_rate", parts[1:], missing)]
    parts = (Mean(judged[0]), Mean(judged[1]))
    of_judge = [Aggregate("acc_found_judge", parts, accuracy), Aggregate("missing_rate_judge", parts[1:], missing)]
    return (strict, *rates, *of_judge, distance)


def missing(parts: Any, counts: Any) -> Any:  # noqa: ARG001 # an aggregate's signature, as below
    """Return 1 - the mean."""
    return 1 - parts[0]


def accuracy(parts: Any, counts: Any) -> Any:  # noqa: ARG001
    """Return correct / found; nan where nothing is found."""
    correct, found = parts
    return np.where(found > 0, correct, nan) / np.where(found > 0, found, 1)


def published(rate: str, parts: Any, counts: Any) -> Any:
    """Return a rate of the published notebook, with its rounding: `ffa`, `acc_found` or `missing_rate`.

    Args:
        rate: its name.
        parts: shares of correct and of found facts.
        counts: of facts, twice.
    """
    total = int(counts[0])

    def one(correct: float, found: float) -> float:
        if isnan(correct) or isnan(found):
            return nan
        made = aggregate([{key("total"): total, key("found"): found, key("correct"): correct}])
        percent = {"ffa": ffa_recall_style(made)["entity_error"], "acc_found": made["entity_acc"]}
        return percent.get(rate, made["missing_rate"]) / 100

    return np.vectorize(one, otypes=[float])(_counted(parts[0] * total), _counted(parts[1] * total))


def _published(rate: str, parts: tuple[str, str], where: Mapping[str, str] | None = None) -> Aggregate:
    where = where or {}
    judge = "_judge" if parts[0] == "ffa_judge" else ""
    name = " ".join((f"{rate}{judge}", *where.values()))
    means = tuple(Mean(part, where) for part in parts)
    return Aggregate(name, means, partial(published, rate), ratio=name == "ffa", source=_NOTEBOOK)


def _counted(numbers: Any) -> Any:
    """Return numbers of facts: whole where the means are of these facts, unlike means without one of the documents."""
    nearest = np.rint(numbers)
    return np.where(np.abs(numbers - nearest) < _WHOLE, nearest, numbers)
