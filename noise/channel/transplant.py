"""Carries a donor's losses over to a page: from what rate on each word is lost, and with which others."""

from dataclasses import dataclass

import numpy as np

from .donors import CLASSES, Choice, Donors, Ints
from .lines import Values, expit
from .pattern import Pattern

_BY_SCORE, _BY_SIZE, _BY_KIND, _BY_PLACE, _BY_CHANCE = 1.0, 0.7, 3.0, 1.0, 0.3
"""Weights in the distance of two lines: of their scores, log sizes, kinds and places on their pages; and of chance, so
that lines that look alike do not all follow one."""

_FEWEST = 10
"""Words of a class that a page must have; where it has fewer, those of the next pages count with them."""


@dataclass(frozen=True, slots=True)
class Losses:
    """What is lost at which rate.

    Args:
        rate: (words,) rate in (0, 1) above which each counted word is lost; below 0.5 for what the engine loses.
        event: (words,) number of the event that it is lost by: that of a run's first word; from `words` on, lines.
        all: whether the engine loses the whole page.
    """

    rate: Values
    event: Ints
    all: bool = False


def transplant(page: Pattern, donors: Donors, choice: Choice, rng: np.random.Generator) -> Losses:
    """Take over the losses of the pages that were chosen.

    A line follows the line of its kind that is most like it by score, size and place. What the donor's line did, given
    its chance, is a rank: [0, chance) if it was lost whole, otherwise [chance, 1). A line is lost whole if the rank is
    below its own chance, which is the same where both look alike. The words of the others follow the donor's words of
    their class, in order.
    """
    words, lines = len(page.cls), len(page.size)
    draws = rng.random((lines, 3))
    if donors.all_lost[choice.page]:
        rank = np.sqrt(rng.random() * draws[:, 0])  # the page's lines come together
        return Losses((rank / (1 + rank))[page.of_line], page.of_line + words, True)
    followed, gone = _lines(page, donors, choice, draws, rng)
    first = np.cumsum(page.size) - page.size
    begins, length = _words(page, donors, followed, first, draws[:, 2], rng)
    rate, event = _together(begins, length, first[page.of_line], (first + page.size)[page.of_line])
    by_line = gone[page.of_line]
    sooner = by_line < rate
    return Losses(np.where(sooner, by_line, rate), np.where(sooner, page.of_line + words, event))


def alone(page: Pattern, share: float, rng: np.random.Generator, *, lines: bool) -> Losses:
    """Lose words, or whole lines, each by itself with the same chance."""
    count = len(page.size) if lines else len(page.cls)
    rate = _rate(rng.random(count), np.full(count, share))
    if lines:
        return Losses(rate[page.of_line], page.of_line + len(page.cls), share == 1)
    return Losses(rate, np.arange(len(page.cls)), share == 1)


def _lines(
    page: Pattern, donors: Donors, choice: Choice, draws: Values, rng: np.random.Generator
) -> tuple[Ints, Values]:
    """Give for each line the donor's line (of all) whose words it follows, and the rate above which it is lost."""
    followed, gone = np.zeros(len(page.size), dtype=np.int64), np.zeros(len(page.size))
    for kind in np.unique(page.kind).tolist():
        mine = np.flatnonzero(page.kind == kind)
        number = donors.for_kind(choice, kind)
        other, whole = donors.pages[number], donors.whole[number]
        apart = _apart(page, mine, other) + _BY_CHANCE * rng.random((len(mine), len(other.size)))
        like = apart.argmin(1)
        effect = donors.effect[number]
        chance, own = expit(other.score[like] + effect), expit(page.score[mine] + effect)
        lost = whole[like]
        block = np.cumsum(np.diff(whole, prepend=False))  # lines that are lost together stay together
        rank = np.where(lost, chance * rng.random(len(whole) + 1)[block[like]], chance + (1 - chance) * draws[mine, 0])
        gone[mine] = _rate(rank, own)
        kept = np.flatnonzero(~whole)
        like[lost] = kept[apart[lost][:, kept].argmin(1)]
        followed[mine] = donors.first_line[number] + like
    return followed, gone


def _apart(page: Pattern, mine: Ints, other: Pattern) -> Values:
    """Give how unlike lines are, (mine, lines of the other page)."""
    place, there = _middle(page.size)[mine], _middle(other.size)
    made: Values = (
        _BY_SCORE * np.abs(page.score[mine, None] - other.score)
        + _BY_SIZE * np.abs(np.log(page.size[mine, None]) - np.log(other.size))
        + _BY_KIND * (page.kind[mine, None] != other.kind)
        + _BY_PLACE * np.abs(place[:, None] - there)
    )
    return made


def _middle(size: Ints) -> Values:
    return np.asarray((np.cumsum(size) - size / 2) / size.sum())


def _words(
    page: Pattern, donors: Donors, followed: Ints, first: Ints, shift: Values, rng: np.random.Generator
) -> tuple[Values, Ints]:
    """Give for each word the rate above which a run begins there, and how long the run is.

    Args:
        followed: (lines,) donor's line; `first` word of each line; `shift` draws that choose a part of a longer line.
    """
    cls, line = page.cls.astype(np.int64), page.of_line
    key = line * CLASSES + cls
    has = np.bincount(key, minlength=len(first) * CLASSES)
    at = donors.line_at[cls, followed[line]]
    room = np.maximum(donors.line_has[cls, followed[line]] - has[key] + 1, 1)
    number = np.searchsorted(donors.first_line, followed, side="right")[line] - 1
    low = donors.page_at[cls, number]
    count = np.maximum(donors.page_at[cls, number + 1] - low, _FEWEST)
    place = low + (at - low + (shift[line] * room).astype(np.int64) + _turn(key)) % count
    start = donors.starts[cls]
    place = start + (place - start) % np.maximum(donors.starts[cls + 1] - start, 1)
    length = np.where(donors.starts[cls + 1] > start, donors.tape[np.minimum(place, len(donors.tape) - 1)], 0)
    chance, draw = donors.begins[cls], rng.random(len(cls))
    rank = np.where(length > 0, chance * draw, chance + (1 - chance) * draw)
    return _rate(rank, chance), np.maximum(length, 1)


def _turn(key: Ints) -> Ints:
    """Count how many of a key came before, (words,)."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    made = np.empty(len(key), dtype=np.int64)
    made[order] = np.arange(len(key)) - np.repeat(begins, np.diff(np.append(begins, len(key))))
    return made


def _together(begins: Values, length: Ints, first: Ints, end: Ints) -> tuple[Values, Ints]:
    """Let each word be lost by the earliest of the runs that reach it; its line's words are [first, end).

    A run for which too little of the line is left begins as much earlier.
    """
    rate, event = begins.copy(), np.arange(len(begins))
    long = np.flatnonzero(length > 1)
    for place in long[np.argsort(begins[long], kind="stable")].tolist():
        last = min(place + int(length[place]), int(end[place]))
        reached = slice(max(last - int(length[place]), int(first[place])), last)
        sooner = rate[reached] > begins[place]
        rate[reached][sooner] = begins[place]
        event[reached][sooner] = place
    return rate, event


def _rate(rank: Values, chance: Values) -> Values:
    """Give the rate at which a rank in [0, 1] is reached: 0.5 where it is the chance; the rate multiplies the odds."""
    inside = np.clip([rank, chance], 1e-9, 1 - 1e-9)
    odds = np.log(inside / (1 - inside))
    return expit(odds[0] - odds[1])
