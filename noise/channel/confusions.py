"""Counts which characters are read for which, and behind what."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from rapidfuzz.distance import Levenshtein

from ohr.contracts import Span
from ohr.text.words import normalise

from .align import Aligned
from .page import FORMULA, STRAY
from .profile import Confusion

After = Literal["start", "letter", "digit", "mark"]
_MOST = 400
_LONGEST = 2


def context(token: str, place: int) -> After:
    """Give the class of the character before a place in a word."""
    if place == 0:
        return "start"
    before = token[place - 1]
    return "letter" if before.isalpha() else "digit" if before.isdigit() else "mark"


def count_confusions(pages: Sequence[Aligned]) -> tuple[tuple[float, ...], tuple[Confusion, ...]]:
    """Give the shares of characters that change in misread words, at equal steps of probability, and the confusions."""
    tally: Counter[tuple[After, str, str]] = Counter()
    shares: list[float] = []
    chances: Counter[str] = Counter()
    for true, read in _pairs(pages):
        changed = 0
        for (start, end), target in _changes(true, read):
            source = true[start:end]
            changed += max(len(source), len(target))
            if len(source) <= _LONGEST and len(target) <= _LONGEST and normalise(source) != normalise(target):
                tally[context(true, start), source, target] += 1
        shares.append(min(changed / len(true), 1.0))
        chances.update(true)
    common = [item for item in tally.most_common(_MOST) if item[1] > 1] or tally.most_common(_MOST)
    made = tuple(
        Confusion(
            after=after, true=true, read=read, count=count, share=round(count / max(chances[true[:1]], count, 1), 5)
        )
        for (after, true, read), count in sorted(common, key=lambda item: (-item[1], item[0]))
    )
    steps = np.quantile(shares, np.linspace(0, 1, 11)) if shares else np.full(11, 0.2)
    return tuple(round(float(step), 3) for step in steps), made


def _changes(true: str, read: str) -> Iterator[tuple[Span, str]]:
    """Give each stretch of characters that differs, and what was read for it."""
    start = place = 0
    for block in [*Levenshtein.opcodes(true, read), None]:
        if block is not None and block.tag != "equal":
            continue
        end, upto = (block.src_start, block.dest_start) if block else (len(true), len(read))
        if end > start or upto > place:
            yield (start, end), read[place:upto]
        if block:
            start, place = block.src_end, block.dest_end


def _pairs(pages: Sequence[Aligned]) -> Iterator[tuple[str, str]]:
    """Give words that were misread one by one, as they stand."""
    for page in pages:
        words = page.page
        for difference in page.differences:
            if difference.operation != "garble":
                continue
            places = [p for p in range(difference.first, difference.last) if page.lost[p]]
            if len(places) != len(difference.read) or any(words.cls[p] in (FORMULA, STRAY) for p in places):
                continue
            for place, read in zip(places, difference.read, strict=True):
                true = words.text[words.start[place] : words.end[place]]
                if len(true) <= 40 and len(read) <= 40:
                    yield true, read
