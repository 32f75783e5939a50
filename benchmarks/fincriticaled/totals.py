"""Counts of found and correct facts, and the scores that are made of them.

These are the published functions with their rounding, in percent; an empty type scores 0.

Which one the published tables have: the project's page says correct facts of all gold facts, which is
`ffa_recall_style`. That function's keys end in `_error`, although a larger value is better.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .facts import TYPES

Diagnostic = dict[str, Any]
"""The verdict on one fact: `type`, `value`, `context_hint`, `found_in_prediction`, `correct`, `matched_text`."""

Record = dict[str, Any]
"""The counts of one page under the published keys, and its `entity_diagnostics`."""

PUBLISHED_INDICES = range(858)
"""Pages that the published loop scores: it leaves out the last of 859."""

_COUNTS = ("total", "found", "correct", "not_found")
_ACCURACIES = {
    "Number": "number_entity_acc",
    "Temporal": "temporal_entity_acc",
    "Monetary Unit": "monetary_unit_entity_acc",
    "Reporting Entity": "reporting_entity_acc",
    "Financial Concepts": "financial_concepts_entity_acc",
}
_ALL = ""
"""Stands for all types in the functions below."""


def key(count: str, type_name: str = _ALL) -> str:
    """Name a count of a record: `found_entities`, or `found_entities_with_Monetary_Unit_type`."""
    return f"{count}_entities" + (f"_with_{type_name.replace(' ', '_')}_type" if type_name else "")


def record(gold_types: Iterable[str], diagnostics: Sequence[Diagnostic]) -> Record:
    """Count a page's facts: all by the extractor's types, the found and the correct ones by the diagnostics' types.

    A diagnostic of another type counts in the sums over all types only (published).
    """
    totals = Counter(gold_types)
    found = Counter(str(one.get("type", "")) for one in diagnostics if one.get("found_in_prediction"))
    correct = Counter(str(one.get("type", "")) for one in diagnostics if one.get("correct"))
    made: Record = {}
    for count, counts in zip(_COUNTS, (totals, found, correct), strict=False):
        made[key(count)] = counts.total()
        made |= {key(count, name): counts[name] for name in TYPES.values()}
    for name in (_ALL, *TYPES.values()):
        made[key("not_found", name)] = made[key("total", name)] - made[key("found", name)]
    return {**made, "entity_diagnostics": list(diagnostics)}


def aggregate(records: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the published accuracies (correct of found) and missing rates in percent, over all pages' counts."""
    sums = _sums(records)
    accuracies = {"entity_acc": _ALL} | {name: type_name for type_name, name in _ACCURACIES.items()}
    found = {name: _percent(sums["correct", of], sums["found", of]) for name, of in accuracies.items()}
    for of in accuracies.values():
        total = sums["total", of]
        found[_missing(of)] = _percent(total - sums["found", of], total)
    return found


def ffa_recall_style(rates: Mapping[str, float]) -> dict[str, float]:
    """Return the published FFA in percent, overall and by type, from the rounded rates of `aggregate`.

    It is accuracy x (1 - missing rate): correct of all gold facts, up to .01 from the rounding.
    """
    accuracies = {_ALL: "entity_acc", **_ACCURACIES}
    return {
        f"{_prefix(of) or 'entity'}_error": round(rates[name] * (1 - rates[_missing(of)] / 100), 2)
        for of, name in accuracies.items()
    }


def _sums(records: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """Sum the counts of pages by (count, type); a count that a record lacks is 0."""
    sums: Counter[tuple[str, str]] = Counter()
    for one in records:
        for count in ("total", "found", "correct"):
            for of in (_ALL, *TYPES.values()):
                sums[count, of] += one.get(key(count, of), 0)
    return sums


def _percent(part: int, whole: int) -> float:
    return round(part / whole * 100, 2) if whole else 0.0


def _prefix(type_name: str) -> str:
    return type_name.lower().replace(" ", "_")


def _missing(type_name: str) -> str:
    return f"{_prefix(type_name)}_missing_rate" if type_name else "missing_rate"
