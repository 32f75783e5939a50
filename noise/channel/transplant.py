"""Carries a donor's losses over to a page: from what rate on each word is lost, and with which others."""

from dataclasses import dataclass

import numpy as np

from .donors import CLASSES, Choice, Donors, Ints
from .lines import Values, expit
from .page import changes, places
from .pattern import Pattern

_BY_SCORE, _BY_SIZE, _BY_KIND, _BY_PLACE, _BY_CHANCE = 1.0, 0.7, 3.0, 1.0, 0.3
"""Weights in the distance of two lines: of their scores, log sizes, kinds and places on their pages; and of chance, so
that lines that look alike do not all follow one."""

_SINGLE = 2.0
"""How many times a strength counts for a word that is lost alone: where fewer runs are lost, fewer of them meet, and a
larger share would be lost alone than by the engine."""

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


def transplant(page: Pattern, donors: Donors, choice: Choice, rng: np.random.Generator, strength: Values) -> Losses:
    """Take over the losses of the pages that were chosen.

    Args:
        strength: (lines,) added to the rate's logit for words of lines that are not lost whole.

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
    end = np.cumsum(page.size)
    begins, length = _words(page, donors, followed, draws[:, 2], rng)
    line = page.of_line
    rate, event = _together(begins, length, (end - page.size)[line], end[line])
    single = np.bincount(event)[event] == 1
    rate = expit(_logit(rate) - strength[line] * np.where(single, _SINGLE, 1))
    by_line = gone[line]
    sooner = by_line < rate
    return Losses(np.where(sooner, by_line, rate), np.where(sooner, line + words, event))


def alone(page: Pattern, share: float, rng: np.random.Generator, *, lines: bool) -> Losses:
    """Lose words, or whole lines, each by itself with the same chance."""
    count = len(page.size) if lines else len(page.cls)
    rate = expit(_logit(rng.random(count)) - _logit(np.full(count, share)))
    if lines:
        return Losses(rate[page.of_line], page.of_line + len(page.cls), share == 1)
    return Losses(rate, np.arange(len(page.cls)), share == 1)


def _lines(
    page: Pattern, donors: Donors, choice: Choice, draws: Values, rng: np.random.Generator
) -> tuple[Ints, Values]:
    """Give for each line the donor's line (of all) whose words it follows, and the rate above which it is lost."""
    like, followed = np.zeros(len(page.size), dtype=np.int64), np.zeros(len(page.size), dtype=np.int64)
    together, apart = np.zeros(len(page.size)), {}
    for kind in sorted(set(page.kind.tolist())):
        mine = places(page.kind == kind)
        number = donors.for_kind(choice, kind)
        other, begin = donors.pages[number], donors.first_line[number]
        if number not in apart:
            apart[number] = _apart(page, other)
        distance = apart[number][mine] + _BY_CHANCE * rng.random((len(mine), len(other.size)))
        nearest = distance.argmin(1)
        like[mine] = begin + nearest
        together[mine] = rng.random(len(other.size) + 1)[other.block[nearest]]
        followed[mine] = begin + other.kept[distance[:, other.kept].argmin(1)]
    effect = donors.effect[donors.page_of_line[like]]
    chance, own = expit(donors.score[like] + effect), expit(page.score + effect)
    rank = np.where(donors.lost[like], chance * together, chance + (1 - chance) * draws[:, 0])
    return followed, expit(_logit(rank) - _logit(own))


def _apart(page: Pattern, other: Pattern) -> Values:
    """Give how unlike lines are, (lines, lines of the other page)."""
    made: Values = _BY_SCORE * np.abs(page.score[:, None] - other.score)
    made += _BY_SIZE * np.abs(page.log_size[:, None] - other.log_size)
    made += _BY_KIND * (page.kind[:, None] != other.kind)
    made += _BY_PLACE * np.abs(page.middle[:, None] - other.middle)
    return made


def _words(
    page: Pattern, donors: Donors, followed: Ints, shift: Values, rng: np.random.Generator
) -> tuple[Values, Ints]:
    """Give for each word the rate above which a run begins there, and how long the run is.

    Args:
        followed: (lines,) donor's line; `shift` draws that choose a part of a longer line.
    """
    cls, line = page.cls.astype(np.int64), page.of_line
    key = line * CLASSES + cls
    has = np.bincount(key)
    same = cls * donors.line_at.shape[1] + followed[line]  # the words of the class in the donor's line
    at = donors.line_at.take(same)
    room = np.maximum(donors.line_has.take(same) - has[key] + 1, 1)
    beside = cls * donors.page_at.shape[1] + donors.page_of_line[followed][line]  # those on the donor's page
    low = donors.page_at.take(beside)
    count = np.maximum(donors.page_at.take(beside + 1) - low, _FEWEST)
    place = low + (at - low + (shift[line] * room).astype(np.int64) + _turn(key)) % count
    start, every = donors.starts[cls], donors.count[cls]
    place = start + (place - start) % np.maximum(every, 1)
    length = np.where(every > 0, donors.tape.take(place, mode="clip"), 0)
    chance, draw = donors.begins[cls], rng.random(len(cls))
    rank = np.where(length > 0, chance * draw, chance + (1 - chance) * draw)
    return expit(_logit(rank) - _logit(donors.begins)[cls]), np.maximum(length, 1)


def _turn(key: Ints) -> Ints:
    """Count how many of a key came before, (words,)."""
    order = np.argsort(key, kind="stable")
    place = np.arange(len(key))
    made = np.empty(len(key), dtype=np.int64)
    made[order] = place - np.maximum.accumulate(np.where(changes(key[order]), place, 0))
    return made


def _together(begins: Values, length: Ints, first: Ints, end: Ints) -> tuple[Values, Ints]:
    """Let each word be lost by the earliest of the runs that reach it; its line's words are [first, end).

    A run for which too little of the line is left begins as much earlier.
    """
    own = np.arange(len(begins))
    long = places(length > 1)
    run = long[np.argsort(begins[long], kind="stable")[::-1]]  # the earliest is the last
    last = np.minimum(run + length[run], end[run])
    low = np.maximum(last - length[run], first[run])
    upto = np.cumsum(last - low)
    reached = np.arange(upto[-1:].sum()) - np.repeat(upto - last, last - low)
    event = own.copy()
    event[reached] = np.repeat(run, last - low)  # where several runs reach a word, the last that is written stays
    event = np.where(begins[event] < begins, event, own)
    return begins[event], event


def _logit(chance: Values) -> Values:
    """Give the logarithm of the odds; a rank less a chance gives the logit of the rate at which the rank is reached."""
    inside = np.minimum(np.maximum(chance, 1e-9), 1 - 1e-9)
    return np.asarray(np.log(inside / (1 - inside)))
