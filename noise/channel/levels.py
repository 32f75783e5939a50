"""Counts how words are lost on pages of like severity: whole lines, whole formulas and cells, runs of words."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .align import Aligned
from .clusters import Begins, beyond, fit_spread, spread_of
from .page import CLASSES, KINDS, LINE_BINS, MARK
from .profile import OPERATIONS, SIZES, Histogram, Level

_PRIOR = 4.0
"""Weight of all levels together in the estimate for one, in chances."""

_MOST = 0.98
"""Largest chance: a hazard must be finite."""


class _Tally:
    """Chances and hits by key, of all pages and of each."""

    def __init__(self) -> None:
        self.chances: Counter[Any] = Counter()
        self.hits: Counter[Any] = Counter()
        self.pages: list[list[tuple[Any, bool]]] = []

    def turn(self) -> None:
        """Begin a page."""
        self.pages.append([])

    def add(self, key: Any, hit: bool) -> None:
        """Count a chance."""
        self.chances[key] += 1
        self.hits[key] += hit
        self.pages[-1].append((key, hit))

    def share(self, key: Any, prior: float) -> float:
        """Give the share of chances that were hits, drawn towards `prior`."""
        return min((self.hits[key] + _PRIOR * prior) / (self.chances[key] + _PRIOR), _MOST)

    def spread(self, only: Any = None) -> float:
        """Give how much the chances differ between pages, those of one key or all."""
        sums = np.zeros(2)
        for page in self.pages:
            found = [(self.share(key, 0.0), hit) for key, hit in page if only in (None, key)]
            if found:
                owed, hit = np.array(found).T
                sums += beyond(float(hit.sum()), float(owed.sum()), float((owed**2).sum()))
        return spread_of(sums)


def fit_level(pages: Sequence[Aligned], upto: float, whole: Level | None) -> Level:
    """Count one level.

    Args:
        whole: all levels together, towards which rare counts are drawn.
    """
    lines, following, units, words = _Tally(), _Tally(), _Tally(), _Tally()
    word_runs: Counter[int] = Counter()
    operations: dict[str, Counter[str]] = {size: Counter() for size in SIZES}
    found: list[Begins] = []
    for page in pages:
        for tally in (lines, units):
            tally.turn()
        operation = _operations(page)
        gone = _count_lines(page, lines, following, operations, operation)
        found.append(_count_rest(page, gone, units, words, word_runs, operations, operation))
    before = {} if whole is None else whole.model_dump()
    added = [(page, d) for page in pages for d in page.differences if d.operation == "insert" and d.read]
    return Level(
        upto=upto,
        pages=len(pages),
        lines=_table(lines, before.get("lines")),
        next_lines=_table(following, before.get("next_lines")),
        units={
            kind: round(units.share(k, before["units"][kind] if before else 0.0), 5)
            for k, kind in enumerate(KINDS)
            if kind in ("formula", "table", "stray")
        },
        words={
            name: round(words.share(c, before["words"][name] if before else 0.0), 5)
            for c, name in enumerate(CLASSES)
            if c != MARK
        },
        lengths=_factors(found, {c: words.share(c, 0.0) for c in range(len(CLASSES))}),
        spread=fit_spread(found, {c: words.share(c, 0.0) for c in range(len(CLASSES))})
        | {"lines": round(lines.spread(), 3)}
        | {f"{kind}_units": round(units.spread(k), 3) for k, kind in enumerate(KINDS)},
        word_runs=_histogram(word_runs) or (before["word_runs"] if before else ()),
        operations={
            size: _shares(tally, before["operations"][size] if before else {"delete": 1.0})
            for size, tally in operations.items()
        },
        insertions=_insertions([page for page in pages if not page.silent]),
        inserted=_histogram(Counter(len(difference.read) for _, difference in added)),
        repeated=round(_repeated(pages), 3),
    )


def concentration(page: Aligned) -> float:
    """Give how far a page's loss lies in few runs: the chance that two lost words are in the same."""
    lost = page.lost[page.page.counted].astype(np.int8)
    change = np.flatnonzero(np.diff(np.concatenate([[0], lost, [0]])))
    lengths = (change[1::2] - change[::2]).astype(float)
    return float((lengths**2).sum() / lengths.sum() ** 2) if len(lengths) else 0.0


def _table(tally: _Tally, before: Mapping[str, Sequence[float]] | None) -> dict[str, tuple[float, ...]]:
    return {
        kind: tuple(
            round(tally.share((k, size), before[kind][size] if before else 0.0), 5) for size in range(len(LINE_BINS))
        )
        for k, kind in enumerate(KINDS)
    }


def _count_lines(
    page: Aligned, begins: _Tally, following: _Tally, operations: dict[str, Counter[str]], operation: NDArray[np.int8]
) -> NDArray[np.bool_]:
    """Count wholly lost lines; gives for each line whether it is one."""
    words, heads = page.page, page.page.line_start[:-1]
    size = np.add.reduceat(words.counted.astype(np.int64), heads)
    gone: NDArray[np.bool_] = (np.add.reduceat(page.lost.astype(np.int64), heads) == size) & (size > 0)
    worded = np.flatnonzero(size)
    run = False
    for place in worded.tolist():
        key, whole = (int(words.line_kind[place]), int(words.line_bin[place])), bool(gone[place])
        if run:
            following.chances[key] += 1
            following.hits[key] += whole
        else:
            begins.add(key, whole)
            operations["lines"][OPERATIONS[operation[heads[place]]]] += whole
        run = whole
    return gone


def _count_rest(
    page: Aligned,
    gone: NDArray[np.bool_],
    units: _Tally,
    words: _Tally,
    runs: Counter[int],
    operations: dict[str, Counter[str]],
    operation: NDArray[np.int8],
) -> Begins:
    here = page.page
    open_ = ~gone[here.line]
    lost = page.lost & open_
    free = here.counted & open_
    for first, last, kind in here.units.tolist():
        size = int(free[first:last].sum())
        if size < 2:
            continue
        whole = bool(lost[first:last].sum() == size)
        units.add(kind, whole)
        if whole:
            operations[_size(size)][OPERATIONS[operation[first:last].max()]] += 1
            lost[first:last] = False
            free[first:last] = False
    places = np.flatnonzero(free)
    hit, line, cls = lost[places], here.line[places], here.cls[places]
    follows = np.zeros(len(places), dtype=bool)
    follows[1:] = hit[:-1] & (line[1:] == line[:-1])
    begins = hit & ~follows
    apart = begins | ~hit
    words.chances.update(Counter(cls[apart].tolist()))
    words.hits.update(Counter(cls[begins].tolist()))
    heads = np.flatnonzero(begins)
    goes_on = np.zeros(len(places), dtype=bool)
    goes_on[:-1] = hit[1:] & follows[1:]
    ends = np.flatnonzero(hit & ~goes_on) + 1
    lengths = (ends - heads).tolist()
    runs.update(lengths)
    for place, length in zip(places[heads].tolist(), lengths, strict=True):
        operations[_size(length)][OPERATIONS[operation[place]]] += 1
    bins = here.line_bin[line[apart]]
    kept = places[apart]
    return Begins(cls[apart], line[apart], here.stretch[kept], here.type[kept], bins, begins[apart])


def _factors(pages: Sequence[Begins], chance: Mapping[int, float]) -> tuple[float, ...]:
    """Give how often runs begin in lines of each length, over what their words' classes let expect."""
    table = np.array([chance[c] for c in range(len(CLASSES))])
    hits, owed = np.full(len(LINE_BINS), _PRIOR), np.full(len(LINE_BINS), _PRIOR)
    for page in pages:
        hits += np.bincount(page.length, page.hit, minlength=len(LINE_BINS))
        owed += np.bincount(page.length, table[page.cls], minlength=len(LINE_BINS))
    return tuple(round(float(factor), 3) for factor in hits / owed)


def _size(length: int) -> str:
    return "single" if length == 1 else "few" if length < 10 else "many"


def _operations(page: Aligned) -> NDArray[np.int8]:
    """Give the operation that each word is part of, an index into OPERATIONS."""
    made = np.zeros(len(page.page.cls), dtype=np.int8)
    for difference in page.differences:
        if difference.operation != "insert":
            made[difference.first : difference.last] = OPERATIONS.index(difference.operation)
    return made


def _histogram(tally: Counter[int], most: int = 40) -> Histogram:
    """Give values and counts; rare long ones are put together at their mean."""
    values = sorted(tally.items())
    if len(values) <= most:
        return tuple((float(value), count) for value, count in values)
    kept, rest = values[: most - 10], values[most - 10 :]
    parts = np.array_split(np.array(rest, dtype=float), 10)
    grouped = [(round(float(np.average(p[:, 0], weights=p[:, 1])), 1), int(p[:, 1].sum())) for p in parts if len(p)]
    return (*((float(value), count) for value, count in kept), *grouped)


def _shares(tally: Counter[str], prior: dict[str, float]) -> dict[str, float]:
    total = sum(tally.values()) + _PRIOR
    return {name: round((tally[name] + _PRIOR * prior.get(name, 0.0)) / total, 4) for name in OPERATIONS}


def _insertions(pages: Sequence[Aligned]) -> tuple[float, float]:
    """Share of the places at which words are added: at the heads of lines, and within them."""
    heads = sum(len(page.page.line_kind) for page in pages)
    words = sum(int(page.page.counted.sum()) for page in pages)
    there, all_ = 0, 0
    for page in pages:
        bounds = {0, len(page.page.start), *page.page.line_start.tolist()}
        for difference in page.differences:
            if difference.operation == "insert" and difference.read:
                all_ += 1
                between = range(difference.first, min(difference.first + 3, len(page.page.start)))  # marks and articles
                there += any(
                    place in bounds for place in between if not page.page.counted[difference.first : place].any()
                )
    return round(min(there / max(heads, 1), _MOST), 5), round((all_ - there) / max(words - heads, 1), 5)


def _repeated(pages: Iterable[Aligned]) -> float:
    """Share of the added words that stand elsewhere on the page."""
    there = total = 0
    for page in pages:
        held = set(page.page.text.split())
        added = [word for d in page.differences if d.operation == "insert" for word in d.read]
        total += len(added)
        there += sum(word in held for word in added)
    return there / total if total else 0.0
