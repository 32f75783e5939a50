"""How FinCriticalED is scored, the published way and the repaired one, and what was published: tables, and counts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from ohr.contracts import Aggregate, Mean, Published, ScoringProtocol, Tally

from ..copies import only_mean
from ..published import published_numbers
from .facts import TYPES, read_facts
from .release_files import DataSet

Protocol = Literal["clean", "reference"]

_LEXICAL = ("rouge1", "rougeL", "edit_similarity", "coverage")
_PAGE = {
    "clean": ("ffa_strict", "ffa_strict_found", "ffa", *_LEXICAL),
    "reference": ("ffa", "ffa_found", *_LEXICAL),
}
_OF_JUDGE = ("ffa_judge", "ffa_judge_found")
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
    if protocol == "reference":
        types: Sequence[Mapping[str, str]] = [{}, *({"type": name} for name in TYPES.values())]
        by_type = [_published("ffa", ("ffa", "ffa_found"), where) for where in types]
        rates = [_published(rate, ("ffa", "ffa_found")) for rate in ("acc_found", "missing_rate")]
        of_judge = [_published(rate, _OF_JUDGE) for rate in ("ffa", "acc_found", "missing_rate")]
        return (*by_type, *rates, *of_judge, distance)
    whole = "whole values, each counted once"
    rates = [Aggregate("ffa_strict", (Mean("ffa_strict"),), only_mean, ratio=True, source=whole)]
    for names, ending in ((("ffa_strict", "ffa_strict_found"), ""), (_OF_JUDGE, "_judge")):
        parts = tuple(map(Mean, names))
        rates.append(Aggregate(f"acc_found{ending}", parts, accuracy))
        rates.append(Aggregate(f"missing_rate{ending}", parts[1:], missing))
    return (*rates, distance)


def missing(parts: Any, counts: Any) -> Any:  # noqa: ARG001 # an aggregate's signature, as below
    """Return 1 - the mean."""
    return 1 - parts[0]


def accuracy(parts: Any, counts: Any) -> Any:  # noqa: ARG001
    """Return correct / found; nan where nothing is found."""
    correct, found = parts
    return np.where(found > 0, correct, nan) / np.where(found > 0, found, 1)


def published_rate(rate: str, parts: Any, counts: Any) -> Any:
    """Return a rate of the published notebook, with its rounding in percent: `ffa`, `acc_found` or `missing_rate`.

    FFA is accuracy x (1 - missing rate): correct of all gold facts, up to .01 from the rounding. Nothing found -> 0.

    Args:
        rate: its name.
        parts: shares of correct and of found facts.
        counts: of facts, twice.
    """
    total = int(counts[0])

    def one(correct: float, found: float) -> float:
        if isnan(correct) or isnan(found):
            return nan
        accuracy, missing = _percent(correct, found), _percent(total - found, total)
        ffa = round(accuracy * (1 - missing / 100), 2)
        return {"ffa": ffa, "acc_found": accuracy, "missing_rate": missing}[rate] / 100

    return np.vectorize(one, otypes=[float])(_counted(parts[0] * total), _counted(parts[1] * total))


def _percent(part: float, whole: float) -> float:
    return round(part / whole * 100, 2) if whole else 0.0


def _published(rate: str, parts: tuple[str, str], where: Mapping[str, str] | None = None) -> Aggregate:
    where = where or {}
    judge = "_judge" if parts[0] == "ffa_judge" else ""
    name = " ".join((f"{rate}{judge}", *where.values()))
    means = tuple(Mean(part, where) for part in parts)
    return Aggregate(name, means, partial(published_rate, rate), ratio=name == "ffa", source=_NOTEBOOK)


def _counted(numbers: Any) -> Any:
    """Return numbers of facts: whole where the means are of these facts, unlike means without one of the documents."""
    nearest = np.rint(numbers)
    return np.where(np.abs(numbers - nearest) < _WHOLE, nearest, numbers)


FACTS = {
    "Number": 2930,
    "Temporal": 1144,
    "Monetary Unit": 881,
    "Reporting Entity": 3142,
    "Financial Concepts": 1384,
}
"""Facts of 859 pages by type (project's page and README, commit b291e71)."""

DOCUMENT_TYPES = {"legal": 637, "sec_filings": 142, "statements": 44, "transaction_records": 25, "tax_forms": 11}
"""Pages by the type of their document (project's page)."""

PAGES, OLDER_PAGES, OLDER_FACTS = 859, 500, 739
"""The older numbers are those of the first version of the paper (arXiv:2511.14998v1), which has two types of facts."""


def tallies(data: DataSet) -> Iterator[Tally]:
    """Yield the counts of a copy: pages, facts by type, pages by type of document where the table names it."""
    facts = Counter(fact.type for page in data.pages for fact in read_facts(page.tagged))
    if data.version == "500":
        yield Tally("pages (arXiv v1)", len(data.pages), OLDER_PAGES)
        yield Tally("facts (arXiv v1)", facts.total(), OLDER_FACTS)
        return
    yield Tally("pages", len(data.pages), PAGES)
    yield Tally("facts", facts.total(), sum(FACTS.values()))
    for name in TYPES.values():
        yield Tally(f"facts: {name}", facts[name], FACTS[name])
    kinds = Counter(page.kind for page in data.pages)
    for kind, pages in DOCUMENT_TYPES.items():
        yield Tally(f"pages: {kind}", kinds[kind] if any(kinds) else None, pages)


_MAIN = ("rouge1", "rougeL", "edit_distance", "ffa")
"""Metrics of the README's table; those that a run has, too, are in a system's row among the published ones."""


def published() -> tuple[Published, ...]:
    """Return the tables of the project's page and README.

    FFA's groups are `all`, the types of facts as `type=Number`, and the types of documents, which are domains.
    """
    return published_numbers(__package__, _about)


def _about(table: Mapping[str, Any], row: Mapping[str, str], column: str) -> Mapping[str, Any]:
    metric, group = _metric(column)
    warning = table.get("warnings", {}).get(row["system"], "") if metric == "ffa" else ""
    main = bool(table.get("main")) and metric in _MAIN
    return {"stage": "page", "metric": metric, "group": group, "main": main, "warning": warning}


def _metric(column: str) -> tuple[str, str]:
    """Return the metric and the group of a column."""
    if column.endswith("missing_rate"):
        return "missing_rate", _group(column.removesuffix("missing_rate").rstrip("_"))
    if column in (*_MAIN, "success_rate"):
        return column.replace("success_rate", "coverage"), "all"
    return "ffa", _group(column)


def _group(name: str) -> str:
    """Return a type of facts as a group, `type=Monetary Unit` for `monetary_unit`; types of documents are domains."""
    if name in ("", "all"):
        return "all"
    return name if name in DOCUMENT_TYPES else f"type={name.replace('_', ' ').title()}"
