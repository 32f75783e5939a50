"""Signs of a PDF page as pdfium finds them: which are visible, where lines break, and which lack a character."""

import ctypes
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from ohr.text.chinese import HAN
from ohr.text.layer import reads

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points from the page's lower left corner."""

HAN_OR_KANA = re.compile(f"[{HAN}\u3041-\u30ff\u31f0-\u31ff]")
"""A letter of Chinese or Japanese."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_NO_CHARACTER = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
_WORD_GAP = 0.15
"""Share of a glyph's height up to which a gap on one baseline parts no word. Of 330 such gaps where pdfium breaks a
line (1,150 public PDFs), MuPDF joins the words at all 257 of at most .1 that it decides, and parts them from .2 on."""
_COLUMN_GAP = 1.2
"""As `_WORD_GAP`, where pdfium sees no gap at all: MuPDF parts all 65 such gaps that it decides, of 1.2 or more."""
_SECOND_PRINT = 0.12
"""Share of a glyph's height up to which the same letter, drawn once more, is the second print of a bold one: in public
PDFs second prints are at most .1 apart, and letters that are spelled twice at least .14."""
_ONE_SIZE = 1.15
"""Ratio of the heights of two fonts up to which they may be of two rows; an index is at most .8 of its letter."""
_ROW = 0.95
"""Share of a font's height that parts two rows, or more; of an index above another it is .85 or less."""
_TURNED = 0.1
"""Radians."""
_NEAR = 6
"""Signs back to which a gap is measured: a sum is followed by its limit, and that by what is summed."""


class Sign(NamedTuple):
    """A character of a page, or the white space that parts two.

    Attributes:
        origin: where the character's baseline begins, in points.
        place: its number in pdfium's text page.
    """

    text: str
    box: Box = (0.0, 0.0, 0.0, 0.0)
    origin: tuple[float, float] = (0.0, 0.0)
    place: int = -1

    @property
    def is_drawn(self) -> bool:
        """Report whether it has a width; white space that pdfium adds has none."""
        return self.box[0] < self.box[2]

    def is_in(self, box: Box) -> bool:
        """Report whether its center is in a box."""
        across, up = (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2
        return box[0] <= across <= box[2] and box[1] <= up <= box[3]


class Reading(NamedTuple):
    """Text of a page as pdfium reads it.

    Attributes:
        signs: in the order in which they are read; their texts together are the page's.
        glyphs: how many are drawn, spaces among them.
        unknown: how many of them have no Unicode, so that the text lacks them or has others in their place; not those
            of a font whose letters read as words all the same.
    """

    signs: list[Sign]
    glyphs: int
    unknown: int

    @property
    def text(self) -> str:
        """The page's text."""
        return "".join(sign.text for sign in self.signs)


def read_signs(page: Any, layer: Any) -> Reading:
    """Read a page of pdfium and its text page.

    What is outside of the page's visible box is left out, and a letter that is printed twice is taken once.
    """
    import pypdfium2.raw as pdfium

    characters = list(_characters(layer))
    drawn = [at for at, (place, _) in enumerate(characters) if pdfium.FPDFText_IsGenerated(layer, place) != 1]
    printed = [at for at in drawn if pdfium.FPDFText_IsHyphen(layer, characters[at][0]) != 1]
    lacking = {characters[at][0] for at in printed if _lacks_character(characters, at)}
    unmapped = {
        characters[at][0] for at in printed if pdfium.FPDFText_HasUnicodeMapError(layer, characters[at][0]) == 1
    }
    signs = list(_in_lines(layer, characters, frozenset(drawn), page.get_bbox()))
    if any(_RIGHT_TO_LEFT.match(sign.text) for sign in signs):
        signs = list(_in_logical_order(signs))
    if unmapped and reads("".join(sign.text for sign in signs if sign.place in unmapped or sign.text.isspace())):
        unmapped = set()  # of a font whose glyphs have the names of letters, as many of Type 3 have
    return Reading(signs, len(drawn), len(lacking | unmapped))


def is_right_to_left(text: str) -> bool:
    """Report whether a text has letters of a script that is written from right to left."""
    return _RIGHT_TO_LEFT.search(text) is not None


def _characters(layer: Any) -> Iterator[tuple[int, str]]:
    """Yield pdfium's characters with their places; one beyond 16 bits has two."""
    import pypdfium2.raw as pdfium

    high = 0
    for place in range(layer.count_chars()):
        code = pdfium.FPDFText_GetUnicode(layer, place)
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if high and 0xDC00 <= code < 0xE000:
            code = 0x10000 + (high - 0xD800) * 0x400 + code - 0xDC00
        high = 0
        yield place, character(code)


def character(code: int) -> str:
    """Return the character of a code; the sign for an unknown one where no character has it, as fonts may say."""
    return "\ufffd" if code > sys.maxunicode or 0xD800 <= code < 0xE000 else chr(code)


def _lacks_character(characters: Sequence[tuple[int, str]], at: int) -> bool:
    """Report whether a code is no character; a private one by itself is a bullet or a picture."""
    sign = characters[at][1]
    if unicodedata.category(sign) != "Co":
        return _NO_CHARACTER.match(sign) is not None
    return any(0 <= near < len(characters) and not characters[near][1].isspace() for near in (at - 1, at + 1))


def _in_lines(layer: Any, characters: Sequence[tuple[int, str]], drawn: frozenset[int], visible: Box) -> Iterator[Sign]:
    """Yield what is visible, with white space where words and lines end.

    As pdfium does it for a box (CPDF_TextPage::GetTextByPredicate), with a difference: there, a line does not end where
    the next word has the baseline on which the line began, so that the words of a row, or of columns that begin at one
    height, are glued. Here they are parted wherever there is a gap between them.
    """
    line, last, ends = 0.0, None, False
    within = False  # whether a space would be one between words
    word: list[Sign] = []
    for at, (place, text) in enumerate(characters):
        sign = _sign(layer, place, text)
        if at in drawn and _is_visible(sign, visible):
            if last is not None and last.text == text and _is_second_print(layer, last, sign):
                continue
            if ends and (sign.origin[1] != line or all(_is_apart(layer, each, sign) for each in word[-_NEAR:])):
                line, word = sign.origin[1], []
                yield from [Sign("\n")] * (last is not None)
            elif last and sign.box[3] < last.box[1] and _is_in_next_row(layer, word[-_NEAR:] or [last], sign):
                line, word = sign.origin[1], []
                yield Sign("\n")
            elif within and last and not last.text.isspace() and _is_in_next_column(layer, last, sign):
                word = []
                yield Sign(" ")
            word.append(sign)
            within, ends, last = True, False, sign
            if text != "\0":
                yield sign
        elif text == " ":
            if within:
                yield sign
                within, ends, word = False, False, []
        else:
            within, ends = False, True


def _sign(layer: Any, place: int, text: str) -> Sign:
    import pypdfium2.raw as pdfium

    left, right, bottom, top, across, up = _NUMBERS
    pdfium.FPDFText_GetCharBox(layer, place, left, right, bottom, top)
    pdfium.FPDFText_GetCharOrigin(layer, place, across, up)
    return Sign(text, (left.value, bottom.value, right.value, top.value), (across.value, up.value), place)


_NUMBERS = tuple(ctypes.c_double() for _ in range(6))


def _is_visible(sign: Sign, visible: Box) -> bool:
    """Report whether a glyph is on the page; one without an extent may be of a font outside of the file."""
    left, bottom, right, top = sign.box
    if left < right and bottom < top:
        return overlap(sign.box, visible)
    reaches = left <= visible[2] and right >= visible[0] and bottom <= visible[3] and top >= visible[1]
    return reaches and sign.text not in " \0"


def overlap(first: Box, second: Box) -> bool:
    """Report whether two boxes share a part of the page; in both, heights are counted in the same direction."""
    return first[0] < second[2] and first[2] > second[0] and first[1] < second[3] and first[3] > second[1]


def _is_apart(layer: Any, last: Sign, sign: Sign) -> bool:
    first, second = (layer.get_charbox(each.place, loose=True) for each in (last, sign))
    across, up = (max(first[n], second[n]) - min(first[n + 2], second[n + 2]) for n in (0, 1))
    height = max(first[3] - first[1], second[3] - second[1])
    return bool(up > 0 or across > _WORD_GAP * height)


def _is_in_next_column(layer: Any, last: Sign, sign: Sign) -> bool:
    """Report whether a sign that pdfium takes for the next one of a word is far to the right on the same line."""
    gap, drawn = sign.box[0] - last.box[2], max(sign.box[3] - sign.box[1], last.box[3] - last.box[1])
    if gap <= _COLUMN_GAP / 2 * drawn or is_right_to_left(sign.text):  # the first spares most signs what follows
        return False
    first, second = (layer.get_charbox(each.place, loose=True) for each in (last, sign))
    height = max(first[3] - first[1], second[3] - second[1])
    return bool(min(first[3], second[3]) > max(first[1], second[1]) and second[0] - first[2] > _COLUMN_GAP * height)


def _is_in_next_row(layer: Any, near: Sequence[Sign], sign: Sign) -> bool:
    """Report whether a sign below the one before is in another row, as a cell of a single sign may be.

    pdfium begins no line at a line of one sign. Signs of other sizes are limits or indices. In lines that run from top
    to bottom each sign is below the one before: these are turned, Chinese, or one piece of text. And what follows a
    hyphen at the end of a line is of one word with it.
    """
    import pypdfium2.raw as pdfium

    last = near[-1]
    if sign.box[0] >= last.box[2] or unicodedata.category(sign.text) == "Mn":  # an accent
        return False
    if HAN_OR_KANA.search(last.text + sign.text):
        return False
    if any(pdfium.FPDFText_IsHyphen(layer, place) == 1 for place in (last.place, sign.place - 1)):
        return False
    boxes = [layer.get_charbox(each.place, loose=True) for each in (*near, sign)]
    heights = [box[3] - box[1] for box in boxes]
    if max(heights) > _ONE_SIZE * min(heights) or last.origin[1] - sign.origin[1] < _ROW * heights[-1]:
        return False
    return _is_upright(layer, last) and _is_upright(layer, sign) and not _is_one_piece(layer, last, sign)


def _is_upright(layer: Any, sign: Sign) -> bool:
    import pypdfium2.raw as pdfium

    return bool(abs(pdfium.FPDFText_GetCharAngle(layer, sign.place)) < _TURNED)


def _is_second_print(layer: Any, last: Sign, sign: Sign) -> bool:
    _, bottom, _, top = layer.get_charbox(sign.place, loose=True)
    apart = max(abs(sign.origin[n] - last.origin[n]) for n in (0, 1))
    if apart > _SECOND_PRINT * (top - bottom):
        return False
    return not _is_one_piece(layer, last, sign)  # the letters of one glyph, such as a ligature, have one place, too


def _is_one_piece(layer: Any, last: Sign, sign: Sign) -> bool:
    """Report whether two signs are of one text object of the page."""
    import pypdfium2.raw as pdfium

    first, second = (pdfium.FPDFText_GetTextObject(layer, each.place) for each in (last, sign))
    return ctypes.addressof(first.contents) == ctypes.addressof(second.contents)


def _in_logical_order(signs: Sequence[Sign]) -> Iterator[Sign]:
    """Yield the signs of a page with scripts from right to left.

    pdfium reverses them one by one, and so the letters of a glyph of several letters, such as lam-alef.
    """

    def glyph(sign: Sign) -> object:
        is_letter = _RIGHT_TO_LEFT.match(sign.text) and unicodedata.category(sign.text) == "Lo"
        return sign.origin if is_letter else sign.place

    for _, group in groupby(signs, key=glyph):
        letters = list(group)
        text = "".join(sign.text for sign in letters)
        yield from letters if text in _ligatures() and text[::-1] not in _ligatures() else letters[::-1]


@lru_cache(maxsize=1)
def _ligatures() -> frozenset[str]:
    """The letters of Arabic ligatures that have a code of their own, which pdfium parts in the right order."""
    signs = (chr(code) for code in (*range(0xFB50, 0xFE00), *range(0xFE70, 0xFEFD)))
    return frozenset(unicodedata.normalize("NFKC", sign) for sign in signs)
