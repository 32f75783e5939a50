"""Trust: what a reading of a page invents, which of its numbers and names it keeps, and what its confidence is worth.

A word is kept where it is on the page of the ground truth, in order or moved. Of the others, one that resembles what
the ground truth has at its place is misread. The rest is invented: repeated from the page itself, taken from elsewhere
in the document, or new. Rates of character errors hide the difference: a paragraph of invented text costs no more
than as many letters that were misread.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby
from typing import NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from ohr.contracts import Word
from ohr.markup.strip import strip_markup
from ohr.text.chinese import HAN, HAS_HAN
from ohr.text.words import words

COUNTS = (
    *("words_read", "words_true", "words_kept", "words_misread"),
    *("invented_repeated", "invented_elsewhere", "invented_new"),
    *("numbers_true", "numbers_kept", "numbers_new", "amounts_true", "amounts_kept", "names_true", "names_kept"),
)
"""Counts that `page_trust` returns, in this order."""
INVENTED = COUNTS[4:7]

SIMILAR = 60.0
"""Least similarity of a misread word to the true one, in percent (Indel)."""
_NEAR = 3
"""Places around a word's own in a gap where its true word is looked for: engines join and split words."""
_LONG = 1_000
"""Signs of two words together from which counting their signs is faster than comparing them."""
_PAIRINGS = ((1, 1), (2, 1), (1, 2))
"""True words and read words that may stand for each other: one for one, two joined, one split."""
_RUN = 3
"""Words that follow each other in the same way on two pages are the same text; single words are on most pages."""

_HAN_OR_WORD = re.compile(f"[{HAN}]|[^{HAN}]+")
_NUMBER = re.compile(r"\d++(?:[.,:/'’-]\d++)*+")
_CURRENCY = r"[$€£¥₹₩]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|Rs\.?)(?![A-Za-z])"
_BEFORE = re.compile(rf"({_CURRENCY})\s?\Z")
_AFTER = re.compile(rf"\s?([%‰元円]|{_CURRENCY}|percent\b|per cent\b)")
_SIGN = 5
"""Characters of the longest sign before a number, with a space."""
_DASHES = str.maketrans("‐‑‒–—−", "------")
_CAPITAL = r"[A-ZÀ-ÖØ-ÞΑ-ΩА-Я](?=[^\W\d_]*[a-zß-öø-ÿα-ωа-я])[^\W\d_]+"
_NAME = re.compile(rf"(?<=[^\s.!?:;…] ){_CAPITAL}(?:[ -]{_CAPITAL})*(?![\w'’-])")


class Reading(NamedTuple):
    """The words of a page of the ground truth and of its reading, and what became of the latter.

    Args:
        fates: of each word that was read: `kept`, `misread`, or "" where it is invented.
    """

    truth: Sequence[str]
    read: Sequence[str]
    fates: Sequence[str]


def page_trust(text: str, truth: str, document: tuple[str, ...] = ()) -> tuple[int, ...]:
    """Count what one page's reading kept, misread and invented, in the order of COUNTS.

    Markup is no word on either side. A Chinese character counts as a word. Of invented words, three that follow each
    other on the page of the ground truth are repeated, and three that follow each other on another page are from
    elsewhere, as is a shorter run whose words are there; all else is new. A number is kept as it is written, separators
    included; an amount with its currency or percent sign; a name is a run of capitalized words inside a sentence.

    Args:
        document: the texts of all pages of the document in the ground truth; without them nothing is from elsewhere.
    """
    text, truth = strip_markup(text), strip_markup(truth)
    reading = compared(_cut(text), _cut(truth))
    invented = Counter(_origins(reading, document))
    fates = Counter(reading.fates)
    numbers, amounts, names = numbers_in(truth), _amounts(truth), _names(truth)
    read_numbers = numbers_in(text)
    return (
        *(len(reading.read), len(reading.truth), fates["kept"], fates["misread"]),
        *(invented[origin] for origin in INVENTED),
        *(numbers.total(), (numbers & read_numbers).total(), (read_numbers - numbers).total()),
        *(amounts.total(), (amounts & _amounts(text)).total()),
        # of the truth's own words, too: one beside a sign that joins words, such as a dash, is no word there
        *(_found(names, reading.truth), min(_found(names, reading.read), _found(names, reading.truth))),
    )


def compared(read: Sequence[str], truth: Sequence[str]) -> Reading:
    """Decide what became of each word that was read."""
    fates, left = [""] * len(read), Counter(truth)
    gaps: list[tuple[int, int, int, int]] = []
    for block in Levenshtein.opcodes(truth, read):
        if block.tag == "equal":
            fates[block.dest_start : block.dest_end] = ["kept"] * (block.dest_end - block.dest_start)
            left.subtract(truth[block.src_start : block.src_end])
        elif gaps and gaps[-1][1:4:2] == (block.src_start, block.dest_start):
            gaps[-1] = (gaps[-1][0], block.src_end, gaps[-1][2], block.dest_end)
        else:
            gaps.append((block.src_start, block.src_end, block.dest_start, block.dest_end))
    for place, word in enumerate(read):  # a word that is elsewhere on the page was moved
        if not fates[place] and left[word] > 0:
            fates[place] = "kept"
            left[word] -= 1
    for first, end, start, stop in gaps:
        lost = [word if left[word] > 0 else "" for word in truth[first:end]]
        _find_misread(fates, start, read[start:stop], lost)
    return Reading(truth, read, fates)


def _find_misread(fates: list[str], start: int, read: Sequence[str], lost: list[str]) -> None:
    """Mark the words of a gap that resemble one that is lost there, two that were joined, or the half of one."""
    for place in range(len(read)):
        if fates[start + place]:
            continue
        near = round(place * len(lost) / len(read))
        places = sorted(range(max(near - _NEAR, 0), min(near + _NEAR + 1, len(lost))), key=lambda at: abs(at - near))
        for at in filter(lambda at: lost[at], places):
            is_next_kept = any(fates[start + place + 1 : start + place + 2])  # and so no part of this word
            pairings = _PAIRINGS[:2] if is_next_kept else _PAIRINGS
            sides = {(t, g): ("".join(lost[at : at + t]), "".join(read[place : place + g])) for t, g in pairings}
            taken, given = max(sides, key=lambda pairing: likeness(*sides[pairing]))
            if likeness(*sides[taken, given]):
                lost[at : at + taken] = [""] * len(lost[at : at + taken])
                fates[start + place : start + place + given] = ["misread"] * len(read[place : place + given])
                break


def likeness(word: str, other: str) -> float:
    """Return how similar two words are in percent (Indel), from SIMILAR on; below it, 0.

    A loop without blanks is a word of thousands of signs, whose likeness takes time by the square of their number: the
    signs that both have, in any order, say that most such words are not similar.
    """
    signs = len(word) + len(other)
    if signs > _LONG and 200 * (Counter(word) & Counter(other)).total() < SIMILAR * signs:
        return 0.0
    return fuzz.ratio(word, other, score_cutoff=SIMILAR)


def _origins(reading: Reading, document: tuple[str, ...]) -> Iterator[str]:
    """Yield the origin of each invented word, a run of them after the other."""
    places = [place for place, fate in enumerate(reading.fates) if not fate]
    if not places:
        return
    here = _runs(reading.truth)
    elsewhere = _pages_with(document)
    for _, group in groupby(enumerate(places), key=lambda one: one[1] - one[0]):
        run = [place for _, place in group]
        size = min(_RUN, len(run))
        known = dict.fromkeys(run, INVENTED[2])
        for first in run[: len(run) - size + 1]:
            words_here = tuple(reading.read[first : first + size])
            others = elsewhere[words_here] - (words_here in here)
            is_loop = len(set(words_here)) == 1 and words_here[:1] in here
            origin = INVENTED[0] if words_here in here or is_loop else INVENTED[1] if others > 0 else ""
            if origin:
                known |= {place: origin for place in range(first, first + size) if known[place] != INVENTED[0]}
        yield from known.values()


def _runs(page: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the runs of one to _RUN words of a page."""
    return {tuple(page[at : at + size]) for size in range(1, _RUN + 1) for at in range(len(page) - size + 1)}


@lru_cache(maxsize=2)
def _pages_with(document: tuple[str, ...]) -> Counter[tuple[str, ...]]:
    """Count the pages of a document that have each run of words."""
    return Counter(chain.from_iterable(_runs(_cut(strip_markup(page))) for page in document))


def _cut(text: str) -> list[str]:
    """Cut a text into words, Chinese into characters: a misread one would change how its neighbors are cut."""
    pieces = words(text)
    if not HAS_HAN.search(text):
        return list(pieces)
    return [part for piece in pieces for part in _HAN_OR_WORD.findall(piece)]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_DASHES)


def numbers_in(text: str) -> Counter[str]:
    """Count the numbers of a text as they are written."""
    return Counter(_NUMBER.findall(_plain(text)))


def _amounts(text: str) -> Counter[tuple[str, str]]:
    text, found = _plain(text), Counter[tuple[str, str]]()
    for number in _NUMBER.finditer(text):
        before = _BEFORE.search(text[max(number.start() - _SIGN, 0) : number.start()])
        if sign := before or _AFTER.match(text, number.end()):
            found[number[0], sign[1]] += 1
    return found


def _names(text: str) -> Counter[tuple[str, ...]]:
    return Counter(filter(None, map(words, _NAME.findall(" ".join(text.split())))))


def _found(names: Counter[tuple[str, ...]], read: Sequence[str]) -> int:
    """Count names whose words follow each other, the longest first; each word is of one name."""
    places, count = defaultdict(list), 0
    for place, word in enumerate(read):
        places[word].append(place)
    taken: set[int] = set()
    for name in sorted(names, key=len, reverse=True):
        left = names[name]
        for place in places[name[0]]:
            own = range(place, place + len(name))
            if left and tuple(read[place : own.stop]) == name and taken.isdisjoint(own):
                taken.update(own)
                left -= 1
        count += names[name] - left
    return count


# --- confidence -------------------------------------------------------------------------------------------

STEPS = 100
"""Steps of confidence: engines state whole percents, or more digits than they mean."""


def confidence_counts(stated: Iterable[Word], truth: str) -> list[tuple[float, int, int]]:
    """Count the words of a page and those that are wrong, by the confidence that the engine stated.

    A word is right where it is kept, as `page_trust` says; the words of a line have the line's confidence, and those
    without one are left out.

    Returns:
        (confidence in steps of 1 / STEPS, words, wrong words), ascending.
    """
    sure = list(_joined((each.text, each.confidence) for each in stated))
    cut = [(word, confidence) for text, confidence in sure for word in _cut(strip_markup(text))]
    fates = compared([word for word, _ in cut], _cut(strip_markup(truth))).fates
    read, wrong = Counter[int](), Counter[int]()
    for (_, confidence), fate in zip(cut, fates, strict=True):
        if confidence is not None:
            step = round(min(max(confidence, 0.0), 1.0) * STEPS)
            read[step] += 1
            wrong[step] += fate != "kept"
    return [(step / STEPS, read[step], wrong[step]) for step in sorted(read)]


def _joined(stated: Iterable[tuple[str, float | None]]) -> Iterator[tuple[str, float | None]]:
    """Join a word that a line cuts at its hyphen; it is as sure as its less sure half."""
    held: tuple[str, float | None] | None = None
    for text, confidence in stated:
        if held and text[:1].isalpha():
            both = [each for each in (held[1], confidence) if each is not None]
            text, confidence = held[0][:-1] + text, min(both, default=None)
        elif held:
            yield held
        held = (text, confidence) if len(text) > 1 and text[-1] in "-\u00ad\u2010" and text[-2].isalpha() else None
        if held is None:
            yield text, confidence
    if held:
        yield held
