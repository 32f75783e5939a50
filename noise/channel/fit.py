"""Fits a profile to pages of truth and what an engine read on them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from rapidfuzz.distance import Levenshtein

from ohr.contracts import Span
from ohr.errors import DataError
from ohr.text.words import normalise

from .align import Aligned
from .donors import FEATURES, describe, logit
from .page_model import FORMULA, Pattern
from .profile import FROM, LONGEST_CONFUSION, OPERATIONS, RUNS, Confusion, Donor, Fit, Profile, Reading

After = Literal["start", "letter", "digit", "mark"]

MOST_PAGES = 4000
"""Pages that a profile keeps (about a megabyte); of more, some documents are drawn."""

_RIDGE = 2.0
"""Penalty of the regression, in pages: effects that fewer pages support shrink towards none. Set by hand."""

_PRIOR = 4.0
"""Runs by which shares of operations shrink towards those of runs of all lengths. Set by hand."""

_MOST_CONFUSIONS, _LONGEST_WORD = 400, 40
"""Confusions that are kept (the rest are seen once or twice), and characters of a word to look for them in."""

_STEPS = np.linspace(0, 1, 11)


def fit(pages: Sequence[Aligned], engine: str, note: str = "") -> Profile:
    """Fit a profile.

    Args:
        pages: aligned pages; the part of a document's name before the first `/` is its group.
        engine: the engine's name.

    Raises:
        DataError: no page has a word.
    """
    pages = [page for page in pages if len(page.lost)]
    if not pages:
        raise DataError("nothing to fit: no page of the ground truth has a word")
    documents: dict[str, list[Pattern]] = {}
    for page in pages:
        documents.setdefault(page.document, []).append(page.page.pattern(page.lost))
    misread, confusions = _confusions(pages)
    return Profile(
        fit=Fit(
            engine=engine,
            documents=len(documents),
            pages=len(pages),
            words=sum(len(page.lost) for page in pages),
            lost=int(sum(page.lost.sum() for page in pages)),
            note=note,
        ),
        severity=_severity(list(documents.values())),
        reading=_reading(pages, misread),
        confusions=confusions,
        donors=tuple(
            Donor(group=name.split("/")[0], pages=tuple(page.dumps() for page in documents[name]))
            for name in _kept(documents)
        ),
    )


def _severity(documents: Sequence[Sequence[Pattern]]) -> dict[str, float]:
    """Regress the logit of the share of lost words on a page's features, by least squares with a ridge."""
    features = np.array([describe(page, len(pages)) for pages in documents for page in pages])
    lost = [((page.lost.sum() + 0.5) / (len(page.lost) + 1)) for pages in documents for page in pages]
    penalty = np.diag([0.0, *[_RIDGE] * (len(FEATURES) - 1)])
    weights = np.linalg.solve(features.T @ features + penalty, features.T @ logit(np.array(lost)))
    return {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)}


def _kept(documents: Mapping[str, Sequence[Pattern]]) -> list[str]:
    """Name the documents that are kept: all, or as many as have MOST_PAGES pages, drawn."""
    names, room = sorted(documents), MOST_PAGES
    if sum(map(len, documents.values())) <= room:
        return names
    kept = []
    for number in np.random.default_rng(0).permutation(len(names)).tolist():
        if len(documents[names[number]]) <= room:
            kept.append(names[number])
            room -= len(documents[names[number]])
    return sorted(kept)


def _reading(pages: Sequence[Aligned], misread: tuple[float, ...]) -> Reading:
    """Count what is read in place of lost runs, by their length."""
    tally = {size: Counter[str]() for size in RUNS}
    for page in pages:
        for difference in page.differences:
            if lost := int(page.lost[difference.first : difference.last].sum()):
                tally[RUNS[int(np.searchsorted(FROM, lost, side="right"))]][difference.operation] += 1
    every = sum(tally.values(), Counter[str]())
    mean = {name: (every[name] + 1) / (every.total() + len(OPERATIONS)) for name in OPERATIONS}
    return Reading(
        operations={
            size: {name: round((of[name] + _PRIOR * mean[name]) / (of.total() + _PRIOR), 4) for name in OPERATIONS}
            for size, of in tally.items()
        },
        misread=misread,
    )


def _confusions(pages: Sequence[Aligned]) -> tuple[tuple[float, ...], tuple[Confusion, ...]]:
    """Return the shares of characters that change in misread words, at equal steps of probability, and confusions."""
    tally: Counter[tuple[After, str, str]] = Counter()
    shares: list[float] = []
    chances: Counter[str] = Counter()
    for true, read in _misread_words(pages):
        changed = 0
        for (start, end), target in _changes(true, read):
            source = true[start:end]
            changed += max(len(source), len(target))
            short = max(len(source), len(target)) <= LONGEST_CONFUSION
            if source and short and normalise(source) != normalise(target):  # else the word is not lost by it
                tally[context(true, start), source, target] += 1
        shares.append(min(changed / len(true), 1.0))
        chances.update(true)
    made = tuple(
        Confusion(after, true, read, round(count / max(chances[true[0]], count), 5))
        for (after, true, read), count in sorted(tally.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CONFUSIONS]
    )
    steps = np.quantile(shares, _STEPS) if shares else np.array([0.2])
    return tuple(steps.round(3).tolist()), made


def context(token: str, place: int) -> After:
    """Return the class of the character before a place in a word."""
    if place == 0:
        return "start"
    before = token[place - 1]
    return "letter" if before.isalpha() else "digit" if before.isdigit() else "mark"


def _changes(true: str, read: str) -> Iterator[tuple[Span, str]]:
    """Yield each stretch of characters that differs, and what was read for it."""
    start = place = 0
    for block in [*Levenshtein.opcodes(true, read), None]:
        if block is not None and block.tag != "equal":
            continue
        end, upto = (block.src_start, block.dest_start) if block else (len(true), len(read))
        if end > start or upto > place:
            yield (start, end), read[place:upto]
        if block:
            start, place = block.src_end, block.dest_end


def _misread_words(pages: Sequence[Aligned]) -> Iterator[tuple[str, str]]:
    """Yield words that were misread one by one, as they are written; in formulas it is the notation that differs."""
    for page in pages:
        tokens, cls = page.tokens, page.page.cls[page.page.counted]
        for difference in page.differences:
            if difference.operation == "garble":
                lost = [place for place in range(difference.first, difference.last) if page.lost[place]]
                if len(lost) == len(difference.read) and FORMULA not in cls[lost]:
                    for place, read in zip(lost, difference.read, strict=True):
                        if max(len(tokens[place]), len(read)) <= _LONGEST_WORD:
                            yield tokens[place], read
