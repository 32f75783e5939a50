"""Locates a passage in the pages that it may come from, though it was cut, joined, re-wrapped or read with errors.

Texts are compared by their n-grams of letters and digits, so that white space, punctuation and markup do not matter.
Each n-gram of the passage has evidence about each page: the logarithm of how much more likely it is on the page (or
missing there) if the passage comes from the page than if it does not. As the n-grams at a letter overlap, each has an
n-th of its evidence. A page is supported by the stretch of the passage with the largest sum, which is worth as much as
its chance among all pages and places is small (Karlin & Altschul, PNAS 1990).
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from html import unescape
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

PageId = tuple[str, int]
"""Document and page number, from 0."""
Numbers = NDArray[Any]
"""Array of numbers."""

_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->|\\[a-zA-Z]+", re.DOTALL)
_NO_LETTERS = re.compile(r"[\W_]+")
_ASCII_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_LENGTH, _SYLLABLES = 6, 3
"""Letters of an n-gram, and signs where they stand for syllables or words."""
_FIRST_SYLLABLE = 0x2E80
"""Such signs have this code or a later one: Chinese, Japanese, Korean."""
_FACTORS = np.random.default_rng(0).integers(1 << 63, size=_LENGTH, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
"""Of a multiply-shift hash (Dietzfelbinger 1996)."""
_BITS, _SLICES = 22, 8
"""Of a hash; and slices of all hashes that are sorted one after the other, to save memory."""

# Chosen on the odd documents of mini and two quarters of OHRBench's, the shares of a stretch after a look at all of its
# documents; speed/locate.py judges the others. Values from two thirds to twice moved no row by more than three points.
_SURVIVES = 0.3
"""Share of a page's n-grams that outlast the worst reading: at 20% of wrong letters, 0.8 ** 6."""
_CHANCE, _CHANCE_PAGES = 0.05, 5
"""Share of a text's n-grams on a foreign page, median of mini; it counts as much as so many pages of the index."""
_FALSE = 0.05
"""Expected foreign pages for a passage, were all n-grams independent."""
_BESIDE = 3
"""Pages among which one is looked for beside a page that is known to hold a part of the passage."""
_LEAST = 0.2
"""Least share of a passage, by weight, that its pages hold together."""
_PART = 0.2
"""Least share of what the first page holds, but for pages beside such a page: a title that a system puts before its
passages is on the title page, too."""
_ENOUGH, _FEW, _CLEARLY = 0.5, 0.2, 2
"""A page holds half of its stretch, or a fifth and twice as much as any other document, which clauses that contracts
share do not."""
_SHORT = 20
"""Letters below which only a page counts that alone holds all of the passage: evidence of fewer is too weak."""
_WINDOW, _CANDIDATES, _POSTINGS = 4000, 8, 10_000
"""Letters that are looked at together; pages that are compared, and one more for 200 letters; places in the index that
are read for them, those of rare n-grams first."""
_NEVER = -1e6
"""Evidence against a page that no stretch can outweigh."""


class PageLocator:
    """Finds the pages that hold the words of a passage. Of equal pages, it takes the first.

    Args:
        pages: for each page, versions of its text: the truth, and as an engine reads it.
    """

    def __init__(self, pages: Mapping[PageId, Sequence[str]]) -> None:
        self._pages = list(pages)
        self._documents: dict[str, list[int]] = defaultdict(list)
        for place, (document, _) in enumerate(self._pages):
            self._documents[document].append(place)
        self._starts, self._holders = _inverted([_all_grams(versions) for versions in pages.values()])

    def locate(self, passage: str, document: str | None = None) -> tuple[PageId, ...]:
        """Return the pages of a passage, the one that holds most of it first; none where it is on no page.

        Args:
            document: only pages of this document count.
        """
        allowed = slice(None) if document is None else self._documents.get(document, [])
        grams, lengths = _grams(passage)
        amounts: Counter[int] = Counter()
        weight = 0.0
        for start in range(0, len(grams), _WINDOW):
            window = slice(start, start + _WINDOW)
            first = np.sort(np.unique(grams[window], return_index=True)[1]) + start
            if (_LENGTH / lengths[first]).sum() + _LENGTH - 1 < _SHORT:
                if start == 0:
                    return self._alone(grams[first], allowed)
                continue
            held, total = self._held(grams[first], lengths[first], allowed)
            amounts.update(held)
            weight += total
        if sum(amounts.values()) < _LEAST * weight:
            return ()
        large = [self._pages[place] for place, amount in amounts.items() if amount >= _PART * max(amounts.values())]
        located = (self._pages[place] for place, _ in amounts.most_common())
        return tuple(page for page in located if any(_beside(page, other) for other in large))

    def _alone(self, grams: Numbers, allowed: Any) -> tuple[PageId, ...]:
        """Return the page that holds all n-grams, if there is exactly one."""
        counts = np.bincount(self._postings(grams)[0], minlength=len(self._pages))
        whole = np.arange(len(counts))[allowed][counts[allowed] == len(grams)]
        return (self._pages[whole[0]],) if len(whole) == 1 else ()

    def _postings(self, grams: Numbers) -> tuple[Numbers, Numbers]:
        """Return the places of pages that hold each n-gram, and the n-gram of each, as its place in `grams`."""
        starts = self._starts[grams].astype(np.int64)
        counts = self._starts[grams + 1] - starts
        owners = np.repeat(np.arange(len(grams)), counts)
        return self._holders[np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(len(owners))], owners

    def _held(self, grams: Numbers, lengths: Numbers, allowed: Any) -> tuple[dict[int, float], float]:
        """Return the weight of the n-grams that each page holds, and of all that are not too common."""
        counts = self._starts[grams + 1] - self._starts[grams]
        rare = np.argsort(counts, kind="stable")
        rare = np.sort(rare[: np.searchsorted(np.cumsum(counts[rare]), _POSTINGS, side="right")])
        pages, owners = self._postings(grams[rare])
        chance = (np.maximum(counts[rare] - 1, 0) + _CHANCE * _CHANCE_PAGES) / (len(self._pages) - 1 + _CHANCE_PAGES)
        weights, losses = np.log(1 - _SURVIVES + _SURVIVES / chance) / lengths[rare], log(1 - _SURVIVES) / lengths[rare]
        votes = np.bincount(pages, weights[owners], minlength=len(self._pages))
        choice = np.arange(len(votes))[allowed]
        most = _CANDIDATES + len(grams) // 200
        best = choice[votes[choice] > 0]
        if len(best) > most:
            best = best[votes[best] >= np.partition(votes[best], -most)[-most]]
        best = best[np.argsort(-votes[best], kind="stable")[:most]]
        if not len(best):
            return {}, float(weights.sum())
        rows = np.full(len(votes), -1)
        rows[best] = np.arange(len(best))
        compared = rows[pages] >= 0
        hits = np.zeros((len(best), len(rare)), bool)
        hits[rows[pages[compared]], owners[compared]] = True
        holders = _holders([self._pages[place] for place in best], hits, weights, losses, len(choice))
        sums = {row: float(weights[(holders == row) & hits[row]].sum()) for row in set(holders.tolist()) - {-1}}
        return {int(best[row]): amount for row, amount in sums.items() if amount}, float(weights.sum())


def _holders(pages: Sequence[PageId], hits: Numbers, weights: Numbers, losses: Numbers, among: int) -> Numbers:
    """Return the row of the page that each n-gram of a passage comes from, -1 for none.

    Args:
        hits: whether a page (row) has an n-gram of the passage (column).
        losses: evidence of an n-gram that a page does not have.
        among: pages that could have been chosen.
    """
    holders = np.full(len(weights), -1)
    evidence, amounts = np.where(hits, weights, losses), hits * weights
    documents = np.array([document for document, _ in pages])
    least = np.full(len(pages), log(among * len(weights) / _FALSE))
    while True:
        after = np.cumsum(evidence, axis=1)
        before = np.minimum.accumulate(np.hstack([np.zeros((len(pages), 1)), after[:, :-1]]), axis=1)
        row, last = divmod(int(np.argmax(after - before - least[:, None])), len(weights))
        if after[row, last] - before[row, last] < least[row]:
            return holders
        stretch = slice(int(np.searchsorted(-before[row, : last + 1], -before[row, last])), last + 1)
        shares = amounts[:, stretch].sum(axis=1) / weights[stretch].sum()
        elsewhere = shares[documents != documents[row]].max(initial=0)
        if shares[row] < min(_ENOUGH, max(_FEW, _CLEARLY * elsewhere)):
            evidence[row, stretch] = _NEVER
            continue
        holders[stretch] = row
        evidence[:, stretch] -= evidence[row, stretch]  # from now on, another page must have more of this stretch
        for place, page in enumerate(pages):
            if _beside(page, pages[row]):
                least[place] = log(_BESIDE * len(weights))


def _beside(page: PageId, other: PageId) -> bool:
    return page[0] == other[0] and abs(page[1] - other[1]) <= 1


def _letters(text: str) -> Numbers:
    """Return the codes of a text's letters and digits, without markup, case and forms of letters."""
    if "&" in text:
        text = unescape(text)
    if "<" in text or "\\" in text:
        text = _MARKUP.sub(" ", text)
    if text.isascii():  # ten times as fast
        return np.frombuffer(text.lower().encode().translate(None, _ASCII_SIGNS), np.uint8)
    plain = _NO_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())
    return np.frombuffer(plain.encode("utf-32-le", "surrogatepass"), np.uint32)


def _grams(text: str) -> tuple[Numbers, Numbers]:
    """Return the hash of the n-gram that begins at each letter, and its length."""
    codes = _letters(text)
    padded = np.concatenate([codes, np.zeros(_LENGTH, np.uint32)]).astype(np.uint64)
    terms = [padded[k : k + len(codes)] * factor for k, factor in enumerate(_FACTORS)]
    lengths = np.where(codes < _FIRST_SYLLABLE, _LENGTH, _SYLLABLES)
    few = sum(terms[:_SYLLABLES])
    hashes = np.where(codes < _FIRST_SYLLABLE, few + sum(terms[_SYLLABLES:]), few) >> np.uint64(64 - _BITS)
    whole = np.arange(len(codes)) + lengths <= len(codes)
    return hashes[whole].astype(np.int64), lengths[whole]


def _all_grams(versions: Sequence[str]) -> Numbers:
    """Return the hashes of all n-grams of a page, ascending."""
    grams = np.concatenate([_grams(text)[0].astype(np.uint32) for text in {"", *versions}])
    grams.sort()
    distinct: Numbers = grams[np.diff(grams, prepend=grams[:1] ^ 1) != 0]
    return distinct


def _inverted(pages: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
    """Return where the holders of each hash start, and the places of pages that hold it, hash by hash."""
    holders = np.empty(sum(map(len, pages)), np.uint16 if len(pages) <= 1 << 16 else np.uint32)
    starts = np.zeros((1 << _BITS) + 1, np.int64)
    width, done = (1 << _BITS) // _SLICES, 0
    cuts = [np.searchsorted(grams, np.arange(_SLICES + 1, dtype=np.uint32) * width) for grams in pages]
    for number in range(_SLICES if pages else 0):
        parts = [grams[cut[number] : cut[number + 1]] for grams, cut in zip(pages, cuts, strict=True)]
        keys = np.concatenate(parts).astype(np.uint64) << np.uint64(32)
        keys |= np.repeat(np.arange(len(parts), dtype=np.uint64), [len(part) for part in parts])
        keys.sort()
        holders[done : done + len(keys)] = keys & np.uint64((1 << 32) - 1)
        hashes = (keys >> np.uint64(32)).astype(np.int64) - number * width
        starts[number * width + 1 : (number + 1) * width + 1] = np.bincount(hashes, minlength=width)
        done += len(keys)
    return np.cumsum(starts, out=starts), holders
