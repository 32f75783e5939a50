"""Tunes a profile until it loses as many lines, units and words of each class as the engine did on the same pages.

Counting gives the chances of each level, but which events happen until a page has lost its share depends on all of
them at once. So the pages of the fit are perturbed at their own severities, and chances are scaled by what was lost
over what should have been (iterative proportional fitting).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .align import Aligned
from .events import candidates
from .page import CLASSES, KINDS, LINE_BINS, MARK
from .profile import ALL, Level, Profile, choose
from .severity import usual_share, usual_table
from .taking import FREE, take

_TURNS = 4
_MOST_PAGES = 1500
_PRIOR = 10.0
_MOST = 0.98
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Count:
    """What is lost in whole lines (by kind and length), whole units (by kind), and otherwise (by class and length)."""

    lines: Values
    units: Values
    words: Values

    @staticmethod
    def none() -> "_Count":
        """Give zeros."""
        return _Count(
            np.zeros((len(KINDS), len(LINE_BINS))), np.zeros(len(KINDS)), np.zeros((len(CLASSES), len(LINE_BINS)))
        )

    def add(self, page: Aligned, lost: NDArray[np.bool_]) -> None:
        """Count a page."""
        here, heads = page.page, page.page.line_start[:-1]
        size = np.add.reduceat(here.counted.astype(np.int64), heads)
        gone = (np.add.reduceat(lost.astype(np.int64), heads) == size) & (size > 0)
        np.add.at(self.lines, (here.line_kind[gone], here.line_bin[gone]), 1)
        rest = lost & ~gone[here.line]
        for first, last, kind in here.units.tolist():
            size_here = int(here.counted[first:last].sum())
            if size_here > 1 and rest[first:last].sum() == size_here:
                self.units[kind] += 1
                rest[first:last] = False
        np.add.at(self.words, (here.cls[rest], here.line_bin[here.line[rest]]), 1)


def tune(profile: Profile, pages: Sequence[Aligned]) -> Profile:
    """Scale the chances of a profile."""
    hit = [page for page in pages if 0 < page.share < 1]
    step = max(1, len(hit) // _MOST_PAGES)
    chosen = hit[::step]
    wanted = _Count.none()
    for page in chosen:
        wanted.add(page, page.lost.copy())
    for _ in range(_TURNS if chosen else 0):
        made = _Count.none()
        for number, page in enumerate(chosen):
            made.add(page, _lose(profile, page, np.random.default_rng(number)))
        factor = [
            np.clip((w + _PRIOR) / (m + _PRIOR), 0.5, 2.0) for w, m in zip(_parts(wanted), _parts(made), strict=True)
        ]
        profile = profile.model_copy(update={"levels": tuple(_scaled(level, *factor) for level in profile.levels)})
    return profile


def _parts(count: _Count) -> tuple[Values, Values, Values, Values]:
    return count.lines, count.units, count.words.sum(1), count.words.sum(0)


def _lose(profile: Profile, page: Aligned, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Give the words that the profile loses on a page of the same severity."""
    here, share = page.page, page.share
    usual = usual_share(here, usual_table(profile.usual))
    level = choose(profile.levels, share / usual, float(rng.random()))
    events = candidates(here, level, "channel", False, rng)
    words = share * float(here.counted.sum())
    lost: NDArray[np.bool_] = (np.array(take(here, events, words, words).word) != FREE) & here.counted
    return lost


def _scaled(level: Level, lines: Values, units: Values, classes: Values, lengths: Values) -> Level:
    if level.upto == ALL:
        return level
    changed = {
        "lines": {kind: _times(level.lines[kind], lines[k]) for k, kind in enumerate(KINDS)},
        "units": {
            kind: _times((level.units[kind],), units[k : k + 1])[0]
            for k, kind in enumerate(KINDS)
            if kind in level.units
        },
        "words": {
            name: _times((level.words[name],), classes[c : c + 1])[0] for c, name in enumerate(CLASSES) if c != MARK
        },
        "lengths": tuple(round(float(v), 3) for v in np.array(level.lengths) * lengths),
    }
    return level.model_copy(update=changed)


def _times(chances: Sequence[float], factors: Values) -> tuple[float, ...]:
    """Scale odds, so that a chance stays one."""
    chance = np.array(chances)
    odds = chance / (1 - chance) * factors
    return tuple(round(float(v), 5) for v in np.minimum(odds / (1 + odds), _MOST))
