"""Carries a donor's losses over to a page: above what rate each word is lost, and with which others."""

from dataclasses import dataclass

import numpy as np

from .donors import Donors, expit, logit
from .page_model import Ints, Pattern, Values, places


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses of a page, and the rate from which each of them occurs.

    Args:
        rate: (words,) rate in (0, 1) above which each counted word is lost; below 0.5 for what the engine loses.
        event: (words,) number of the event that it is lost by: that of a run's first word; from `words` on, lines.
        all: whether the engine loses the whole page.
    """

    rate: Values
    event: Ints
    all: bool = False


def transplant(page: Pattern, donors: Donors, order: Ints, rng: np.random.Generator) -> Losses:
    """Take over the losses of a donor's page.

    Each line follows a line of the donor's page of its kind and size, and is lost whole where that one is. The words of
    the other lines follow the donor's words of their class: where a run of lost words begins, one of the same length
    begins.
    """
    words, line = len(page.cls), page.of_line
    whole = bool(donors.lost[order[0]] == 1)
    lines = donors.lines.follow(page.line_class, order, rng, together=whole)
    runs = donors.words.follow(page.cls.astype(np.int64), order, rng)
    end = np.cumsum(page.size)
    rate, event = _spread(runs.rate, np.maximum(runs.value, 1), (end - page.size)[line], end[line])
    by_line = lines.rate[line]
    sooner = by_line < rate
    return Losses(np.where(sooner, by_line, rate), np.where(sooner, line + words, event), whole)


def alone(page: Pattern, share: float, rng: np.random.Generator, *, lines: bool) -> Losses:
    """Lose words, or whole lines, each by itself with the same chance."""
    count = len(page.size) if lines else len(page.cls)
    rate = expit(logit(rng.random(count)) - logit(np.full(count, share)))
    if lines:
        return Losses(rate[page.of_line], page.of_line + len(page.cls), share == 1)
    return Losses(rate, np.arange(len(page.cls)), share == 1)


def _spread(begins: Values, length: Ints, first: Ints, end: Ints) -> tuple[Values, Ints]:
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
