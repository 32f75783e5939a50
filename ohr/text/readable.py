"""Whether a text is words: a font with a wrong table of characters gives a text layer that nobody can read."""

import re

from ohr.text.chinese import HAN_RUN

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
