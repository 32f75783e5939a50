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
from .clusters import LARGEST
from .events import candidates
from .page import CLASSES, KINDS, LINE_BINS, MARK, STRETCH
from .profile import ALL, Level, Profile, choose
from .severity import usual_share, usual_table
from .taking import FREE, take

_TURNS = 5
_RUNS = (1, 2, 4, 10)
_LONG = LINE_BINS.index(STRETCH)
_MOST_PAGES = 1500
_PRIOR = 10.0
_MOST = 0.98
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Count:
    """What is lost in whole lines (by kind and length), whole units (by kind), and otherwise (by class and length).

    `runs` counts the runs of lost words by their length, over the ends of lines; `stretches` those of long lines with
    a loss, which are the fewer the more it clusters.
    """

    lines: Values
    units: Values
    words: Values
    runs: Values
    stretches: Values

    @staticmethod
    def none() -> "_Count":
        """Give zeros."""
        return _Count(
            np.zeros((len(KINDS), len(LINE_BINS))),
            np.zeros(len(KINDS)),
            np.zeros((len(CLASSES), len(LINE_BINS))),
            np.zeros(len(_RUNS)),
            np.zeros(1),
        )

    def add(self, page: Aligned, lost: NDArray[np.bool_]) -> None:
        """Count a page."""
        here, heads = page.page, page.page.line_start[:-1]
        change = np.flatnonzero(np.diff(np.concatenate([[0], lost[here.counted].astype(np.int8), [0]])))
        bins = np.searchsorted(_RUNS, change[1::2] - change[::2], side="right") - 1
        self.runs[:] += np.bincount(bins, minlength=len(_RUNS))
        size = np.add.reduceat(here.counted.astype(np.int64), heads)
        gone = (np.add.reduceat(lost.astype(np.int64), heads) == size) & (size > 0)
        np.add.at(self.lines, (here.line_kind[gone], here.line_bin[gone]), 1)
        rest = lost & ~gone[here.line]
        for first, last, kind in here.units.tolist():
            size_here = int(here.counted[first:last].sum())
            if size_here > 1 and rest[first:last].sum() == size_here:
                self.units[kind] += 1
                rest[first:last] = False
        self.stretches[0] += len(np.unique(here.stretch[rest & (here.line_bin[here.line] >= _LONG)]))
        np.add.at(self.words, (here.cls[rest], here.line_bin[here.line[rest]]), 1)

    def parts(self) -> tuple[Values, ...]:
        """Give what the chances are scaled by."""
        return self.lines, self.units, self.words.sum(1), self.words.sum(0), self.runs, self.stretches


def tune(profile: Profile, pages: Sequence[Aligned]) -> Profile:
    """Scale the chances of a profile, those of each band of severity by its own pages."""
    hit = [page for page in pages if 0 < page.share < 1]
    chosen = hit[:: max(1, len(hit) // _MOST_PAGES)]
    usual = usual_table(profile.usual)
    severity = [page.share / usual_share(page.page, usual) for page in chosen]
    bands = [choose(profile.levels, value, 0.0).upto for value in severity]
    wanted = {level.upto: _Count.none() for level in profile.levels}
    for page, band in zip(chosen, bands, strict=True):
        wanted[band].add(page, page.lost.copy())
    for _ in range(_TURNS if chosen else 0):
        made = {band: _Count.none() for band in wanted}
        for number, (page, value, band) in enumerate(zip(chosen, severity, bands, strict=True)):
            made[band].add(page, lose(profile, page, value, np.random.default_rng(number)))
        factors = {
            band: [_ratio(*pair) for pair in zip(wanted[band].parts(), made[band].parts(), strict=True)]
            for band in wanted
        }
        levels = tuple(_scaled(level, *factors[level.upto]) for level in profile.levels)
        profile = profile.model_copy(update={"levels": levels})
    return profile


def _ratio(wanted: Values, made: Values) -> Values:
    return np.clip((wanted + _PRIOR) / (made + _PRIOR), 0.5, 2.0)


def lose(profile: Profile, page: Aligned, severity: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Give the words that the profile loses on a page of the same severity."""
    here = page.page
    level = choose(profile.levels, severity, float(rng.random()))
    events = candidates(here, level, "channel", False, rng)
    words = page.share * float(here.counted.sum())
    lost: NDArray[np.bool_] = (np.array(take(here, events, words, words).word) != FREE) & here.counted
    return lost


def _scaled(
    level: Level, lines: Values, units: Values, classes: Values, lengths: Values, runs: Values, stretches: Values
) -> Level:
    if level.upto == ALL:
        return level
    bins = [int(np.searchsorted(_RUNS, value, side="right")) - 1 for value, _ in level.word_runs]
    changed: dict[str, object] = {
        "spread": {**level.spread, "stretch": _wider(level.spread["stretch"], float(stretches[0]))},
        "word_runs": tuple(
            (value, round(count * float(runs[b]), 2)) for (value, count), b in zip(level.word_runs, bins, strict=True)
        ),
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


def _wider(spread: float, factor: float) -> float:
    """Spread more where fewer stretches should be hit."""
    return round(float(np.clip((1 + spread) / factor**2 - 1, 0.0, LARGEST)), 3)


def _times(chances: Sequence[float], factors: Values) -> tuple[float, ...]:
    """Scale odds, so that a chance stays one."""
    chance = np.array(chances)
    odds = chance / (1 - chance) * factors
    return tuple(round(float(v), 5) for v in np.minimum(odds / (1 + odds), _MOST))
