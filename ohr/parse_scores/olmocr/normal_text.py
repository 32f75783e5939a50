"""The normal form in which olmOCR-bench compares texts."""

import re
import unicodedata
from functools import lru_cache

# in this order; a mark and its partner are on one line
_REPLACEMENTS = [
    (re.compile(r"<br/?>"), " "),
    (re.compile(r"\*\*(.*?)\*\*"), r"\1"),
    (re.compile(r"__(.*?)__"), r"\1"),
    (re.compile(r"</?[bi]>"), ""),
    # once more, for marks around tags and around marks
    (re.compile(r"(\*\*|__)(.*?)\1"), r"\2"),
    (re.compile(r"(\*|_)(.*?)\1"), r"\2"),
    (re.compile(r"\s+"), " "),
]
_CHARACTERS = str.maketrans(
    {**dict.fromkeys("‘’‚", "'"), **dict.fromkeys("“”„", '"'), **dict.fromkeys("–—‑‒−", "-"), "＿": "_", "µ": "μ"}
)


@lru_cache(maxsize=256)  # the tests of a page follow each other
def normal_text(text: str) -> str:
    """Return a text in NFC without marks of bold and italics, with single blanks, plain quotes and hyphens."""
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return unicodedata.normalize("NFC", text).translate(_CHARACTERS)
