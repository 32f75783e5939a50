"""Counts what an engine reads in place of what it loses, and what it adds."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .align import Aligned, Difference
from .page import TABLE
from .profile import MANY, OPERATIONS, SIZES, Histogram, Reading

_PRIOR, _MOST_ADDED, _MOST_WORDS = 4.0, 30, 60


def count_reading(pages: Sequence[Aligned], misread: tuple[float, ...]) -> Reading:
    """Count over all pages; `misread` is kept with the rest."""
    lost = [page.silent for page in pages if page.share == 1]
    heard = [page for page in pages if not page.silent]
    added = [difference for page in heard for difference in page.differences if difference.operation == "insert"]
    return Reading(
        operations=_operations(pages),
        silent=round(sum(lost) / len(lost), 4) if lost else 1.0,
        insertions=_insertions(heard),
        inserted=_histogram(added),
        repeated=_repeated(heard),
        spurious=_spurious(heard),
        misread=misread,
    )


def _operations(pages: Sequence[Aligned]) -> dict[str, dict[str, float]]:
    tally = {size: Counter[str]() for size in SIZES}
    for page in pages:
        words = page.page
        lines = np.bincount(words.line, page.lost, len(words.size)) == words.size
        for difference in page.differences:
            places = np.flatnonzero(page.lost[difference.first : difference.last]) + difference.first
            if difference.operation == "insert" or not len(places):
                continue
            whole = lines[words.line[places]]
            for line in np.unique(words.line[places[whole]]).tolist():
                tally["rows" if words.kind[line] == TABLE else "lines"][difference.operation] += 1
            if not whole.all():
                table = words.kind[words.line[places[~whole][0]]] == TABLE
                tally[_size(int((~whole).sum()), table)][difference.operation] += 1
    every = sum(tally.values(), Counter[str]())
    mean = {name: (every[name] + 1) / (every.total() + len(OPERATIONS)) for name in OPERATIONS}
    return {
        size: {name: round((found[name] + _PRIOR * mean[name]) / (found.total() + _PRIOR), 4) for name in OPERATIONS}
        for size, found in tally.items()
    }


def _size(count: int, table: bool) -> str:
    if table:
        return "cell" if count == 1 else "cells" if count < MANY else "rows"
    return "single" if count == 1 else "few" if count < MANY else "many"


def _insertions(pages: Sequence[Aligned]) -> tuple[float, float]:
    """Share of the places at which words are added: at the heads of lines, and within them."""
    heads = sum(len(page.page.size) for page in pages)
    words = sum(len(page.page.counted) for page in pages)
    at_head = every = 0
    for page in pages:
        begins = set(page.page.counted[page.page.first].tolist())
        for difference in page.differences:
            if difference.operation == "insert" and difference.read:
                every += 1
                following = np.searchsorted(page.page.counted, difference.first)
                place = (
                    int(page.page.counted[following]) if following < len(page.page.counted) else len(page.page.start)
                )
                at_head += place in begins
    return round(min(at_head / max(heads, 1), 1.0), 5), round(min((every - at_head) / max(words - heads, 1), 1.0), 5)


def _histogram(added: Sequence[Difference]) -> Histogram:
    tally = Counter(min(len(difference.read), _MOST_ADDED) for difference in added)
    most = max(tally.values(), default=0) / 100
    return tuple((size, max(round(count / most), 1)) for size, count in sorted(tally.items()) if size)


def _repeated(pages: Sequence[Aligned]) -> float:
    """Share of the added words that stand elsewhere on the page."""
    there = total = 0
    for page in pages:
        held = set(page.page.text.split())
        added = [word for one in page.differences if one.operation == "insert" for word in one.read]
        total += len(added)
        there += sum(word in held for word in added)
    return round(there / total, 3) if total else 0.0


def _spurious(pages: Sequence[Aligned]) -> tuple[str, ...]:
    """List the words that are most often read where none is, in several documents."""
    tally: Counter[str] = Counter()
    holders: dict[str, set[str]] = {}
    for page in pages:
        for difference in page.differences:
            if difference.operation == "insert":
                tally.update(difference.read)
                for word in difference.read:
                    holders.setdefault(word, set()).add(page.document)
    common = [word for word, _ in tally.most_common(400) if len(holders[word]) > 1 and len(word) <= 20]
    return tuple(common[:_MOST_WORDS])
