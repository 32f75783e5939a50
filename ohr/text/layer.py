"""Text layers of PDFs as a person would type them: no control characters, no ligatures, no words that a line cuts."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

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
    plain = [_LIGATURE.sub(_letters, page.replace("\r\n", "\n").translate(_BREAKS)) for page in pages]
    known = _vocabulary(plain)
    return [_visible(_CUT.sub(lambda cut: _joined(cut, known), page)) for page in plain]


def _vocabulary(pages: Iterable[str]) -> set[str]:
    """Collect the words of a document that no line's end cuts."""
    return {word.lower() for page in pages for word in _WORD.findall(_CUT.sub(" ", page))}


def _joined(cut: re.Match[str], known: set[str]) -> str:
    first, second = cut.groups()
    whole, hyphened = f"{first}{second}", f"{first}-{second}"
    if cut[0][len(first)] == "-":  # a hyphen that was printed may belong to the word
        return whole if whole.lower() in known and hyphened.lower() not in known else hyphened
    return hyphened if hyphened.lower() in known and whole.lower() not in known else whole


def _letters(sign: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", sign[0])


def _visible(text: str) -> str:
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(
        sign
        for sign in text.translate(_BULLETS)
        if sign in _KEPT or (unicodedata.category(sign) not in _LEFT_OUT and sign != "\ufffd")
    )
