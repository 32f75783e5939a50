"""Stamps and handwriting over the text; letters and strokes are drawn here."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, clouds, opencv, unit

_Path = NDArray[np.float64]
"""Points along a stroke of the pen, (points, 2): x and y."""

_STAMPS = 8  # at severity 1
_SIDE = 640  # pixels of the square that a stamp is drawn in
_INKS = ((170, 30, 45), (30, 55, 150), (95, 45, 135), (20, 95, 70), (45, 45, 50))  # red, blue, violet, green, black
_WORDS = ("RECEIVED", "PAID", "COPY", "APPROVED", "CANCELLED", "ENTERED", "FILED", "URGENT", "CONFIDENTIAL")
_OFFICES = ("HARBOUR TOWN COUNCIL * REGISTRY *", "NORTHGATE LEASING * ACCOUNTS *", "DISTRICT COURT * OFFICE 4 *")


class Stamps(Distortion, kind="stamps"):
    """Stamps the page, over its text, with up to eight rubber stamps, square and round, in five inks.

    8 x severity stamps: all of a lower severity and further ones, the last of them with a share of its ink. Ink is
    uneven, and what is below shows through as far as it is darker. `label_effect` is `occluded`.
    """

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        stamped = image.copy()
        for number in range(_STAMPS):
            own = np.random.Generator(np.random.PCG64(int(rng.integers(1 << 63))))
            share = min(1.0, _STAMPS * self.severity - number)
            if share > 0:
                _press(stamped, own, share)
        return NoisyImage(stamped, label_effect="occluded")


def _press(page: Image, rng: np.random.Generator, share: float) -> None:
    """Press one stamp on a page, in place, with a share of its ink."""
    cv2, (height, width) = opencv(), page.shape[:2]
    ink, middle = _INKS[int(rng.integers(len(_INKS)))], rng.uniform(0.18, 0.82, 2) * (width, height)
    side, turn = max(1, round(rng.uniform(0.28, 0.46) * min(width, height))), rng.normal(0, 9)
    rubber = _round(rng) if rng.random() < 0.4 else _square(rng)
    uneven = np.clip(0.82 + 0.22 * clouds(rng, rubber.shape, 9) + 0.2 * clouds(rng, rubber.shape, 150), 0, 1)
    matrix = cv2.getRotationMatrix2D((_SIDE / 2, _SIDE / 2), turn, side / _SIDE)
    matrix[:, 2] += (side - _SIDE) / 2
    pressed = cv2.warpAffine((rubber * uneven * share).astype(np.uint8), matrix, (side, side), flags=cv2.INTER_LINEAR)
    left, top = np.rint(middle - side / 2).astype(int)
    _ink(page, pressed, ink, int(left), int(top))


def _ink(page: Image, mask: Image, ink: tuple[int, int, int], left: int = 0, top: int = 0) -> None:
    """Lay transparent ink on a page, in place, where a mask, whose corner is at (left, top), is not 0."""
    cv2 = opencv()
    part = page[max(0, top) : top + mask.shape[0], max(0, left) : left + mask.shape[1]]
    seen = mask[max(0, -top) :, max(0, -left) :][: part.shape[0], : part.shape[1]]
    if seen.size:
        gains = [cv2.LUT(seen, np.rint(255 - np.arange(256) * (1 - tone / 255)).astype(np.uint8)) for tone in ink]
        part[:] = cv2.multiply(part, cv2.merge(gains), scale=1 / 255)


def _day(rng: np.random.Generator) -> str:
    return (
        f"{rng.integers(1, 29):02d} {rng.choice(('JAN', 'MAR', 'APR', 'JUN', 'SEP', 'NOV'))} 20{rng.integers(19, 27)}"
    )


def _written(words: str, height: int, width: int) -> Image:
    """Write bold letters that fill a box: (height, width), 255 where there is ink."""
    cv2 = opencv()
    (long, tall), below = cv2.getTextSize(words, cv2.FONT_HERSHEY_DUPLEX, 3, 9)
    line = np.zeros((tall + below + 12, long + 12), dtype=np.uint8)
    cv2.putText(line, words, (6, tall + 6), cv2.FONT_HERSHEY_DUPLEX, 3, 255, 9, cv2.LINE_AA)
    return np.asarray(cv2.resize(line, (width, height), interpolation=cv2.INTER_AREA))


def _square(rng: np.random.Generator) -> Image:
    """Draw a stamp with a frame, a word, and mostly a date: (_SIDE, _SIDE), 255 where there is ink."""
    cv2, rubber = opencv(), np.zeros((_SIDE, _SIDE), dtype=np.uint8)
    word, dated, double = str(rng.choice(_WORDS)), rng.random() < 0.7, rng.random() < 0.5
    tall = 190 if dated else 140
    top, end = (_SIDE - tall) // 2, (_SIDE + tall) // 2
    cv2.rectangle(rubber, (30, top), (_SIDE - 30, end), 255, 7, cv2.LINE_AA)
    if double:
        cv2.rectangle(rubber, (16, top - 14), (_SIDE - 16, end + 14), 255, 4, cv2.LINE_AA)
    long = min(530, 64 * len(word))
    left = (_SIDE - long) // 2
    rubber[top + 16 : top + 116, left : left + long] = _written(word, 100, long)
    if dated:
        rubber[top + 122 : top + 176, 180 : _SIDE - 180] = _written(_day(rng), 54, _SIDE - 360)
    return rubber


def _round(rng: np.random.Generator) -> Image:
    """Draw a stamp with an office's name along its rim and a date across: (_SIDE, _SIDE), 255 where there is ink."""
    cv2, middle = opencv(), (_SIDE // 2, _SIDE // 2)
    reach = round(0.75 * _SIDE)  # beyond the corners of the square
    strip = np.zeros((1440, reach), dtype=np.uint8)  # one row an angle, one column a radius
    strip[:, 170:232] = cv2.rotate(_written(str(rng.choice(_OFFICES)), 62, 1440), cv2.ROTATE_90_CLOCKWISE)
    rubber = cv2.warpPolar(strip, (_SIDE, _SIDE), middle, reach, cv2.WARP_INVERSE_MAP | cv2.WARP_POLAR_LINEAR)
    for radius, thick in ((250, 8), (156, 4)):
        cv2.circle(rubber, middle, radius, 255, thick, cv2.LINE_AA)
    rubber[_SIDE // 2 - 30 : _SIDE // 2 + 30, 190 : _SIDE - 190] = _written(_day(rng), 60, _SIDE - 380)
    return np.asarray(rubber)


_PENS = ((25, 35, 120), (20, 20, 30), (20, 20, 30), (160, 25, 35))  # blue, black, red
_MARKS = 36  # notes, rings and lines at severity 1


class Handwriting(Distortion, kind="handwriting"):
    """Writes over the text with a pen: notes, signatures, words that are struck out, underlined or ringed.

    At severity s the pen has gone s of its way, so a lower severity is the beginning of a higher one. Where the ink
    crosses print, it hides it: `label_effect` is `occluded`.
    """

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2, written, mask = opencv(), image.copy(), np.zeros(image.shape[:2], dtype=np.uint8)
        pen = _PENS[int(rng.integers(len(_PENS)))]
        paths = [path for _ in range(_MARKS) for path in _mark(image, rng)]
        left = round(self.severity * sum(map(len, paths)))
        for path in paths:
            points = np.rint(16 * path[: max(0, left)]).astype(np.int32)
            left -= len(path)
            cv2.polylines(mask, [points], False, 235, max(1, round(3 * unit(image))), cv2.LINE_AA, 4)
        _ink(written, mask, pen)
        return NoisyImage(written, label_effect="occluded")


def _mark(image: Image, rng: np.random.Generator) -> list[_Path]:
    """Draw one mark of the pen somewhere on a page."""
    height, width = image.shape[:2]
    start, long = rng.uniform(0.06, 0.6, 2) * (width, 1.5 * height), rng.uniform(0.12, 0.4) * width
    size, turn = rng.uniform(13, 21) * unit(image), rng.normal(0, 0.06)
    kind = rng.random()
    if kind < 0.5:
        paths = _script(rng, int(long / size), size)
    elif kind < 0.62:
        paths = _script(rng, int(rng.integers(6, 12)), 2.5 * size)[:1]
    elif kind < 0.75:
        around = np.linspace(0, 2.3 * np.pi, 70)[:, None] + rng.uniform(0, 6)
        radii = (0.4 * long, 1.7 * size) * (1 + _wander(rng, 70, 0.06))
        paths = [np.hstack([np.cos(around), np.sin(around)]) * radii]
    else:
        along = np.linspace(0, long, 60)
        paths = [
            np.column_stack([along, size * (0.3 * _wander(rng, 60, 1)[:, 0] + 0.5 * line)])
            for line in range(1 + int(rng.integers(2)))
        ]
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return [path @ spin + start for path in paths]


def _wander(rng: np.random.Generator, points: int, reach: float) -> _Path:
    """Draw a slow, smooth wobble of a hand: (points, 1)."""
    return np.interp(np.linspace(0, 5, points), np.arange(6), rng.normal(0, reach, 6))[:, None]


def _script(rng: np.random.Generator, letters: int, size: float) -> list[_Path]:
    """Write joined letters without a meaning: each a loop that rises from the line or falls below it; one path a word.

    Args:
        size: height of a small letter, in pixels.
    """
    paths, begin = [], 0.0
    while letters > 0:
        word = int(rng.integers(2, 10))
        letters -= word + 1
        at = np.linspace(0, word, 14 * word, endpoint=False)
        loop = at.astype(int)
        rise = rng.choice((0.8, 1.0, 1.1, 2.3, -1.3), word, p=(0.25, 0.3, 0.2, 0.15, 0.1))[loop]
        lean, wide = rng.uniform(-0.12, 0.4, word)[loop], np.concatenate([[0], np.cumsum(rng.uniform(0.7, 1.2, word))])
        x = np.interp(at, np.arange(word + 1), wide) + lean * np.sin(2 * np.pi * at)
        y = -0.5 * rise * (1 - np.cos(2 * np.pi * at)) + _wander(rng, len(at), 0.12)[:, 0]
        paths.append(size * np.column_stack([begin + x - 0.35 * y, y]))
        begin += wide[-1] + 0.9
    return paths
