"""The pages of a fit: which of them is most like a page, what happened to its words and lines, and its losses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohr.errors import DataError

from .page_model import CELL, FORMULA, LINE_CLASSES, NAMES, NUMBER, Ints, Pattern, Values, changes, places
from .profile import Profile

FEATURES = ("one", "log_words", "log_line_words", "log_pages", "number", "formula", "cell")
"""The description of a page: logarithms of its words, of the words of a line and of the document's pages, and square
roots of the shares of words of a class, which set a few formulas apart from none."""

_CONTENT, _BY_CONTENT = slice(5, 7), 0.9
"""Features of formulas and cells, and their weight in the distance of pages, of which the expected loss has 1. Set by
hand on three domains of OHRBench, as _FAR and _FEWEST were."""

_FAR = 6.0
"""Expected losses beyond this logit (a quarter of a percent) count as equal."""

_FEWEST = 10
"""Words of a class that a page must have; where it has fewer, the next page with enough is followed."""


_LEAST_SPREAD = np.array([0.35, 0.35, 0.35, 0.1, 0.1, 0.1])
"""Standard deviations that features but the first have at least: half a doubling of a number, and of a share that of a
percent of the words. A profile without formulas is not infinitely far from a page with one."""


def describe(page: Pattern, pages: int) -> Values:
    """Describe a page of a document of so many pages, (len(FEATURES),); its losses do not count."""
    words, lines = max(len(page.cls), 1), max(len(page.size), 1)
    of = np.bincount(page.cls, minlength=len(NAMES))
    shares = np.sqrt(of[[NUMBER, FORMULA, CELL]] / words)
    return np.array([1, np.log(1 + words), np.log(1 + words / lines), np.log(pages), *shares])


@dataclass(frozen=True, slots=True)
class Followed:
    """The losses of a page's units, after the donor's units that they follow.

    Args:
        value: (units,) value of the followed unit; 0 where nothing happened to it.
        rate: (units,) rate of the channel above which something happens; below 0.5 where the donor's value is not 0.
    """

    value: Ints
    rate: Values


class Tape:
    """The losses of the donors' units (words or lines), by class of the unit, then page by page.

    Args:
        cls: for each page, class of each unit; `values` what happened to it, 0 for nothing.
        classes: number of classes; `fewest` units of a class that a page must have to be followed.
    """

    def __init__(self, cls: Sequence[NDArray[Any]], values: Sequence[Ints], classes: int, fewest: int) -> None:
        every, pages = np.concatenate(cls).astype(np.int64), len(cls)
        order = every.argsort(kind="stable")
        self.values: Ints = np.append(np.concatenate(values)[order], 0)
        key = every * pages + np.repeat(np.arange(pages), [len(one) for one in cls])
        self.count: Ints = np.bincount(key, minlength=classes * pages).reshape(classes, pages)
        self.begin: Ints = (np.cumsum(self.count) - self.count.ravel()).reshape(classes, pages)
        # of a class that is rare in the profile, one unit in twenty is lost; with more units it matters less
        happened = np.bincount(every, np.concatenate(values) > 0, classes)
        self.chance: Values = (happened + 1) / (self.count.sum(1) + 20)
        self.enough = self.count >= fewest

    def follow(self, cls: Ints, order: Ints, rng: np.random.Generator, *, together: bool = False) -> Followed:
        """Let units follow, in order, those of their class on the first page that has enough of it.

        Where something happened to the followed unit, given its chance, is a rank: [0, chance) if it did, otherwise
        [chance, 1). A rate multiplies the odds of the chance, so each rank has a rate from which on it is reached.

        Args:
            cls: (units,) class of each unit.
            order: pages, the one to follow first.
            together: draw one rank for all units to which something happened, so that they come and go together.
        """
        every = np.arange(len(self.count))
        page = order[self.enough[:, order].argmax(1)]
        begin, own = self.begin[every, page][cls], np.maximum(self.count[every, page], 1)[cls]
        turn = (rng.random(len(every))[cls] * own).astype(np.int64)
        held = self.count[every, page][cls] > 0
        value = np.where(held, self.values.take(begin + (_nth(cls) + turn) % own, mode="clip"), 0)
        chance, draw = self.chance[cls], rng.random(len(cls))
        draw = np.where(value > 0, rng.random(), draw) if together else draw
        rank = np.where(value > 0, chance * draw, chance + (1 - chance) * draw)
        return Followed(value, expit(logit(rank) - logit(chance)))


class Apart(NamedTuple):
    """How far pages are from the most similar ones of a profile.

    Args:
        distance: mean over the pages, in standard deviations of the profile's pages.
        feature: of FEATURES, the one that is farthest.
        here, there: its mean over the pages, and over those that they follow.
    """

    distance: float
    feature: str
    here: float
    there: float


class Donors:
    """All pages of a profile.

    Args:
        features: (pages, len(FEATURES)) see `describe`.
        lost: (pages,) share of words that is lost.
        places: (pages, 3) see `place`; `groups` numbers of the pages of each group.
        lines: which lines were lost whole; `words` how many words each run has that begins at a word, of the lines that
            were not lost whole.
    """

    def __init__(self, profile: Profile) -> None:
        try:
            self.pages = [Pattern.loads(page) for donor in profile.donors for page in donor.pages]
        except ValueError as error:
            raise DataError(f"not a channel profile: donors: {error}") from None
        size = [len(donor.pages) for donor in profile.donors for _ in donor.pages]
        self.lost: Values = np.array([page.lost.mean() for page in self.pages])
        self.weights = np.array([profile.severity.get(name, 0.0) for name in FEATURES])
        self.features = np.array([describe(page, count) for page, count in zip(self.pages, size, strict=True)])
        self.places = np.array([self._place(features) for features in self.features])
        named = np.array([donor.group for donor in profile.donors for _ in donor.pages])
        self.groups = {"": np.arange(len(self.pages))} | {name: places(named == name) for name in profile.groups}
        self.lines = Tape(
            [page.line_class for page in self.pages],
            [page.whole.astype(np.int64) for page in self.pages], LINE_CLASSES, 1,
        )  # fmt: skip
        kept = [~page.whole[page.of_line] for page in self.pages]
        self.words = Tape(
            [page.cls[here] for page, here in zip(self.pages, kept, strict=True)],
            [page.runs[here] for page, here in zip(self.pages, kept, strict=True)], len(NAMES), _FEWEST,
        )  # fmt: skip

    def place(self, page: Pattern, pages: int) -> Values:
        """Return where a page of a document of so many pages is, (3,): similar pages are near each other."""
        return self._place(describe(page, pages))

    def apart(self, group: str, pages: Values) -> Apart:
        """Compare (pages, len(FEATURES)) descriptions with the pages of a group that are most like them."""
        held = self.features[self.groups[group], 1:]
        unit, described = np.maximum(held.std(axis=0), _LEAST_SPREAD), pages[:, 1:]
        nearest = np.array([held[(((held - page) / unit) ** 2).sum(axis=1).argmin()] for page in described])
        away = (described - nearest) / unit
        worst = int(np.abs(away).mean(axis=0).argmax())
        distance = float(np.sqrt((away**2).sum(axis=1)).mean())
        return Apart(distance, FEATURES[1 + worst], float(described[:, worst].mean()), float(nearest[:, worst].mean()))

    def _place(self, features: Values) -> Values:
        return np.append(np.clip(features @ self.weights, -_FAR, _FAR), _BY_CONTENT * features[_CONTENT])

    def nearest(self, group: str, place: Values) -> Ints:
        """Return the pages of a group, the one nearest to a place first."""
        members = self.groups[group]
        order: Ints = members[((self.places[members] - place) ** 2).sum(1).argsort(kind="stable")]
        return order


def _nth(key: Ints) -> Ints:
    """Count how many of a key came before, (units,)."""
    order = np.argsort(key, kind="stable")
    place, made = np.arange(len(key)), np.empty(len(key), dtype=np.int64)
    made[order] = place - np.maximum.accumulate(np.where(changes(key[order]), place, 0))
    return made


def expit(score: Values) -> Values:
    """Return the chance of a score."""
    return np.asarray(1 / (1 + np.exp(-np.clip(score, -30, 30))))


def logit(chance: Values) -> Values:
    """Return the logarithm of the odds; chances of 0 and 1 have large ones."""
    inside = np.clip(chance, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(inside / (1 - inside)))


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
