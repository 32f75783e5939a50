"""Text layers of PDFs: as a person would type them, and whether they are words that one can read."""

import re
import unicodedata
from collections.abc import Sequence

from ohr.text.chinese import HAN_RUN

_MARK = "\x02\ufffe\u00ad"
"""Signs that PDF readers put for the hyphen of a word that a line's end cuts."""
_CUT = re.compile(rf"(\w+)(?:[{_MARK}][ \t]*\n?|-[ \t]*\n)[ \t]*(\w+)")
_WORD = re.compile(r"\w+(?:-\w+)*")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_KEPT = "\n\t\u200c\u200d"
"""Lines, tabs, and the joiners with which Persian and Indian scripts spell words."""
_BULLETS = str.maketrans(
    "\uf0b7\uf0a7\uf0a8\uf06f\uf0d8\uf076\uf0fc\uf0fe\uf0e0", "\u2022\u25aa\u25a1\u25a1\u27a2\u2756\u2713\u2611\u2192"
)
"""Signs of the fonts Symbol and Wingdings, which have no code of their own outside of them."""
_LEFT_OUT = ("Cc", "Cf", "Cs", "Co")
_BREAKS = str.maketrans({"\r": "\n", "\x0b": "\n", "\x0c": "\n", "\u2028": "\n", "\u2029": "\n", "\xa0": " "})


def clean_layer(pages: Sequence[str]) -> list[str]:
    """Clean the pages of one document.

    A word that a line's end cuts is joined, or keeps its hyphen where the document has it with a hyphen elsewhere.
    Ligatures become letters, bullets of symbol fonts those of Unicode. Control characters, soft hyphens, signs of no
    width, signs without meaning outside their font and marks of unknown signs are removed.

    Args:
        pages: as the text layer has them.
    """
    broken = (page.replace("\r\n", "\n").translate(_BREAKS) for page in pages)
    plain = [_LIGATURE.sub(lambda sign: unicodedata.normalize("NFKC", sign[0]), page) for page in broken]
    known = {word.lower() for page in plain for word in _WORD.findall(_CUT.sub(" ", page))}  # that no line's end cuts
    return [_visible(_CUT.sub(lambda cut: _joined(cut, known), page)) for page in plain]


def _joined(cut: re.Match[str], known: set[str]) -> str:
    first, second = cut.groups()
    whole, hyphened = f"{first}{second}", f"{first}-{second}"
    if cut[0][len(first)] == "-":  # a hyphen that was printed may belong to the word
        return whole if whole.lower() in known and hyphened.lower() not in known else hyphened
    return hyphened if hyphened.lower() in known and whole.lower() not in known else whole


def _visible(text: str) -> str:
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(
        sign
        for sign in text.translate(_BULLETS)
        if sign in _KEPT or (unicodedata.category(sign) not in _LEFT_OUT and sign != "\ufffd")
    )


_LEAST = 100
"""Letters or characters from which on a share says something."""
_PUNCTUATION = re.compile(r"[-–—/’'.&@,:;!?()\[\]{}\"“”‘…*%$€£§©®™•·<>=+~_|（）［］【】《》，。、：；？！％]+")
_LEADERS = re.compile(r"[\s.…·_\-–—|*=]+")
_ALPHANUMERIC = 0.65
"""Least share of letters and digits, leaders and rules left out. OHRBench's 8,000 pages with 50 words have at least
72%; fonts whose characters are numbered in the order of their use write most words with punctuation, at 36%."""
_WORDS = 0.5
"""Least share of words among what is between spaces; none of OHRBench's 8,000 pages with 50 words has less."""
_FREQUENT, _FREQUENT_SHARE = "etaoinsr", 0.45
"""The most frequent letters of European languages, and their least share of a to z: half of OHRBench's pages have 66%
or more and one in 7,800 has less than 45%, as have 96% of them with their letters swapped at random."""
_LATIN = re.compile("[a-z]")
_FREQUENT_BYTES, _FREQUENT_CHINESE = (("gb2312", range(0xB0, 0xD8)), ("big5", range(0xA4, 0xC7))), 0.7
"""First bytes of the frequent characters in GB 2312 (its level 1) and Big5, 3,755 and 5,401 of some 27,000, and their
least share: OHRBench's Chinese pages have at least 79%, and characters at random have a third."""


def unreadable(text: str) -> str:
    """Return why nobody can read a text, in words; nothing where it is words, or too short."""
    signs = _LEADERS.sub("", text)
    if len(signs) >= _LEAST:
        share = sum(map(str.isalnum, signs)) / len(signs)
        if share < _ALPHANUMERIC:
            return f"{share:.0%} of its signs are letters or digits"
    chinese = "".join(HAN_RUN.findall(text))
    if len(chinese) >= _LEAST:
        share = sum(map(_is_frequent, chinese)) / len(chinese)
        if share < _FREQUENT_CHINESE:
            return f"{share:.0%} of its Chinese characters are frequent ones"
    tokens = [token for token in HAN_RUN.sub(" ", text).split() if any(map(str.isalpha, token))]
    if sum(map(len, tokens)) >= _LEAST:
        share = sum(map(_may_be_word, tokens)) / len(tokens)
        if share < _WORDS:
            return f"{share:.0%} of its words look like words"
    latin = _LATIN.findall(text.lower())
    if len(latin) >= _LEAST:
        share = sum(letter in _FREQUENT for letter in latin) / len(latin)
        if share < _FREQUENT_SHARE:
            return f"{share:.0%} of its letters are frequent ones"
    return ""


def _may_be_word(token: str) -> bool:
    """Report whether a token is letters, or digits, with punctuation and no capital behind a small letter."""
    parts = [part for part in _PUNCTUATION.split(token) if part]
    return all(
        part.isalnum() and not any(part[at - 1].islower() and part[at].isupper() for at in range(1, len(part)))
        for part in parts
    )


def _is_frequent(sign: str) -> bool:
    return any(_first_byte(sign, code) in known for code, known in _FREQUENT_BYTES)


def _first_byte(sign: str, code: str) -> int:
    try:
        return sign.encode(code)[0]
    except UnicodeEncodeError:
        return 0


def reads(text: str) -> bool:
    """Report whether a text is long enough to say so, and is words that one can read."""
    return sum(map(str.isalpha, text)) >= _LEAST and not unreadable(text)
