"""The numbers that were published for FinMMDocR (arXiv:2512.24903), and the counts of a copy beside them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Published, Tally
from ohr.files.printed import PrintedTables

from ..published import published_numbers
from .grouping import Group, groups, label
from .release_records import Record

_RETRIEVAL = {
    "golden_k": "golden_k",
    "mrr@20": "mrr_at_20",
    "recall@20": "recall_at_20",
    "mrr@10": "mrr_at_10",
    "recall@10": "recall_at_10",
}
"""Columns that are metrics, by which name ohr has them; the headline, by which systems are ranked, is last. All other
columns are groups of `pot_accuracy`, such as `doc_length:<=30`."""


def published() -> tuple[Published, ...]:
    """Return the numbers of all tables; golden_k is in pages, and the setting of a number names the kind of input."""
    return published_numbers(__package__, _about, tuple(_RETRIEVAL))


def group_sizes() -> dict[tuple[str, str], int]:
    """Return the number of questions of each group, by dimension and name; they were recovered from percentages."""
    printed = PrintedTables(__package__)
    rows = printed.rows(printed.about["groups"]["file"])
    return {(row["dimension"], row["group"]): int(row["n"]) for row in rows}


def _about(table: Mapping[str, Any], row: Mapping[str, str], column: str) -> Mapping[str, Any]:
    dimension, _, name = column.partition(":")
    known = {
        "stage": table["stage"],
        "metric": _RETRIEVAL.get(column, "pot_accuracy"),
        "group": "=".join(label(Group(dimension, name))) if name else "all",
        "setting": "; ".join(part for part in (row["input"], row["setting"]) if part),
        "warning": row["warning"],
    }
    return {**known, "value": float(row[column]), "unit": "number"} if column == "golden_k" else known


QUESTIONS, DOCUMENTS = 1200, 837  # Table 2
LANGUAGES = {"zh": 600, "en": 600}


def tallies(records: Sequence[Record]) -> Iterator[Tally]:
    """Count questions, documents and the members of each group.

    A group is not compared where the records have no labels for it, or labels that were derived: the published ones
    were made by hand.
    """
    yield Tally("questions", len(records), QUESTIONS)
    yield Tally("documents", len({record.doc_id for record in records}), DOCUMENTS)
    languages = Counter(record.language for record in records)
    for language, published in LANGUAGES.items():
        yield Tally(f"questions: {language}", languages[language], published)
    found = [group for record in records for group in groups(record)]
    labeled = {group.dimension for group in found} - {group.dimension for group in found if group.derived}
    counts = Counter((group.dimension, group.name) for group in found)
    for (dimension, name), published in group_sizes().items():
        count = counts[dimension, name] if dimension in labeled else None
        yield Tally(f"{dimension}: {name}", count, published)
