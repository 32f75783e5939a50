"""The pages of a fit, as arrays: which of them is most like a page, in a document that is like its document."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ohr.errors import DataError

from .lines import Values, expit
from .page import CELL, CELL_ALONE, CELL_NOTATION, CELL_NUMBER, FORMULA, NAMES, places
from .pattern import Pattern
from .profile import Profile

Ints = NDArray[np.int64]
CLASSES = len(NAMES)
FEATURES = (
    "all", "log_words", "log_words_squared", "log_line_words", "log_line_words_squared", "log_pages",
    "log_pages_squared", "log_lines", *NAMES[1:], "owed", "root_owed", "lines_owed", "root_lines_owed",
)  # fmt: skip
"""What is looked at in a page: logarithms of its words, of those of a line, of the document's pages, of lines; square
roots of the shares of words by class; shares of words and of lines that its lines' looks let expect lost."""

_SIZES = [FEATURES.index(name) for name in ("log_words", "log_line_words", "log_pages")]
_FORMULA = FEATURES.index(NAMES[FORMULA])
_CELLS = [FEATURES.index(NAMES[cls]) for cls in (CELL, CELL_NUMBER, CELL_NOTATION, CELL_ALONE)]

_LENGTH, _CONTENT, _SCORE = 0.3, 0.9, 1.0
"""Weights in the distance of pages of their sizes, of the kinds of content, and of the expected loss."""

_FAR = 6.0
"""Expected losses are not told apart beyond this logit."""

_SPREAD, _STEPS = 2.0, 20
"""Standard deviation of what a page adds to the logits of its lines, and Newton's steps to find it."""

_LIKE, _NEAREST, _STRANGER, _LEAST_LINES = 15, 3, 0.2, 2
"""Pages that vote for their document; of which one is drawn; distance that pages of other documents are set back;
lines of a kind that a page must have to stand for it."""


def features(page: Pattern, pages: int) -> Values:
    """Describe a page of a document of so many pages, (len(FEATURES),); what is lost does not count."""
    words, chance = max(len(page.cls), 1), expit(page.score)
    logs = np.log([1 + words, 1 + words / max(len(page.size), 1), max(pages, 1), max(len(page.size), 1)])
    owed = np.array([(chance * page.size).sum() / words, chance.sum() / max(len(chance), 1)])
    shares = np.bincount(page.cls, minlength=CLASSES)[1:] / words
    plain = np.array([1, logs[0], logs[0] ** 2, logs[1], logs[1] ** 2, logs[2], logs[2] ** 2, logs[3]])
    return np.concatenate([plain, np.sqrt(shares), [owed[0], np.sqrt(owed[0]), owed[1], np.sqrt(owed[1])]])


@dataclass(frozen=True, slots=True)
class Group:
    """Pages to choose from.

    Args:
        members: (pages,) numbers of the pages, `places` where they lie, (pages, 6).
        weights: of features, for the expected loss.
    """

    members: Ints
    places: Values
    weights: Values

    def place(self, features: Values) -> Values:
        """Give where pages lie among those of the group, (pages, 6), by their features."""
        return _place(features, self.weights)


@dataclass(frozen=True, slots=True)
class Choice:
    """The page that was drawn, and how far each of the group's `members` is `apart` from the page it is drawn for."""

    page: int
    members: Ints
    apart: Values


class Donors:
    """All pages of a profile.

    Args:
        effect: (pages,) what each adds to the logits that its lines are lost whole.
        first_line: (pages + 1,) where a page's lines begin among all; `page_of_line` (lines,) whose they are.
        tape: runs of all words in lines that are not wholly lost, by class, then page by page; a class begins at
            `starts`. `line_at` (classes, lines) where a line's words of the class begin, `line_has` how many it has,
            `page_at` (classes, pages + 1) where a page's begin.
    """

    def __init__(self, profile: Profile) -> None:
        try:
            self.pages = [Pattern.loads(page) for donor in profile.donors for page in donor.pages]
        except ValueError as error:
            raise DataError(f"not a channel profile: donors: {error}") from None
        size = [len(donor.pages) for donor in profile.donors]
        self.document: Ints = np.repeat(np.arange(len(size)), size)
        self.whole = [page.whole for page in self.pages]
        self.all_lost = np.array([whole.all() for whole in self.whole])
        self.effect = _effects(self.pages, self.whole)
        self.has = np.array([np.bincount(page.kind, minlength=3) >= _LEAST_LINES for page in self.pages])
        described = np.array([features(page, size[n]) for page, n in zip(self.pages, self.document, strict=True)])
        named = np.array([donor.group for donor in profile.donors])[self.document]
        self.groups = {}
        for name, group in profile.groups.items():
            weights = np.array([group.weights.get(feature, 0.0) for feature in FEATURES])
            own = np.flatnonzero(named == name)
            members = own if len(own) else np.arange(len(self.pages))  # the group of all, or none of it was kept
            self.groups[name] = Group(members, _place(described[members], weights), weights)
        self._wind()

    def _wind(self) -> None:
        count = [len(page.size) for page in self.pages]
        self.first_line: Ints = np.concatenate([[0], np.cumsum(count)])
        self.page_of_line: Ints = np.repeat(np.arange(len(count)), count)
        self.score: Values = np.concatenate([page.score for page in self.pages])
        self.lost = np.concatenate(self.whole)
        cls, run, line = [], [], []
        for number, page in enumerate(self.pages):
            kept = ~self.whole[number][page.of_line]
            cls.append(page.cls[kept])
            run.append(page.runs[kept])
            line.append(page.of_line[kept] + self.first_line[number])
        every, runs, lines = np.concatenate(cls), np.concatenate(run), np.concatenate(line)
        order = np.argsort(every, kind="stable")
        self.tape: Ints = np.append(runs[order], 0)
        self.starts: Ints = np.searchsorted(every[order], np.arange(CLASSES + 1))
        self.count: Ints = np.diff(self.starts)
        at = every[order].astype(np.int64) * self.first_line[-1] + lines[order]
        wanted = np.arange(CLASSES)[:, None] * self.first_line[-1] + np.arange(self.first_line[-1])
        self.line_at: Ints = np.searchsorted(at, wanted)
        self.line_has: Ints = np.searchsorted(at, wanted, side="right") - self.line_at
        ends = np.arange(CLASSES)[:, None] * self.first_line[-1] + self.first_line
        self.page_at: Ints = np.searchsorted(at, ends)
        tape = self.tape[:-1]
        begins = np.bincount(every[order], tape > 0, CLASSES)
        self.begins: Values = (begins + 1) / (self.count + 20)

    def document_like(self, group: Group, places: Values, draw: float) -> int:
        """Draw a document: each of the given pages has a vote for each of the pages that are most like it.

        Args:
            places: (pages, 6).
        """
        apart = ((places[:, None] - group.places) ** 2).sum(2)
        like = min(_LIKE, len(group.members))
        votes = self.document[group.members[np.argpartition(apart, like - 1, axis=1)[:, :like]]]
        return int(np.sort(votes, axis=None)[int(draw * votes.size)])

    def page_like(self, group: Group, place: Values, document: int, draw: float) -> Choice:
        """Draw one of the pages that are most like a page; those of other documents than `document` are set back."""
        strange = self.document[group.members] != document
        apart = ((group.places - place) ** 2).sum(1) + _STRANGER * strange
        count = min(_NEAREST, len(apart))
        near = places(apart <= np.partition(apart, count - 1)[count - 1])
        order = near[np.argsort(apart[near], kind="stable")]
        return Choice(int(group.members[order[int(draw * count)]]), group.members, apart)

    def for_kind(self, choice: Choice, kind: int) -> int:
        """Give the drawn page, or the next one that has lines of a kind."""
        if self.has[choice.page, kind]:
            return choice.page
        fitting = places((self.has[:, kind] & ~self.all_lost)[choice.members])
        return int(choice.members[fitting[choice.apart[fitting].argmin()]]) if len(fitting) else choice.page


def _effects(pages: Sequence[Pattern], whole: Sequence[NDArray[np.bool_]]) -> Values:
    """Give what each page adds to the logits of its lines, (pages,): the likeliest, where such effects are normal."""
    owner = np.repeat(np.arange(len(pages)), [len(page.size) for page in pages])
    score = np.clip(np.concatenate([page.score for page in pages]), -_FAR, _FAR)
    lost, made, prior = np.bincount(owner, np.concatenate(whole)), np.zeros(len(pages)), 1 / _SPREAD**2
    for _ in range(_STEPS):
        chance = expit(score + made[owner])
        slope = lost - np.bincount(owner, chance) - made * prior
        made += np.clip(slope / (np.bincount(owner, chance * (1 - chance)) + prior), -1, 1)
    return made


def _place(described: Values, weights: Values) -> Values:
    """Say where pages lie: by expected loss, sizes, and kinds of content; (pages, 6)."""
    made = np.empty((len(described), 6))
    made[:, 0] = _SCORE * np.minimum(np.maximum(described @ weights, -_FAR), _FAR)
    made[:, 1:4] = _LENGTH * described[:, _SIZES]
    made[:, 4] = _CONTENT * described[:, _FORMULA]
    made[:, 5] = _CONTENT * np.sqrt((described[:, _CELLS] ** 2).sum(axis=1))  # shares come as square roots
    return made


def described(pages: Sequence[Pattern], count: int | None = None) -> Values:
    """Describe pages of one document, (pages, len(FEATURES)); `count` is how many it has, if they are not all."""
    return np.array([features(page, count or len(pages)) for page in pages])
