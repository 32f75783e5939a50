"""A second reader of text layers, and OCR of single pages, in a process of its own.

    python -m ohr.text_layers.second_reader FILE
    python -m ohr.text_layers.second_reader FILE PAGE LANGUAGE

pdfminer has no limits: a page may take it minutes, or all memory. So this process has a limit of memory, and whoever
starts it ends it where it takes too long. It prints a line of JSON for each page: what it reads, or null.
"""

import json
import logging
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

_MEMORY = 4 << 30
"""Bytes of address space; Tesseract's engine and a page at 200 dpi take one of the four."""
_SECOND_PRINT = 0.12
"""Share of a glyph's size up to which the same letter is a second print of it, as in `ohr.files.pdf_signs`."""
_DPI = 200
PAGE_SECONDS = 10.0
"""For a page; of 600 public ones the slowest takes 2 on a free core."""


class _TooLong(BaseException):
    """Ends a page; no `except Exception` of pdfminer catches this."""


class Reading(NamedTuple):
    """Text of a page as pdfminer reads it.

    Attributes:
        text: the characters on the page, in the order in which they are drawn.
        unknown: how many glyphs it has no characters for.
    """

    text: str
    unknown: int


def readings(path: Path) -> Iterator[Reading | None]:
    """Read the text layer of each page with pdfminer; None for a page on which it fails."""
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfinterp import PDFResourceManager
    from pdfminer.pdfpage import PDFPage
    from pdfminer.pdfparser import PDFParser

    manager = PDFResourceManager()
    signal.signal(signal.SIGALRM, _stop)
    with path.open("rb") as content:
        for page in PDFPage.create_pages(PDFDocument(PDFParser(content))):
            yield _reading(manager, page)


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 # of a handler
    raise _TooLong


def _reading(manager: Any, page: Any) -> Reading | None:
    from pdfminer.pdfinterp import PDFPageInterpreter
    from pdfminer.utils import MATRIX_IDENTITY

    device = _device(manager, page.cropbox)
    try:
        signal.setitimer(signal.ITIMER_REAL, PAGE_SECONDS)
        PDFPageInterpreter(manager, device).render_contents(page.resources, page.contents, ctm=MATRIX_IDENTITY)
    except (_TooLong, Exception):  # pdfminer raises many kinds on damaged pages
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return Reading(_once(device.glyphs), device.unknown)


Glyph = tuple[str, float, float, float]
"""A text, the place of its origin, and its size, in points."""


def _device(manager: Any, visible: tuple[float, float, float, float]) -> Any:
    """Return what pdfminer draws on: it keeps the glyphs in the visible box."""
    from pdfminer.pdfdevice import PDFTextDevice
    from pdfminer.pdffont import PDFUnicodeNotDefined

    class Device(PDFTextDevice):
        def __init__(self) -> None:
            super().__init__(manager)
            self.glyphs: list[Glyph] = []
            self.unknown = 0

        def render_char(self, matrix: Any, font: Any, fontsize: float, scaling: float, *rest: Any) -> float:
            cid = rest[1]
            advance = float(font.char_width(cid)) * fontsize * scaling
            a, b, c, d, e, f = matrix
            x, y = e + a * advance / 2 + c * fontsize / 4, f + b * advance / 2 + d * fontsize / 4  # inside of the glyph
            if visible[0] <= x <= visible[2] and visible[1] <= y <= visible[3]:
                try:
                    self.glyphs.append((font.to_unichr(cid), e, f, abs(fontsize) * max(abs(c), abs(d))))
                except PDFUnicodeNotDefined:
                    self.unknown += 1
            return advance

    return Device()


def _once(glyphs: list[Glyph]) -> str:
    """Return the text without the second prints of letters that are drawn twice to look bold."""
    places: defaultdict[str, list[tuple[float, float, float, int]]] = defaultdict(list)
    for number, (text, x, y, size) in enumerate(glyphs):
        places[text].append((x, y, _SECOND_PRINT * size, number))
    second = set()
    for same in places.values():
        same.sort()
        for at, (x, y, near, number) in enumerate(same):
            for left, height, _, _ in reversed(same[max(at - _BESIDE, 0) : at]):
                if x - left > near:
                    break
                if abs(y - height) <= near:
                    second.add(number)
                    break
    return "".join(text for number, (text, *_) in enumerate(glyphs) if number not in second)


_BESIDE = 200
"""Letters of one kind above each other that are compared with one: a page has fewer lines."""


def _recognised(path: Path, page: int, language: str) -> str | None:
    """Read the image of a page with Tesseract, where it is installed and has the language."""
    from ohr.files.pdf import render
    from ohr.registry import Registry

    engine: Any = Registry().load("ocr", "tesseract").model_validate({"dpi": _DPI})
    engine.check()
    if not engine.reads(language):
        return None
    (found,) = engine.recognise([render(path, page, _DPI)])
    return None if found.error else str(found.text)


def main() -> None:
    """Read a file, or one of its pages; what cannot be read ends the output."""
    path, *place = sys.argv[1:]
    logging.disable()
    with suppress(ValueError, OSError):  # there is a lower limit already
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries print, too
    pages = [_recognised(Path(path), int(place[0]), place[1])] if place else readings(Path(path))
    for page in pages:
        print(json.dumps(page), file=answers, flush=True)


if __name__ == "__main__":
    main()
