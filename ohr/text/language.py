"""The language of a page, by its script and its most frequent words; coarse, and right for whole pages only."""

import re
from collections import Counter
from functools import cache

from ohr.text.unspaced import UNSPACED

from .chinese import HAN

OTHER = "other"
"""A language that is none of those known here."""

_CHINESE = 0.2
"""A text is Chinese when at least this share of its Chinese and Latin letters are Chinese."""
_SCRIPT = 0.3
"""A text is in another script when it has at least this share of the letters: pages quote names and words of others."""
_LEAST, _LEAST_FOREIGN = 0.03, 0.06
"""Least share of function words, of English and of any other language. Of OHRBench's pages with 50 words, 98% are above
the first; lists of names and tables are below, and have words that are frequent in some other language by accident."""
_SURE = 2
"""Frequent words of another language that no short English text has by accident."""
_HAN, _KANA, _HANGUL = re.compile(f"[{HAN}]+"), re.compile("[\u3041-\u30ff]+"), re.compile("[\uac00-\ud7a3]+")
_NO_LETTERS = bytes(sign for sign in range(0x100) if not (sign < 0x80 and chr(sign).isalpha()))
_LETTERS = re.compile(r"[^\W\d_]+")
_NOT_LATIN = re.compile(f"[\u0370-\u1dff{UNSPACED}]+")

_FUNCTION_WORDS = {
    "en": "the of and to is that for with are be this from by as or which shall not have at your will",
    "de": "der die und den das von mit ist des dem ein eine nicht auf für im zu sich auch wird werden",
    "fr": "le les des et du une est dans pour que qui sur par au avec pas sont aux ce cette",
    "es": "el los las del que una por con para es se como su al lo más sus este",
    "it": "il di che della per con del le gli una sono dei nel alla delle si non",
    "pt": "os que da em um uma para não dos das ao mais são pela sua ou",
    "nl": "de het een van en dat niet zijn voor met op te aan wordt deze bij ook naar",
    "sv": "och att det som en på är av för med den till inte ett har om från",
    "da": "og det at en den til er som på de med af ikke der et har fra",
    "pl": "się nie że jest jak przez oraz dla są które lub przy został",
    "tr": "ve bir bu için ile olarak da de çok daha olan gibi kadar sonra",
}
"""Of the most frequent words of each language, those that say most; a word of several languages counts in each."""


def is_chinese(text: str) -> bool:
    """Report whether a text is Chinese."""
    encoded = text.encode("utf-8", "surrogatepass")
    latin = len(encoded.translate(None, _NO_LETTERS))
    # a Chinese character has at least two bytes more than it has characters, so that most texts need no search
    most = (len(encoded) - len(text)) // 2
    if most < _CHINESE * (most + latin):
        return False
    chinese = _length(_HAN, text)
    return bool(chinese) and chinese >= _CHINESE * (chinese + latin)


def written_in(text: str) -> str:
    """Return `zh` for Chinese, else `en`: the language in which questions about a text are asked."""
    return "zh" if is_chinese(text) else "en"


def language(text: str) -> str | None:
    """Return the language of a text (ISO 639-1), `other` for one that is not known, or None for too few words of any.

    Args:
        text: plain, without markup.
    """
    letters = _length(_LETTERS, text)
    if not letters:
        return None
    for script, code in ((_KANA, "ja"), (_HANGUL, "ko")):
        if _length(script, text) >= _SCRIPT * letters:
            return code
    if is_chinese(text):
        return "zh"
    if _length(_NOT_LATIN, text) >= _SCRIPT * letters:
        return OTHER
    words = Counter(_LETTERS.findall(text.lower()))
    counts = {code: sum(words[word] for word in own) for code, own in _function_words().items()}
    code = max(counts, key=lambda each: counts[each])
    return code if counts[code] >= (_LEAST if code == "en" else _LEAST_FOREIGN) * words.total() else None


def is_foreign(text: str) -> bool:
    """Report whether a text, however short, is surely in another language than English and Chinese.

    It is in another script, or has two of the frequent words of another language, and more than of English: `de` alone
    may be part of a name.
    """
    if language(text) in ("ja", "ko", OTHER):
        return True
    there = set(_LETTERS.findall(text.lower()))
    counts = {code: len(there.intersection(own)) for code, own in _function_words().items()}
    english = counts.pop("en")
    return not is_chinese(text) and max(counts.values()) >= max(_SURE, english + 1)


@cache
def _function_words() -> dict[str, tuple[str, ...]]:
    return {code: tuple(words.split()) for code, words in _FUNCTION_WORDS.items()}


def _length(pattern: re.Pattern[str], text: str) -> int:
    return sum(map(len, pattern.findall(text)))
