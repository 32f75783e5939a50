"""Text as the metrics see it: normalised words."""

import re
import string
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import filterfalse

from ohr.text.unspaced import HAS_UNSPACED, UNSPACED, letters, unspaced_words

from .chinese import HAN, HAN_RUN, HAS_HAN
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
    plain = bare.decode("utf-8", "surrogatepass")
    all_words = tuple(filterfalse(_ARTICLES.__contains__, plain.split()))
    is_clean = len(bare.translate(None, _CONTROL)) == len(bare)
    if is_clean and (text.isascii() or not any(beside.search(plain) for beside in _BESIDE_ARTICLE)):
        return all_words
    odd = {word for word in set(all_words) if not (word.isascii() and word.isalnum())}
    if not _ARTICLE.search(" ".join(odd)):
        return all_words
    # `a–b`: an article beside a sign that is not part of a word
    parts = {word: _ARTICLE.sub(_without_article, word).split() for word in odd}
    return tuple(part for word in all_words for part in parts.get(word, (word,)))


def _without_article(match: re.Match[str]) -> str:
    around = match.string[max(match.start() - 1, 0) : match.start()] + match.string[match.end() : match.end() + 1]
    return match[0] if any(_in_word(sign) for sign in around) else " "


def _in_word(sign: str) -> bool:
    # not `\w`: a combining mark or a joiner continues a word, a superscript digit does not (Unicode TR 18, annex C)
    return unicodedata.category(sign)[0] in "LM" or unicodedata.category(sign) in ("Nd", "Nl", "Pc") or sign in _JOINERS


_BESIDE_ARTICLE = (
    re.compile(r"[^\x00-\x7f](?:an?|the)(?![a-z0-9])"),
    re.compile(r"a(?<![a-z0-9]a)n?[^\x00-\x7f]|t(?<![a-z0-9]t)he[^\x00-\x7f]"),
)
"""A sign beyond ASCII before an article, and after one; each begins with a sign that is quickly searched for."""
_CONTROL = bytes([*range(9), *range(14, 28), 127])
"""ASCII characters that are neither part of a word nor white space."""

_JOINERS = "\u200c\u200d"


def words(text: str, segment_chinese: bool = True) -> tuple[str, ...]:
    """Cut a text into normalised words.

    Args:
        text: any text.
        segment_chinese: the clean protocol: what `typed` says, then each run of Chinese characters is cut as by jieba,
            and runs of other scripts without spaces into letters. The reference protocol knows ASCII punctuation alone,
            and leaves an unspaced run as one word.

    Edge cases: a text without a word gives an empty tuple; what adjoins a Chinese run without a space (`2021年`) is a
    word of its own. Where a run is cut depends on its neighbors, as with any Chinese segmenter.
    """
    return _segmented(text) if segment_chinese else _normal_words(text)


IN_WORD = r"[\w\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff]"
"""A character of a word, combining marks too, which `\\w` leaves out; for regular expressions."""

_CUT = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010](?:\r\n?|\n)[ \t]*(?=[^\W\d_])")
_CHANGING = re.compile("[^\\x00-\\x7f\\u4e00-\\u9fff\\uac00-\\ud7a3]")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\uff0c\uff0e](?=\d)")
_DIVIDING = ("Po", "Ps", "Pe")
_INSIDE = "％＆＃＠＊／＼＇＂"
"""Full-width signs inside a word or number."""
_DELETED = "\u0640\u034f"
"""Arabic's tatweel, which only makes a word longer, and the combining grapheme joiner."""
_FORMS = ("<wide>", "<narrow>", "<compat>", "<font>", "<small>", "<initial>", "<medial>", "<final>", "<isolated>")
"""Decompositions after which a character is the same: not `<super>`, `<sub>`, `<fraction>` and `<circle>`."""


@cache
def _as_typed(sign: str) -> str:
    """Return what a sign is compared as."""
    category = unicodedata.category(sign)
    if sign.isascii() or category[0] == "Z":
        return sign
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    if category in _DIVIDING and (unicodedata.east_asian_width(sign) in "WFH" or HAS_UNSPACED.match(sign)):
        return "" if sign in _INSIDE else " "  # no space need follow
    if unicodedata.decomposition(sign).startswith(_FORMS):
        plain = unicodedata.normalize("NFKC", sign)
        return "" if plain[0] == " " else "".join(map(_as_typed, plain))  # `´` is a space with an accent
    if category[0] in "PS" and not HAS_HAN.match(sign):
        return ""
    if category == "Cf" or sign in _DELETED or "\ufe00" <= sign <= "\ufe0f":
        return " " if sign == "\u200b" else ""
    return sign


def typed(text: str) -> str:
    """Return a text as the clean protocol compares it.

    Words that a line cuts at a hyphen are joined. Beyond ASCII, punctuation, symbols and invisible signs (categories P,
    S and Cf, variation selectors, tatweel) are deleted, as the published scores delete ASCII's; the punctuation of
    scripts without spaces becomes a space. Ligatures, full-width and presentation forms become their plain letters,
    digits of any script ASCII digits, and accents are composed (NFC). Combining marks, vowel signs of Hebrew, Arabic
    and Devanagari among them, stay with their letters: a word with them is another one than without.
    """
    text = unicodedata.normalize("NFC", text)
    if (
        "-\n" in text or "-\r" in text or not text.isascii()
    ):  # engines keep the hyphen of a cut word, text layers do not
        text = _CUT.sub("", text)
    if text.isascii():
        return text
    if "\uff0c" in text or "\uff0e" in text:
        text = _BETWEEN_DIGITS.sub("", text)
    return unicodedata.normalize("NFC", _CHANGING.sub(lambda sign: _as_typed(sign[0]), text))


@recent
def _segmented(text: str) -> tuple[str, ...]:
    return _cut(text, pairs=False)


@recent
def searched_words(text: str) -> tuple[str, ...]:
    """Return the words of `words` for a search: of scripts without spaces other than Chinese, pairs of letters."""
    found = _segmented(text)
    return _cut(text, pairs=True) if _hold(found, HAS_UNSPACED) else found


@recent
def typed_words(text: str) -> tuple[str, ...]:
    """Return the words of a text as `typed` gives it, with runs of scripts without spaces in one piece."""
    return _normal_words(typed(text))


def _cut(text: str, *, pairs: bool) -> tuple[str, ...]:
    pieces = typed_words(text)
    if text.isascii() or not _hold(pieces, _IS_UNSPACED):
        return pieces
    cut = ([piece] if piece.isascii() else unspaced_words(piece, pairs=pairs) for piece in pieces)
    return tuple(word for some in cut for word in some)


def _hold(pieces: Sequence[str], letter: re.Pattern[str]) -> bool:
    return bool(letter.search("".join([piece for piece in pieces if not piece.isascii()])))


_IS_UNSPACED = re.compile(f"[{HAN}{UNSPACED}]")


@recent
def words_beside_chinese(text: str) -> frozenset[str]:
    """Return the words of `words` that are not Chinese, for callers that need no others: no dictionary is loaded."""
    if text.isascii() or not HAS_HAN.search(text):
        return frozenset(_segmented(text))
    pieces = HAN_RUN.sub(" ", " ".join(typed_words(text))).split()
    return frozenset(letter for piece in pieces for letter in letters(piece))
