"""Writes what is read in place of the words that are lost."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ohr.contracts import Edit

from .donors import Losses
from .fit import context
from .page_model import Flags, Ints, PageWords, Values, changes, places
from .profile import FROM, OPERATIONS, RUNS, Profile

DELETE, GARBLE, RESPACE, REWRITE, MOVE = range(len(OPERATIONS))

_FITTED = 0.5
"""The rate at which the channel is the engine as fitted."""

_LONGEST = 400
"""Characters of a word that may be misread; a page may be one long word."""

_FREQUENT = {"lower": "etaoinsrhldcumfpgwybvkxjqz", "upper": "ETAOINSRHLDCUMFPGWYBVKXJQZ", "digit": "0183564297"}
"""Letters by their frequency in English, and digits: what replaces a character whose confusions are not known."""

_ROTATIONS = [
    str.maketrans("".join(_FREQUENT.values()), "".join(sign[turn:] + sign[:turn] for sign in _FREQUENT.values()))
    for turn in range(1, 10)
]
_FOREIGN = re.compile(r"[^\W\d_\x00-\x7f]")
_UNKNOWN = {True: 1e-3, False: 1e-6}
"""Weights of characters that were never seen to change: letters and digits, other signs. Below any that is known."""

_Options = tuple[tuple[str, str, float], ...]


class Habits:
    """A profile's reading and confusions, ready to draw from.

    Args:
        operations: (RUNS, OPERATIONS) running sums of shares.
        confusions: by class of the character before and first character: true, read, and the running sum of shares.
    """

    def __init__(self, profile: Profile) -> None:
        reading = profile.reading
        self.operations: Values = np.cumsum([[reading.operations[run][one] for one in OPERATIONS] for run in RUNS], 1)
        self.misread = reading.misread
        self.confusions: dict[tuple[str, str], _Options] = {}
        for after, true, read, share in profile.confusions:
            if true and share > 0:  # among very many characters a share may be rounded to none
                here = self.confusions.get((after, true[0]), ())
                self.confusions[after, true[0]] = (*here, (true, read, (here[-1][2] if here else 0) + share))


@dataclass(frozen=True, slots=True)
class Writer:
    """Makes the edits of a page; nothing that is drawn depends on the rate.

    Args:
        eligible: (words,) of all words, marks included; `joined` whether a word is in the same span as the one before.
        plain: only leave out what is lost: for baselines, and pages on which nothing is read.
        draws: (counted, 3) uniform draws; `signs` (characters, 2).
    """

    page: PageWords
    eligible: Flags
    joined: Flags
    losses: Losses
    habits: Habits
    plain: bool
    draws: Values
    signs: Values

    def edits(self, rate: float) -> Iterator[Edit]:
        """Yield the edits at a rate."""
        return self._replaced(*self._pieces(rate))

    def _linked(self) -> Flags:
        """(counted,) whether a word is lost together with the one before it, with all between them eligible."""
        where, event = self.page.counted, self.losses.event
        broken = places(~self.joined).searchsorted(where, side="right")
        return ~changes(event) & ~changes(broken)

    def _pieces(self, rate: float) -> tuple[Ints, Ints]:
        """Return the first and the last of the counted words of each piece that is lost together."""
        lost = (self.losses.rate < rate) & self.eligible[self.page.counted]
        follows = np.zeros(len(lost) + 1, dtype=bool)
        follows[1:-1] = lost[1:] & lost[:-1] & self._linked()[1:]
        return places(lost & ~follows[:-1]), places(lost & ~follows[1:])

    def _operations(self, first: Ints) -> Ints:
        """Choose an operation for each piece, the same for all pieces of an event."""
        if self.plain:
            return np.full(len(first), DELETE)
        _, begin, event, count = np.unique(
            self.losses.event, return_index=True, return_inverse=True, return_counts=True
        )
        own = event[first]
        upto = self.habits.operations[np.searchsorted(FROM, count[own], side="right")]
        chosen: Ints = (self.draws[begin[own], :1] * upto[:, -1:] >= upto).sum(axis=1)
        return np.minimum(chosen, len(OPERATIONS) - 1)

    def _replaced(self, first: Ints, last: Ints) -> Iterator[Edit]:
        page, draw = self.page, self.draws[first, 1]
        low, high = page.counted[first], page.counted[last]
        share = _quantile(self.habits.misread, draw)
        found = self._operations(first), first, low, high, page.start[low], page.end[high], self._gap(high), draw, share
        for operation, word, at, upto, start, end, gap, aim, part in zip(*(v.tolist() for v in found), strict=True):
            text = page.text[start:end]
            if operation in (DELETE, MOVE):
                target = self._target(word) if operation == MOVE else None
                if target is not None and not start <= target <= end:
                    yield Edit("move", target, target, f"{text}\n")
                yield Edit("delete", start, gap, "", page.text[start:gap])
            elif operation == GARBLE:
                yield Edit("garble", start, end, self._garbled(at, upto + 1, part), text)
            elif operation == RESPACE:
                yield Edit("respace", start, end, respace(text.split(), aim), text)
            else:
                yield Edit("rewrite", start, end, rewrite(text, aim), text)

    def _gap(self, last: Ints) -> Ints:
        """Return the end of the white space behind a piece that goes with it: that before a word of the same line."""
        page, after = self.page, np.minimum(last + 1, len(self.page.start) - 1)
        goes = self.joined[after] & (page.row[after] == page.row[last]) & (after > last)
        return np.where(goes, page.start[after], page.end[last])

    def _target(self, word: int) -> int | None:
        """Choose the line before which moved words are written; beyond the loss as fitted they are only lost."""
        line = int(self.draws[word, 2] * len(self.page.size))
        first = int(self.page.counted[self.page.size[:line].sum()])
        near = self.eligible[first] and self.losses.rate[word] < _FITTED
        return int(self.page.start[first]) if near else None

    def _garbled(self, low: int, high: int, share: float) -> str:
        text, starts, ends = self.page.text, self.page.start[low:high].tolist(), self.page.end[low:high].tolist()
        parts, first, before = [], starts[0], starts[0]
        signs = self.signs[first : ends[-1]].tolist()
        for start, end in zip(starts, ends, strict=True):
            draws = signs[start - first : end - first]
            parts += [text[before:start], misread(text[start:end], self.habits.confusions, draws, share)]
            before = end
        return "".join(parts)


def _quantile(steps: Sequence[float], draw: Values) -> Values:
    """Return quantiles of a distribution that is given at equal steps of probability."""
    return np.interp(draw * (len(steps) - 1), np.arange(len(steps)), steps)


def misread(
    word: str, confusions: Mapping[tuple[str, str], _Options], draws: Sequence[Sequence[float]], share: float
) -> str:
    """Change so many characters of a word, by likely confusions, at least one letter or digit.

    Args:
        draws: for each character two uniform draws: whether it changes, and into what.
        share: share of the characters to change.
    """
    head = word[:_LONGEST]
    options = [confusions.get((context(head, place), sign), ()) for place, sign in enumerate(head)]
    weights = [of[-1][2] if of else _UNKNOWN[sign.isalnum()] for of, sign in zip(options, head, strict=True)]
    # the k smallest of uniform draws over weights are k places drawn by weight
    order = sorted(range(len(head)), key=lambda place: draws[place][0] / weights[place])
    made, before = [], 0
    for place in sorted(order[: max(1, round(share * len(head)))]):
        if place >= before:
            true, read = _choose(head, place, options[place], draws[place][1])
            made += [head[before:place], read]
            before = place + len(true)
    return "".join(made) + word[before:]


def _choose(word: str, place: int, options: _Options, draw: float) -> tuple[str, str]:
    aim = draw * options[-1][2] if options else 0.0
    for true, read, upto in options:
        if aim < upto and word.startswith(true, place):
            return true, read
    sign = word[place]
    others = _FREQUENT["digit" if sign.isdigit() else "upper" if sign.isupper() else "lower"].replace(sign, "")
    return sign, others[int(draw * draw * len(others))]


def rewrite(word: str, draw: float) -> str:
    """Replace all letters and digits by others, those of other scripts by small Latin ones."""
    turn = int(draw * len(_ROTATIONS))
    letters = _FREQUENT["lower"]
    return _FOREIGN.sub(lambda sign: letters[(ord(sign[0]) + turn) % len(letters)], word.translate(_ROTATIONS[turn]))


def respace(words: Sequence[str], draw: float) -> str:
    """Keep the letters and cut them into other words: join a run, or split a word between two of its letters."""
    if len(words) > 1:
        return "".join(words)
    word = words[0]
    letters = [place for place, sign in enumerate(word) if sign.isalnum()]
    if len(letters) < 2:
        return rewrite(word, draw)
    at = letters[0] + 1 + int(draw * (letters[-1] - letters[0]))
    return f"{word[:at]} {word[at:]}"
