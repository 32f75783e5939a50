"""Text as the metrics see it: normalised words."""

import re
import string
import unicodedata

from .chinese import HAN_RUN, HAS_HAN, chinese_words
from .recent import recent

_PUNCTUATION = string.punctuation.encode()
_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"(?<![a-z0-9_])(?:an?|the)(?![a-z0-9_])")


def normalise(text: str) -> str:
    """Return the text as the published scores compare it.

    Lower case; the 32 characters of `string.punctuation` deleted (so `3.14` becomes `314`, and other punctuation such
    as `“` or `，` remains); the words a, an, the dropped; white space collapsed to single spaces, none at the ends.
    Source: OHRBench, `normalize_answer` of `metric/common.py`, which takes these steps in this order.

    Edge cases: a text of punctuation and articles only gives the empty string.
    """
    return " ".join(_normal_words(text))


@recent
def _normal_words(text: str) -> tuple[str, ...]:
    # as bytes, because deleting signs from them is several times as fast
    bare = text.lower().encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    # word by word, because most words are plain letters, in which no article can hide
    found = [word for word in bare.decode("utf-8", "surrogatepass").split() if word not in _ARTICLES]
    if text.isascii() and not _CONTROL.search(text):
        return tuple(found)
    odd = {word for word in found if not (word.isascii() and word.isalnum())}
    if not _ARTICLE.search(" ".join(odd)):
        return tuple(found)
    # `a–b`: an article beside a sign that is not part of a word
    parts = {word: _ARTICLE.sub(_without_article, word).split() for word in odd}
    return tuple(part for word in found for part in parts.get(word, (word,)))


def _without_article(match: re.Match[str]) -> str:
    around = match.string[max(match.start() - 1, 0) : match.start()] + match.string[match.end() : match.end() + 1]
    return match[0] if any(_in_word(sign) for sign in around) else " "


def _in_word(sign: str) -> bool:
    # not `\w`: a combining mark or a joiner continues a word, a superscript digit does not (Unicode TR 18, annex C)
    return unicodedata.category(sign)[0] in "LM" or unicodedata.category(sign) in ("Nd", "Nl", "Pc") or sign in _JOINERS


_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
"""ASCII characters that are neither part of a word nor white space."""

_JOINERS = "\u200c\u200d"


def words(text: str, segment_chinese: bool = True) -> tuple[str, ...]:
    """Cut a text into normalised words.

    Args:
        text: any text.
        segment_chinese: the clean protocol: cut each run of Chinese characters with jieba, drop typographic quotation
            marks and apostrophes as their plain forms are, and join words that a line's end cuts at a hyphen. The
            reference protocol leaves an unspaced run as one word, and takes `doesn’t` and `doesn't` for two words.

    Edge cases: a text without a word gives an empty tuple; what adjoins a Chinese run without a space (`2021年`) is a
    word of its own. Where a run is cut depends on its neighbours, as with any Chinese segmenter.
    """
    return _segmented(text) if segment_chinese else _normal_words(text)


_CUT = re.compile(r"(?<=[^\W\d_])-\n[ \t]*(?=[^\W\d_])")
_PRINTED = str.maketrans(dict.fromkeys("‘’‚‛“”„‟′″‐‑‒–—―−"))
"""Quotation marks, apostrophes and dashes of print; their plain forms are deleted with punctuation."""


def typed(text: str) -> str:
    """Return a text as the clean protocol compares it: words that a line cuts joined, signs of print deleted."""
    if "-\n" in text:  # engines keep the hyphen of a cut word, text layers do not
        text = _CUT.sub("", text)
    return text if text.isascii() else text.translate(_PRINTED)


@recent
def _segmented(text: str) -> tuple[str, ...]:
    pieces = _normal_words(typed(text))
    if text.isascii() or not HAS_HAN.search(text):
        return pieces
    return tuple(word for piece in pieces for word in ([piece] if piece.isascii() else chinese_words(piece)))


@recent
def words_beside_chinese(text: str) -> frozenset[str]:
    """Return the words of `words` that are not Chinese, for callers that need no others: no dictionary is loaded."""
    if text.isascii() or not HAS_HAN.search(text):
        return frozenset(_normal_words(typed(text)))
    return frozenset(HAN_RUN.sub(" ", " ".join(_normal_words(typed(text)))).split())
