"""Pages of Chinese and Japanese whose lines run from top to bottom, and from right to left.

pdfium orders such letters as if their lines ran across, and where the font is not inside of the file it leaves out text
(159.0.8149.0); pdfminer has all of it.
"""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, starmap
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ohr import extras
from ohr.errors import PluginError
from ohr.files.pdf_signs import HAN_OR_KANA, Sign, overlap

_DEPTH = 16  # forms in forms
_BESIDE, _PITCH = 0.3, (0.6, 1.25)
"""Neighbors in a line, in sizes of a letter: at most how far from its axis, and how far apart. Lines are farther."""
_SPLIT = 2.0  # sizes: a larger gap in a column parts two tiers


class Mark(NamedTuple):
    """A letter, or several that are written across: its text, the left end and the height of its place, its size.

    Attributes:
        is_across: whether its font is known to be one for lines across.
    """

    text: str
    left: float
    up: float
    size: float
    is_across: bool = False


def may_run_down(text: str) -> bool:
    """Report whether half of a text's letters, or more, are Chinese or Japanese; or it has none."""
    return 2 * len(HAN_OR_KANA.findall(text)) >= sum(map(str.isalpha, text))


def read(path: Path, index: int, signs: Sequence[Sign], missing: int) -> tuple[str, int]:
    """Read a page whose lines run from top to bottom.

    Args:
        signs: those that pdfium finds.
        missing: pieces of text that may be letters which pdfium leaves out.

    Returns:
        The text, or nothing where lines run across, unless these are of cells of one letter; and how many pieces of it
        are still missing: all where pdfminer is not installed, or most of the page is in another script.
    """
    marks, known = _marks(signs), "".join(sign.text for sign in signs)
    # where the machine has a font for the letters pdfium finds them all, but knows neither spaces nor the font's lines
    may_differ = missing or _lie_below_each_other(marks)
    if may_differ and (others := _marks_of_pdfminer(path, index)) is not None:
        text = "".join(mark.text for mark in others)
        more = sum(map(str.isalnum, text)) >= sum(map(str.isalnum, known)) + bool(missing)
        is_most = more and may_run_down(text)
        if is_most and _lie_below_each_other(others) and _are_drawn_across(others):
            return "\n".join(_spaced(row).strip() for row in _rows(others)), 0
        is_whole = is_most and _run_down(others)
        marks, missing = (others, 0) if is_whole else (marks, missing if more else 0)
    runs_down = may_run_down("".join(mark.text for mark in marks)) and _run_down(marks)
    return _in_columns(marks) if runs_down else "", missing


def _run_down(marks: Sequence[Mark]) -> bool:
    """Report whether lines run from top to bottom."""
    return _lie_below_each_other(marks) and not _are_drawn_across(marks)


def _lie_below_each_other(marks: Sequence[Mark]) -> bool:
    """Report whether, below titles, more letters of Chinese and Japanese have a neighbor below than at their side."""
    titles, rest = _parted(marks)
    letters = _letters(rest)
    return len(letters) >= sum(len(_letters(title)) for title in titles) and 2 * _neighbors(
        letters, across=True
    ) < _neighbors(letters, across=False)


def _are_drawn_across(marks: Sequence[Mark]) -> bool:
    """Report whether letters in a font for lines across are drawn row by row, as cells of one letter may be."""
    letters = _letters(_parted(marks)[1])
    pairs = list(pairwise(letters))
    across = sum(abs(one.up - other.up) <= _BESIDE * other.size and one.left < other.left for one, other in pairs)
    return all(mark.is_across for mark in letters) and across > sum(starmap(_is_below, pairs))


def _letters(marks: Iterable[Mark]) -> list[Mark]:
    return [mark for mark in marks if HAN_OR_KANA.match(mark.text)]


def _parted(marks: Sequence[Mark]) -> tuple[list[list[Mark]], list[Mark]]:
    """Part a page's titles, which are lines across above all others, from the rest, which keeps its order."""
    rows, end = _rows(marks), 0
    for place, row in enumerate(rows, start=1):
        letters = _letters(row)
        if letters and 2 * _neighbors(letters, across=True) < len(letters):
            break
        if letters:
            end = place
    titles = rows[:end]
    foot = min((mark.up for title in titles for mark in title), default=float("inf"))
    return titles, [mark for mark in marks if mark.up < foot]


def _rows(marks: Iterable[Mark]) -> list[list[Mark]]:
    return [sorted(row, key=lambda mark: mark.left) for row in _grouped(marks, lambda mark: -mark.up)]


def _grouped(marks: Iterable[Mark], place: Callable[[Mark], float]) -> list[list[Mark]]:
    """Divide marks, in the order of their places, where the next one is not beside the first of its group."""
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=place):
        if groups and place(mark) - place(groups[-1][0]) <= _BESIDE * mark.size:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


def _in_columns(marks: Sequence[Mark]) -> str:
    """Write marks in columns from right to left, tier by tier, a line for each column, below the titles."""
    titles, marks = _parted(marks)
    columns = [
        tier for column in _columns(_words_across(marks)) for tier in _tiers(column) if any(mark.text for mark in tier)
    ]
    lines = [_spaced(title).strip() for title in titles]
    band, foot = list[list[Mark]](), 0.0
    for column in sorted(columns, key=lambda column: -column[0].up):
        if band and column[0].up < foot:  # below all columns so far
            lines += _written(band)
            band = []
        foot = min(column[-1].up, foot) if band else column[-1].up
        band.append(column)
    return "\n".join([*lines, *_written(band)])


def left_out(page: Any, text: str) -> int:
    """Count the pieces of text on a page of pdfium without width, unless they are spaces as likely as not.

    Args:
        text: what pdfium reads. If most of it is of another script, only pieces in fonts of Chinese or Japanese that
            are outside of the file count.
    """
    import pypdfium2.raw as pdfium

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    other = not may_run_down(text)
    pieces = flat = tall = 0
    for piece in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT], max_depth=_DEPTH):
        pdfium.FPDFPageObj_GetBounds(piece, left, bottom, right, top)
        is_flat = right.value - left.value < _NO_WIDTH and (not other or _is_in_font_outside(piece))
        pieces, flat, tall = pieces + 1, flat + is_flat, tall + (is_flat and top.value - bottom.value >= _NO_WIDTH)
    return flat if other or tall or 2 * flat > pieces else 0


def _is_in_font_outside(piece: Any) -> bool:
    """Report whether a piece of text is in a font outside of the file that has Chinese letters of full width."""
    import pypdfium2.raw as pdfium

    font, width = pdfium.FPDFTextObj_GetFont(piece), ctypes.c_float()
    if pdfium.FPDFFont_GetIsEmbedded(font) == 1:
        return False
    pdfium.FPDFFont_GetGlyphWidth(font, ord("\u4e2d"), 1.0, width)
    return abs(width.value) > _FULL_WIDTH  # of a font for lines from top to bottom it is below 0


_FULL_WIDTH = 0.95
"""Of the font's size: pdfium answers that of a space, or 0, for fonts of other scripts."""
_NO_WIDTH = 0.01
"""Points; pdfium leaves out text that is narrower."""


def _marks_of_pdfminer(path: Path, index: int) -> list[Mark] | None:
    """Read a page with pdfminer, in the order in which it is drawn; None where that is not possible."""
    try:
        reader = extras.load("pdfplumber", "text_layer")
    except PluginError:
        return None
    try:
        with reader.open(path, pages=[index + 1]) as document:
            (page,) = document.pages
            boxes = (tuple(sign[side] for side in ("x0", "top", "x1", "bottom")) for sign in page.chars)
            return [
                Mark(sign["text"], sign["x0"], -sign["top"], sign["size"], sign["adv"] >= 0)
                for sign, box in zip(page.chars, boxes, strict=True)
                if overlap(box, page.cropbox) and not sign["text"].startswith("(cid:")
            ]
    except Exception:  # pdfminer raises many kinds on damaged pages
        return None


def _marks(signs: Sequence[Sign]) -> list[Mark]:
    """Return what pdfium finds as marks.

    Boxes are of the ink, less than a letter's size, and letters of fonts outside of the file may have none.
    """
    sizes = [max(box[2] - box[0], box[3] - box[1]) for _, box, _, _ in signs]
    usual = median([size for size in sizes if size > 0] or [1.0])
    return [
        Mark(sign.text, *sign.origin, max(size, usual))
        for sign, size in zip(signs, sizes, strict=True)
        if sign.text.strip()
    ]


def _neighbors(letters: Sequence[Mark], *, across: bool) -> int:
    """Count the letters that have another at the side, or below."""
    if across:
        letters = [Mark(mark.text, mark.up, -mark.left, mark.size) for mark in letters]
    unit = median([mark.size for mark in letters] or [1.0]) or 1.0
    ordered = sorted(letters, key=lambda mark: (round(mark.left / unit), -mark.up))
    return sum(_is_below(above, below) for above, below in pairwise(ordered))


def _is_below(above: Mark, below: Mark) -> bool:
    size = max(above.size, below.size)
    return (
        abs(above.left - below.left) <= _BESIDE * size and _PITCH[0] * size <= above.up - below.up <= _PITCH[1] * size
    )


def _words_across(marks: Iterable[Mark]) -> Iterator[Mark]:
    """Join digits and letters of other scripts that are written across."""
    last: Mark | None = None
    end = 0.0
    for mark in marks:
        is_other = last and not HAN_OR_KANA.search(last.text + mark.text)
        if last and is_other and abs(mark.up - last.up) < _BESIDE * mark.size and 0 < mark.left - end < 2 * mark.size:
            last, end = last._replace(text=last.text + mark.text), mark.left
            continue
        if last:
            yield last
        last, end = mark, mark.left
    if last:
        yield last


def _spaced(title: Sequence[Mark]) -> str:
    """Write a line across, with spaces at gaps wider than those between words."""
    gaps = [mark.left - last.left > _SPLIT * max(last.size, mark.size) for last, mark in pairwise(title)]
    return "".join(" " * is_wide + mark.text for is_wide, mark in zip([False, *gaps], title, strict=True))


def _columns(marks: Iterable[Mark]) -> list[list[Mark]]:
    return [sorted(column, key=lambda mark: -mark.up) for column in _grouped(marks, lambda mark: -mark.left)]


def _tiers(column: Sequence[Mark]) -> Iterator[list[Mark]]:
    tier = [column[0]]
    for above, below in pairwise(column):
        if above.up - below.up > _SPLIT * max(above.size, below.size):
            yield tier
            tier = []
        tier.append(below)
    yield tier


def _written(columns: Iterable[Sequence[Mark]]) -> list[str]:
    ordered = sorted(columns, key=lambda column: -column[0].left)
    return ["".join(mark.text for mark in column).strip() for column in ordered]
