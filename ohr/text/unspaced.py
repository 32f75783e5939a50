"""Scripts that are written without spaces between words, other than Chinese: Japanese, Thai, Lao, Khmer, Burmese, ...

Their runs are cut into letters, each with its marks, as scores of Japanese and Chinese answers are by custom; only
Chinese is cut into words, as by jieba. Search takes each two neighbors together, as Lucene's CJK analyzer
does, since a single letter is on every page.
"""

import re
import unicodedata
from itertools import pairwise

from .chinese import chinese_words

_BLOCKS = (
    *((0x0E00, 0x0EFF), (0x0F00, 0x0FFF), (0x1000, 0x109F)),  # Thai and Lao, Tibetan, Burmese
    *((0x1780, 0x17FF), (0x1950, 0x19DF), (0x19E0, 0x19FF), (0x1A20, 0x1AAF)),  # Khmer, Tai Le and Lue, Tai Tham
    *((0x1B00, 0x1B7F), (0x3041, 0x30FF), (0x31F0, 0x31FF)),  # Balinese, kana
    *((0xA980, 0xA9FF), (0xAA60, 0xAADF), (0xFF66, 0xFF9F)),  # Javanese, more of Burmese, Tai Viet, narrow kana
)
UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in _BLOCKS)
"""Their blocks, as the inside of a regular expression's character class."""

HAS_UNSPACED = re.compile(f"[{UNSPACED}]")
"""Finds one of their letters."""

_RUN = re.compile(f"([{UNSPACED}]+)")
_MARKS = "".join(
    sign for first, last in _BLOCKS for sign in map(chr, range(first, last + 1)) if unicodedata.category(sign)[0] == "M"
)
_LETTER = re.compile(f".[{_MARKS}]*")


def letters(piece: str, *, pairs: bool = False) -> list[str]:
    """Cut runs of these scripts out of a text without white space, into letters or pairs of neighbors."""
    found: list[str] = []
    for part in _RUN.split(piece):
        if not _RUN.match(part):
            found += [part] * bool(part)
            continue
        single = _LETTER.findall(part)
        found += map("".join, pairwise(single)) if pairs and len(single) > 1 else single
    return found


def unspaced_words(piece: str, *, pairs: bool = False) -> list[str]:
    """Cut a text without white space: Chinese into words, the scripts of this module into letters or pairs."""
    return [word for part in chinese_words(piece) for word in letters(part, pairs=pairs)]
