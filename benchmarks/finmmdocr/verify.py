"""Compares a copy of FinMMDocR with the published statistics (arXiv:2512.24903, Table 2 and appendix E)."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ohr.contracts import Tally

from .grouping import groups
from .published_numbers import group_sizes
from .records import Record

QUESTIONS, DOCUMENTS = 1200, 837
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
