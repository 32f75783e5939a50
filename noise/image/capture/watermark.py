"""Words printed over the whole page (FCMBench, Table 2: overlaid watermarks)."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from ..distortion import opencv
from ..light import exposed
from .camera import Capture
from .scene import level

_WHO = ("Marram Bank", "Harbour Credit", "Northgate Leasing", "Town Registry", "Alder Insurance")
_WHY = ("loan verification only", "account opening only", "for internal review", "copy for audit only")
_STAMPS = ("DRAFT", "COPY", "SAMPLE", "CONFIDENTIAL", "VOID")
_GREYS = ((40, 40, 40), (70, 70, 70), (40, 50, 66))
_LONGEST = 6000  # pixels of a page's longer side; on larger pages the words are written smaller and scaled up
_BAND = 128  # rows
_INKS = (*_GREYS, (180, 40, 40), (40, 70, 150))


class Watermark(Capture, kind="watermark"):
    """Prints words over the page, in ink of opacity .15, .30 and .45 (severity 1/3, 2/3, 1).

    Mostly a line such as apps write on pictures, with user, purpose and date, in slanted rows of thin grey letters;
    on a quarter of the pages one large word across, as a word processor prints it. Both are on top of a photograph.
    """

    version: ClassVar[int] = 5
    packages: ClassVar[tuple[str, ...]] = ("opencv-python", "opencv-python-headless", "pillow")

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        stamped = rng.random() < 0.25
        mask = _whole(_stamp if stamped else _rows, image, rng)
        inks = _INKS if stamped else _GREYS
        ink = inks[int(rng.integers(len(inks)))]
        opacity = level(self.severity, 0, (0.15, 0.30, 0.45))
        # without a camera there is no room light either: the words are printed on the file itself
        seen = exposed(self.printed(image), rng, 0.8 * self.near * min(1.0, self.camera))
        photograph = self.photographed(seen, rng)
        _overlay(photograph, mask, opacity, ink)
        return NoisyImage(photograph)


def _overlay(photograph: Image, mask: Image, opacity: float, ink: tuple[int, int, int]) -> None:
    """Put ink on a photograph where the mask is not 0; in bands, which fit into a processor's cache, and in place."""
    cv2, steps = opencv(), np.arange(256) / 255 * opacity
    left, *added = (np.rint(table).astype(np.uint8) for table in (255 - 255 * steps, *(steps * tone for tone in ink)))
    for top in range(0, len(mask), _BAND):
        part, words = photograph[top : top + _BAND], mask[top : top + _BAND]
        cv2.multiply(part, cv2.merge([cv2.LUT(words, left)] * 3), scale=1 / 255, dst=part)
        cv2.add(part, cv2.merge([cv2.LUT(words, table) for table in added]), dst=part)


def _whole(
    written: Callable[[tuple[int, int], np.random.Generator], Image], image: Image, rng: np.random.Generator
) -> Image:
    """Write over a page of any size: (H, W), 255 where there is ink."""
    height, width = image.shape[:2]
    factor = min(1.0, _LONGEST / max(height, width))
    mask = written((max(1, round(height * factor)), max(1, round(width * factor))), rng)
    return mask if factor == 1 else np.asarray(opencv().resize(mask, (width, height)))


def _rows(size: tuple[int, int], rng: np.random.Generator) -> Image:
    """Write a line again and again in slanted rows: (H, W), 255 where there is ink."""
    day = f"20{rng.integers(19, 27)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
    time = ":".join(f"{number:02d}" for number in rng.integers(0, (24, 60, 60)))
    words = f"{rng.choice(_WHO)} {rng.choice(_WHY)} {day} {time}"
    height, width = size
    line = _written(words, max(height, width) * rng.uniform(0.016, 0.026))
    apart, down = round(rng.uniform(0.04, 0.3) * line.shape[1]), round(rng.uniform(2.2, 4.5) * line.shape[0])
    step, side = line.shape[1] + apart, int(np.hypot(height, width)) + 1
    row = np.zeros((line.shape[0], step), dtype=np.uint8)
    row[:, : line.shape[1]] = line
    row = np.tile(row, (1, side // step + 2))
    flat = np.zeros((side, side), dtype=np.uint8)
    for number, y in enumerate(range(0, side - len(row), len(row) + down)):
        start = number * step // 3 % step  # each row is shifted against the one above
        flat[y : y + len(row)] = row[:, start : start + side]
    return _slanted(flat, size, rng.uniform(15, 40) * rng.choice([-1, 1]))


def _stamp(size: tuple[int, int], rng: np.random.Generator) -> Image:
    """Write one large word from corner to corner: (H, W), 255 where there is ink."""
    height, width = size
    side = int(np.hypot(height, width)) + 1
    word = _written(str(rng.choice(_STAMPS)), 0.12 * side)
    long = rng.uniform(0.55, 0.8) * side
    across, down = max(1, round(long)), max(1, round(min(word.shape[0] * long / word.shape[1], 0.3 * side)))
    flat = np.zeros((side, side), dtype=np.uint8)
    top, left = (side - down) // 2, (side - across) // 2
    flat[top : top + down, left : left + across] = opencv().resize(word, (across, down))
    return _slanted(flat, size, float(np.degrees(np.arctan2(height, width))))


def _written(words: str, size: float) -> Image:
    """Draw words in a thin sans-serif, `size` pixels tall."""
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    font = ImageFont.load_default(max(size, 4))
    left, top, right, bottom = font.getbbox(words)
    drawn = Pillow.new("L", (max(1, int(right - left)) + 2, max(1, int(bottom - top)) + 2))
    ImageDraw.Draw(drawn).text((1 - left, 1 - top), words, fill=255, font=font)
    return np.asarray(drawn)


def _slanted(flat: Image, size: tuple[int, int], slant: float) -> Image:
    """Turn a square about its middle and cut the page out of it."""
    cv2, side = opencv(), len(flat)
    height, width = size
    turn = cv2.getRotationMatrix2D((side / 2, side / 2), slant, 1.0)
    turn[:, 2] += ((width - side) / 2, (height - side) / 2)
    return np.asarray(cv2.warpAffine(flat, turn, (width, height), flags=cv2.INTER_LINEAR))
