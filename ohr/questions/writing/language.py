"""The language in which questions on a page are written, by its script."""

import unicodedata
from collections import Counter

from ohr.text.chinese import HAS_HAN

_SAMPLE = 4000
"""Letters that are looked at."""
_MOST_FOREIGN = 0.2
"""Share of letters of other scripts from which on a page is in none of the languages; kana are a half of Japanese."""
_LEAST_CHINESE = 0.3
"""Share of Chinese signs from which on a page is Chinese: it may have many Latin names, and markup."""


def language_of(text: str) -> str | None:
    """Return `en` for Latin script, `zh` for Chinese, None for others, and for a text without letters.

    Languages in Latin script are not told apart: the questions are asked in English.
    """
    letters = [letter for letter in text[:_SAMPLE] if letter.isalpha()]
    scripts = Counter(map(_script, letters))
    if not letters or scripts["other"] > _MOST_FOREIGN * len(letters):
        return None
    return "zh" if scripts["zh"] >= _LEAST_CHINESE * len(letters) else "en"


def _script(letter: str) -> str:
    if letter.isascii():
        return "en"
    if HAS_HAN.match(letter):
        return "zh"
    name = unicodedata.name(letter, "")
    return "en" if name.startswith(("LATIN", "GREEK", "MATHEMATICAL")) else "other"
