"""The verdict on a page's text layer, from what pdfium finds, what the page looks like, a second reader, and OCR."""

import re
import unicodedata
from collections import Counter
from typing import Literal, NamedTuple

from ohr.files.pdf_text import Layer, Sight, lacks_pieces
from ohr.messages.wording import counted
from ohr.text.layer import unreadable
from ohr.text.words import words

from .second_reader import Reading

Word = Literal["whole", "incomplete", "garbled", "none", ""]


class Verdict(NamedTuple):
    """Worth of a text layer as ground truth.

    Attributes:
        word: `whole`; `incomplete`, it lacks what a reader sees; `garbled`, it is other than what a reader sees;
            `none` of a page without text; empty of one that is damaged.
        reason: in words; empty where nothing speaks against it.
        is_open: OCR may decide otherwise.
    """

    word: Word
    reason: str = ""
    is_open: bool = False


_UNKNOWN = 0.01
"""Share of glyphs without Unicode from which on a text layer is not whole. A judgment: mini's 89 pages have none."""
_HIDDEN = 0.1
"""Share of hidden glyphs from which on a text layer is an earlier OCR's. A scan with such a layer has nearly all of its
glyphs hidden, a page that a program wrote none: all 89 pages of mini have none."""
_FEW, _UNREAD, _INK = 100, 0.9, 0.01
"""A page with fewer words, with this share of its ink outside of them, and with ink on this share of it, is a picture
of text as likely as not: a scan with a stamp, letters drawn as lines. On mini at most 68% of the ink is outside."""
_LACKING, _SHARE, _OTHERWISE = 10, 0.02, 0.25
"""Letters that only the second reader has, and their share, from which on text is missing; and most letters that only
pdfium has, as a share of those: where there are more, the two read the same glyphs differently. Of 566 pages of public
PDFs 469 have the same letters in both, 77 more in pdfium (fields, fonts that pdfminer does not know), and 20 some that
only pdfminer has: of those none is above these limits where pdfminer is right."""
_MUCH = 0.5
"""Share of a text in doubt from which on OCR can decide: what it misreads itself is far less."""


def judge(layer: Layer, sight: Sight, text: str, second: Reading | None) -> Verdict:
    """Judge the text layer of a page.

    Args:
        text: the layer's, cleaned.
        second: what pdfminer reads of the page; None where it did not look, or fails.
    """
    if not text.strip():
        return Verdict("none", "it has no text layer" if sight.ink else "")
    own, other = _letters(text), _letters(second.text if second else "")
    lacking, more = (other - own).total(), (own - other).total()
    is_known = second is not None and lacking + second.unknown <= _UNKNOWN * other.total()
    if layer.left_out and not is_known:
        return Verdict("incomplete", lacks_pieces(layer.left_out))
    is_confirmed = is_known and more <= _UNKNOWN * own.total()
    if layer.unknown and layer.unknown >= _UNKNOWN * layer.glyphs and not is_confirmed:
        unknown = f"{layer.unknown:,} of {counted(layer.glyphs, 'glyph')} have no Unicode"
        return Verdict("incomplete", unknown, is_open=layer.unknown >= _MUCH * layer.glyphs)
    if sight.hidden and sight.hidden >= _HIDDEN * sight.glyphs:
        is_few = sight.hidden < _MUCH * sight.glyphs
        whose = "no reader sees them" if is_few else "an earlier OCR's text"
        hidden = f"{sight.hidden:,} of {counted(sight.glyphs, 'glyph')} are hidden: {whose}"
        return Verdict("garbled", hidden, is_open=is_few)
    if why := unreadable(text):
        return Verdict("garbled", f"its text layer is not words: {why}", is_open=True)
    is_missing = lacking >= max(_LACKING, _SHARE * other.total()) and more <= _OTHERWISE * lacking
    if second and is_missing and not unreadable(second.text):
        missing = f"a second reader finds {counted(lacking, 'letter')} more"
        return Verdict("incomplete", missing, is_open=lacking >= _MUCH * other.total())
    is_drawn = own.total() <= 2 * sight.glyphs  # and not held by fields and annotations, which `sight` does not know
    number = len(words(text))
    if is_drawn and number < _FEW and sight.unread >= _UNREAD and sight.ink >= _INK:
        drawn = f"its text layer has {counted(number, 'word')}, and {sight.unread:.0%} of the ink is outside of them"
        return Verdict("incomplete", drawn, is_open=True)
    return Verdict("whole")


_WORD = re.compile(r"[^\W_]{3,}")
_LEAST, _AGREE, _DIFFER = 8, 0.8, 0.4
"""Words of OCR from which on it decides, and the shares of words in common from which on, and up to which, it does. Of
23 public pages with at least so many English words, and the same letters in both readers, 18 share 80% or more with
Tesseract, and all at least 60%."""


def settle(verdict: Verdict, text: str, recognised: str) -> Verdict:
    """Let OCR of the page confirm a verdict or overrule it, where it read enough words to say so."""
    own, seen = _words(text), _words(recognised)
    common = (own & seen).total()
    found, right = common / max(seen.total(), 1), common / max(own.total(), 1)
    is_shown = right >= _AGREE and (found == 1 or (found >= _AGREE and seen.total() >= _LEAST))
    if is_shown or (verdict.word == "garbled" and right >= _AGREE and common >= _LEAST):
        return Verdict("whole")
    if found > _DIFFER or seen.total() < _LEAST:
        return verdict
    is_other = right <= _DIFFER and own.total() >= _LEAST
    said = f"of {counted(seen.total(), 'word')} that OCR reads on the page, its text layer has {common:,}"
    return Verdict("garbled" if is_other else "incomplete", "; ".join(filter(None, (verdict.reason, said))))


def _letters(text: str) -> Counter[str]:
    return Counter(filter(str.isalnum, unicodedata.normalize("NFKC", text)))


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).lower()))
