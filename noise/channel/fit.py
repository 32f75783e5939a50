"""Fits a profile to pages of truth and what an engine read on them, aligned word by word."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from ohr.contracts import Span
from ohr.errors import DataError
from ohr.text.words import normalise

from .donors import FEATURES, describe, logit
from .page_model import FORMULA, Flags, Ints, PageWords, Pattern, read
from .profile import FROM, LONGEST_CONFUSION, OPERATIONS, RUNS, Confusion, Donor, Fit, Profile, Reading

_SIMILAR = 0.5
"""Least similarity of a run's letters and of what was read for it to call it misread: half of them are right."""

_MOVED = 0.8
"""Least share of a run's words that are found together elsewhere to call it moved: an engine that reads a run in
another place misreads some of it."""

_FEWEST_MOVED = 4
"""Words of a run that may be called moved: fewer are found elsewhere by chance."""

_COMPARED = 2000
"""Characters of a run that are compared; Levenshtein's time is quadratic."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Counted words [first, last) of the truth for which `read` was read."""

    first: int
    last: int
    read: tuple[str, ...]
    operation: str


@dataclass(frozen=True, slots=True)
class Aligned:
    """A page of truth, which of its counted words are lost, (counted,), and how."""

    document: str
    page: PageWords
    lost: Flags
    differences: tuple[Difference, ...]

    @property
    def tokens(self) -> list[str]:
        """The counted words as they are written."""
        page = self.page
        start, end = page.start[page.counted].tolist(), page.end[page.counted].tolist()
        return [page.text[low:high] for low, high in zip(start, end, strict=True)]


@lru_cache(maxsize=200_000)
def _normal(token: str) -> tuple[str, ...]:
    return tuple(normalise(token).split())


def align(document: str, truth: str, text: str) -> Aligned:
    """Find the words of the truth that are not in the longest common subsequence with what was read.

    Words are normalised as in the published scores, so that a word is lost here where it is lost there.
    """
    page = read(truth)
    words, raw = truth.split(), text.split()
    true_words, owner = _words([words[place] for place in page.counted.tolist()])
    read_words, source = _words(raw)
    lost = np.zeros(len(page.counted), dtype=bool)
    lost[owner] = True
    gaps: list[tuple[int, int, int, int]] = []
    at = place = 0
    for block in LCSseq.opcodes(true_words, read_words) if true_words else ():
        if block.tag == "equal":
            gaps.append((at, block.src_start, place, block.dest_start))
            at, place = block.src_end, block.dest_end
            lost[owner[block.src_start : block.src_end]] = False
    gaps.append((at, len(true_words), place, len(read_words)))
    spare = Counter(word for _, _, low, high in gaps for word in read_words[low:high])
    differences = []
    for first, last, low, high in gaps:
        if last > first:
            there = tuple(raw[number] for number in dict.fromkeys(source[low:high].tolist()))
            operation = _operation(true_words[first:last], read_words[low:high], spare)
            differences.append(Difference(int(owner[first]), int(owner[last - 1]) + 1, there, operation))
    return Aligned(document, page, lost, tuple(differences))


def _words(tokens: Iterable[str]) -> tuple[list[str], Ints]:
    """Return the normalised words of tokens, and the number of the token that each comes from."""
    found = [(word, place) for place, token in enumerate(tokens) for word in _normal(token)]
    return [word for word, _ in found], np.array([place for _, place in found], dtype=np.int64)


def _operation(lost: Sequence[str], there: Sequence[str], spare: Counter[str]) -> str:
    """Name what was done to lost words; those that are found elsewhere are taken from `spare`."""
    if there:
        letters, others = "".join(lost)[:_COMPARED], "".join(there)[:_COMPARED]
        if letters == others:
            return "respace"
        if Levenshtein.normalized_similarity(letters, others) >= _SIMILAR:
            return "garble"
    elsewhere = Counter(lost) & (spare - Counter(there)) if len(lost) >= _FEWEST_MOVED else Counter[str]()
    if elsewhere.total() >= max(_MOVED * len(lost), 1):
        spare.subtract(elsewhere)
        return "move"
    return "rewrite" if len(there) * 4 >= len(lost) else "delete"  # a stray sign in a hole is no other text


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
    drawn = []
    for number in np.random.default_rng(0).permutation(len(names)).tolist():
        if len(documents[names[number]]) <= room:
            drawn.append(names[number])
            room -= len(documents[names[number]])
    return sorted(drawn)


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
    for true, written in _misread_words(pages):
        changed = 0
        for (start, end), target in _changes(true, written):
            source = true[start:end]
            changed += max(len(source), len(target))
            short = max(len(source), len(target)) <= LONGEST_CONFUSION
            if source and short and normalise(source) != normalise(target):  # else the word is not lost by it
                tally[context(true, start), source, target] += 1
        shares.append(min(changed / len(true), 1.0))
        chances.update(true)
    confusions = tuple(
        Confusion(after, true, read, round(count / max(chances[true[0]], count), 5))
        for (after, true, read), count in sorted(tally.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CONFUSIONS]
    )
    steps = np.quantile(shares, _STEPS) if shares else np.array([0.2])
    return tuple(steps.round(3).tolist()), confusions


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
