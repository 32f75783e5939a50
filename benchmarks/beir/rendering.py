"""Text as a page image: black on white, one column, as wide as A4 and as long as the text."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files.digests import input_digest
from ohr.keys import key
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

Font = Literal["dejavu", "ascii"] | Path
"""`dejavu` comes with Matplotlib (Latin, Greek, Cyrillic, symbols), `ascii` with Pillow."""

RENDERING = 1
"""Raised when the same text, font and resolution give other pixels."""

_WIDTH, _MARGIN = 8.27, 1.0
"""Inches: the width of A4, and the margin on each side."""
_SIZE, _LEADING = 11 / 72, 1.35
"""Height of the letters in inches (11 points), and the distance of lines in heights."""
_TALLEST = 32_000
"""Pixels. Tesseract reads no image with a side of more than 32,767."""
_SHOWN = 5
"""Characters that an error names."""


def render(text: str, font: Font, dpi: int, name: str, *, leave_out: bool = False) -> Image:
    """Draw a text.

    Args:
        name: of the document, for messages.
        leave_out: do without characters that the font lacks, in place of an error.

    Returns:
        (height, width, 3).

    Raises:
        DataError: the font cannot be read or lacks characters of the text, or the text is too long for a page.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    face = _face(font, round(_SIZE * dpi))
    text = _visible(text)
    if absent := sorted(sign for sign in set(text) if not sign.isspace() and _is_absent(face, sign)):
        if not leave_out:
            raise DataError(f"{name}: {_lacking(absent, font)}")
        text = text.translate(dict.fromkeys(map(ord, absent)))
    margin, step = round(_MARGIN * dpi), round(_SIZE * dpi * _LEADING)
    width = round(_WIDTH * dpi)
    lines: list[str] = []
    for line in _wrapped(text, face, width - 2 * margin):
        lines.append(line)
        if 2 * margin + step * len(lines) > _TALLEST:
            raise DataError(
                f"{name}: {counted(len(text), 'character')} are more than a page image of {_TALLEST:,} pixels holds "
                f"at {dpi} dpi: lower `dpi`, or give this document text noise only"
            )
    page = Pillow.new("L", (width, 2 * margin + step * max(len(lines), 1)), 255)
    pen = ImageDraw.Draw(page)
    for place, line in enumerate(lines):
        pen.text((margin, margin + step * place), line, fill=0, font=face)
    return np.repeat(np.asarray(page)[:, :, None], 3, axis=2)


def rendered_from(font: Font) -> list[object]:
    """Return what decides the pixels beside text and resolution: the font, the code and the library that draws."""
    from PIL import features

    return [RENDERING, features.version("freetype2"), key("font", _content_digest(font))]


def check_font(font: Font) -> None:
    """Refuse a file that cannot be read as a font; a font by name is looked for when something is drawn."""
    if isinstance(font, Path):
        _face(font, 20)


def _face(font: Font, size: int) -> "FreeTypeFont":
    """Open a font; the basic layout draws the same everywhere, with or without a library for complex scripts."""
    return _opened(str(_file(font) or ""), size)


@lru_cache(maxsize=4)
def _opened(path: str, size: int) -> "FreeTypeFont":
    from PIL import ImageFont

    if not path:
        own = ImageFont.load_default(size)
        if not isinstance(own, ImageFont.FreeTypeFont):
            raise DataError("font: this Pillow was built without FreeType; install its wheel")
        return ImageFont.truetype(BytesIO(own.font_bytes), size, layout_engine=ImageFont.Layout.BASIC)
    try:
        return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
    except OSError as error:
        raise DataError(f"font: {path}: cannot be read as a font: {error}") from None


def _file(font: Font) -> Path | None:
    """Return a font's file; None for the one inside Pillow."""
    if isinstance(font, Path):
        return font
    if font == "ascii":
        return None
    try:
        import matplotlib
    except ImportError:
        raise DataError(
            "page images: `font: dejavu` needs Matplotlib: pip install 'ohr[report]', or name a font file"
        ) from None
    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


def _content_digest(font: Font) -> str:
    path = _file(font)
    if path is None:
        return key("pillow", _opened("", 20).getname())
    return input_digest(path) if path.is_file() else ""


def _visible(text: str) -> str:
    """Compose accents, and leave out marks that nobody sees, such as soft hyphens and control characters."""
    if text.isascii() and text.isprintable():
        return text
    composed = unicodedata.normalize("NFC", text)
    return "".join(sign for sign in composed if sign.isspace() or unicodedata.category(sign) not in ("Cc", "Cf"))


def _lacking(absent: Sequence[str], font: Font) -> str:
    """Return which characters a font lacks, and what helps."""
    some = ", ".join(f"{sign} (U+{ord(sign):04X})" for sign in absent[:_SHOWN])
    more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
    wider = "`font: dejavu`, or " if font == "ascii" else ""
    helps = f"take {wider}`font:` with the path of one that has them, or `missing_glyphs: leave_out`"
    return f"the font lacks {some}{more}: {helps}"


@lru_cache(maxsize=100_000)
def _is_absent(face: "FreeTypeFont", sign: str) -> bool:
    """Report whether a font draws its replacement for a character that it lacks, which is usually a box."""
    return _drawn(face, sign) == _drawn(face, "\U0010ffff")


def _drawn(face: "FreeTypeFont", sign: str) -> bytes:
    mask, offset = face.getmask2(sign, mode="L")
    return bytes(mask) + repr((mask.size, offset)).encode()


def _wrapped(text: str, face: "FreeTypeFont", width: int) -> Iterator[str]:
    """Break a text into lines at its spaces; a word that is wider than a line is broken anywhere."""
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}" if line else word
            if face.getlength(longer) <= width:
                line = longer
                continue
            if line:
                yield line
            line = word
            while face.getlength(line) > width:
                fits = _fitting(line, face, width)
                yield line[:fits]
                line = line[fits:]
        yield line


def _fitting(word: str, face: "FreeTypeFont", width: int) -> int:
    """Return how many characters of a word a line holds, at least 1."""
    low, high = 1, min(len(word), width)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if face.getlength(word[:middle]) <= width else (low, middle - 1)
    return low
