"""Names as they may be in a document: in one line, without what cannot be printed."""

import unicodedata


def one_line(text: str) -> str:
    """Return a text in one line: white space is one space, and control and format characters are left out."""
    spaced = " ".join(text.split())
    return "".join(letter for letter in spaced if unicodedata.category(letter) not in ("Cc", "Cf", "Cs"))
