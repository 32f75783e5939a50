"""PP-OCR (Chinese and English) through rapidocr and onnxruntime; the models come with the package."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Image, OcrBackend, Recognition, Resources, execution
from ohr.models.resident import resident

from .reading_order import Line, as_read

_LANGUAGES = ("en", "zh")
_LONGEST_STRIP = (
    4  # sides: the engine enlarges an image until its short side has 736 pixels, however long the other gets
)
_DETECTED = 1280
"""Longest side, in pixels, of the copy in which lines are looked for: on the pages of `mini` (1,651 pixels) as many
words are read as at full size, and at 960 fewer. Lines are read at full size."""
_LONGEST_PAGE = 2.5  # sides: in the copy of a longer page, lines are too small to be found (at 4.4 half are, at 9 none)
_PART = 1.5  # sides of a part that such a page is read in
_WINDOW = 0.6  # of a part: where its widest gap is looked for, to cut there; a word is no longer than that


class RapidOcr(OcrBackend, kind="rapidocr"):
    """Reads pages with PP-OCR (Du et al., arXiv:2009.09941): line boxes, then the text of each line.

    The engine returns lines without an order: they are sorted into columns, which white gaps separate, top to bottom.
    A page much longer or wider than a sheet is read in parts.
    """

    version: ClassVar[int] = 3
    extra: ClassVar[str | None] = "ocr"
    packages: ClassVar[tuple[str, ...]] = ("rapidocr", "onnxruntime", "opencv-python", "opencv-python-headless")
    min_confidence: Annotated[float, Field(ge=0, le=1, description="Lines below this score are dropped.")] = 0.5
    threads: Annotated[int, execution("Threads of one engine.", ge=1)] = 1

    def check(self) -> None:
        """Raise when rapidocr or onnxruntime is missing."""
        extras.require("rapidocr", "ocr")
        extras.require("onnxruntime", "ocr")

    def resources(self) -> Resources:
        """Return the engine's resources."""
        return Resources(cpus=self.threads)

    def reads(self, language: str) -> bool:
        """Report whether PP-OCR's packaged model reads `language`."""
        return language in _LANGUAGES

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Read each image."""
        return [_read(image, self.min_confidence, self.threads) for image in images]


def _started(threads: int, is_large: bool) -> Any:
    import logging

    rapidocr = extras.load("rapidocr", "ocr")
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    settings = {
        "Global.log_level": "error",
        "EngineConfig.onnxruntime.intra_op_num_threads": threads,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        # each line at its own width: in batches it is padded to the widest, and to 320 pixels, several words long
        "Rec.rec_img_shape": [3, 48, 48],
        "Rec.rec_batch_num": 1,
    }
    smaller = {"Det.limit_type": "max", "Det.limit_side_len": _DETECTED} if is_large else {}
    return rapidocr.RapidOCR(params=settings | smaller)


def _padded(image: Image) -> Image:
    """Widen a strip with white on its right or lower side."""
    height, width = image.shape[:2]
    least = max(height, width) // _LONGEST_STRIP
    if min(height, width) >= least:
        return image
    missing = ((0, max(least - height, 0)), (0, max(least - width, 0)), (0, 0))
    return np.pad(image, missing, constant_values=255)


def read_lines(image: Image, least: float, threads: int) -> list[Line]:
    """Read the lines of an image whose confidence is at least `least`, in no order; passes on errors of the engine."""
    return [line for part, corner in parts(image) for line in _read_part(part, corner, least, threads)]


def parts(image: Image) -> list[tuple[Image, tuple[int, int]]]:
    """Cut a very long or wide page where it is emptiest; returns the parts, and the left upper corner of each.

    Any other page is one part.
    """
    long = int(np.argmax(image.shape[:2]))
    length, short = image.shape[long], image.shape[1 - long]
    if length <= _LONGEST_PAGE * short or length <= _DETECTED:
        return [(image, (0, 0))]
    size = max(int(_PART * short), _DETECTED // 2)
    ink = image.min(axis=2).astype(np.int16)
    uneven = np.ptp(ink, axis=1 - long)  # 0 in a row of one color
    cuts = [0]
    while length - cuts[-1] > 1.5 * size:
        start = cuts[-1] + int(size * (1 - _WINDOW))
        cuts.append(start + _middle_of_gap(uneven[start : cuts[-1] + size]))
    ends = [*cuts[1:], length]
    if long == 0:
        return [(image[start:end], (0, start)) for start, end in zip(cuts, ends, strict=True)]
    return [(image[:, start:end], (start, 0)) for start, end in zip(cuts, ends, strict=True)]


def _middle_of_gap(uneven: Any) -> int:
    """Return the middle of the longest run of the least uneven rows."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], uneven == uneven.min(), [False]))))
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest] + ends[longest]) // 2


def _read_part(image: Image, corner: tuple[int, int], least: float, threads: int) -> list[Line]:
    is_large = max(image.shape) > _DETECTED
    engine = resident(("rapidocr", threads, is_large), lambda: _started(threads, is_large))
    # BGR, as the engine expects, and contiguous: it cuts out each line, and would copy the whole page each time
    page = np.ascontiguousarray(_padded(image)[:, :, ::-1])
    found = engine(page)
    if found.boxes is None or found.txts is None:
        return []
    rows = zip(found.boxes, found.txts, found.scores, strict=True)
    return [
        Line.around(box + np.array(corner, dtype=box.dtype), text, score) for box, text, score in rows if score >= least
    ]


def _read(image: Image, least: float, threads: int) -> Recognition:
    try:
        return as_read(read_lines(image, least, threads), image.shape[1])
    except Exception as error:  # onnxruntime and the engine's own code raise many kinds
        return Recognition("", f"{type(error).__name__}: {error}")
