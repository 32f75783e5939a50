"""What is read for a word or a run of words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .confusions import context
from .profile import Confusion

_LONGEST = 400
"""Only so many characters of a word are misread."""

_LIKE = {"lower": "etaoinsrhldcumfpgwybvkxjqz", "upper": "ETAOINSRHLDCUMFPGWYBVKXJQZ", "digit": "0183564297"}


_ROTATIONS = [
    str.maketrans("".join(_LIKE.values()), "".join(sign[turn:] + sign[:turn] for sign in _LIKE.values()))
    for turn in range(1, 10)
]
_FOREIGN = re.compile(r"[^\W\d_\x00-\x7f]")
_MOST_SEEN = 50_000
_Options = tuple[tuple[str, str, float], ...]


@dataclass(frozen=True)
class Confusions:
    """Confusions by context and first character, each with the running sum of its shares; `seen` only saves time."""

    table: Mapping[tuple[str, str], _Options]
    steps: tuple[float, ...]
    seen: dict[str, tuple[tuple[_Options, ...], tuple[float, ...]]] = field(default_factory=dict)

    def of(self, word: str) -> tuple[tuple[_Options, ...], tuple[float, ...]]:
        """Give what each character of a word may be read as, and how long it waits: the likelier, the shorter.

        Characters that were never seen to change wait longest, signs longer than letters and digits.
        """
        known = self.seen.get(word)
        if known is None:
            if len(self.seen) >= _MOST_SEEN:
                self.seen.clear()
            options = tuple(self.table.get((context(word, place), sign), ()) for place, sign in enumerate(word))
            waits = [1 / o[-1][2] if o else 1e3 if s.isalnum() else 1e6 for o, s in zip(options, word, strict=True)]
            known = self.seen[word] = options, tuple(waits)
        return known


def confusions(found: Sequence[Confusion], steps: tuple[float, ...]) -> Confusions:
    """Index confusions; `steps` are the shares of characters that change in a misread word (`Reading.misread`)."""
    table: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    for confusion in found:
        if confusion.true and confusion.share > 0:  # among very many characters a share may be rounded to none
            here = table.setdefault((confusion.after, confusion.true[0]), [])
            before = here[-1][2] if here else 0.0
            here.append((confusion.true, confusion.read, before + confusion.share))
    return Confusions({key: tuple(value) for key, value in table.items()}, steps)


def misread(word: str, known: Confusions, draws: Sequence[Sequence[float]], share: float) -> str:
    """Change so many characters of a word, by likely confusions, at least one letter or digit.

    Args:
        draws: for each character two uniform draws: whether it changes, and into what.
        share: share of the characters to change.
    """
    head, tail = word[:_LONGEST], word[_LONGEST:]
    options, patience = known.of(head)
    where = [draw * wait for (draw, _), wait in zip(draws, patience, strict=False)]
    chosen = sorted(range(len(head)), key=where.__getitem__)[: max(1, round(share * len(head)))]
    made, before = [], 0
    for place in sorted(chosen):
        if place >= before:
            true, read = _choose(head, place, options[place], draws[place][1])
            made += [head[before:place], read]
            before = place + len(true)
    return "".join(made) + head[before:] + tail


def rewrite(word: str, draw: float) -> str:
    """Put other letters and digits in the place of all, small Latin ones in that of other scripts'."""
    turn = int(draw * len(_ROTATIONS))
    made = word.translate(_ROTATIONS[turn])
    letters = _LIKE["lower"]
    return made if made.isascii() else _FOREIGN.sub(lambda sign: letters[(ord(sign[0]) + turn) % len(letters)], made)


def _choose(word: str, place: int, options: Sequence[tuple[str, str, float]], draw: float) -> tuple[str, str]:
    aim = draw * options[-1][2] if options else 0.0
    for true, read, upto in options:
        if aim < upto and word.startswith(true, place):
            return true, read
    sign = word[place]
    kind = "digit" if sign.isdigit() else "upper" if sign.isupper() else "lower"
    others = _LIKE[kind].replace(sign, "")
    return sign, others[int(draw * draw * len(others))]


def respace(words: Sequence[str], draw: float) -> str:
    """Keep the letters and cut them into other words: a run is joined, a word is split between two of its letters."""
    if len(words) > 1:
        return "".join(words)
    word = words[0]
    letters = [place for place, sign in enumerate(word) if sign.isalnum()]
    if len(letters) < 2:
        return rewrite(word, draw)
    at = letters[0] + 1 + int(draw * (letters[-1] - letters[0]))
    return f"{word[:at]} {word[at:]}"
