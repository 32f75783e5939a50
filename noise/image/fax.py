"""Pages that came by fax (ITU-T T.4, group 3)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, opencv, unit

_COLUMNS, _FINE = 204, 196  # pixels an inch along a line, and lines an inch in the fine mode (T.4, 2.1)
_HURT = 0.06  # probability that an error begins in a line of the standard mode, at severity 1
_STREAKS = 6  # lines of dirt on the scanner's glass along the page, at severity 1
_LONGEST = 5  # lines that one error spans


class Fax(Distortion, kind="fax"):
    """Sends the page by fax: black and white, 204 pixels an inch across, and 196 (fine) to 98 lines (standard) down.

    The severity makes the lines fewer, the edges rougher, and the page too dark or too faint. It adds streaks of dirt
    along the page, and errors of transmission: 6% x severity of the standard mode's lines begin one, which repeats the
    line above, or leaves the rest of its lines white, or shifts it. The errors of a lower severity are among those of a
    higher one.
    """

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2, (height, width) = opencv(), image.shape[:2]
        inch = 200 * unit(image)  # pixels
        across, standard = max(1, round(width * _COLUMNS / inch)), max(1, round(height * _FINE / 2 / inch))
        down = max(standard, round(2 * standard * 0.5**self.severity))
        grey = cv2.resize(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (across, down), interpolation=cv2.INTER_AREA)
        ink = np.asarray(grey < _threshold((standard, across), down, self.severity, rng))
        ink |= _streaks((standard, across), down, self.severity, rng)
        _garble(ink, standard, self.severity, rng)
        sent = np.where(ink, np.uint8(0), np.uint8(255))
        tall = cv2.resize(sent, (across, max(height, down)), interpolation=cv2.INTER_NEAREST)
        return NoisyImage(cv2.merge([cv2.resize(tall, (width, height), interpolation=cv2.INTER_AREA)] * 3))


def _threshold(size: tuple[int, int], down: int, severity: float, rng: np.random.Generator) -> Image:
    """Draw the grey level below which a pixel is black, (down, columns): rough, as the scanner's cells are."""
    rough = rng.standard_normal(size, dtype=np.float32) * np.float32(28)
    dark = rng.uniform(60, 85) * rng.choice([-1, 1])
    levels = np.clip(150 + severity * (np.float32(dark) + rough), 1, 252).astype(np.uint8)
    return np.asarray(opencv().resize(levels, (size[1], down), interpolation=opencv().INTER_LINEAR))


def _streaks(size: tuple[int, int], down: int, severity: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw lines of dirt along the page, each broken where the paper lifts the dirt off: (down, columns)."""
    rows, columns = size
    black = np.zeros(size, dtype=np.uint8)
    for drawn in rng.random((_STREAKS, 3)):
        left, wide = int(drawn[0] * columns), 1 + int(2 * drawn[1])
        broken = np.repeat(rng.random(rows // 30 + 1), 30)[:rows] < 0.8
        if drawn[2] < severity:
            black[broken, left : left + wide] = 1
    return np.asarray(opencv().resize(black, (columns, down), interpolation=opencv().INTER_NEAREST)) > 0


def _garble(ink: NDArray[np.bool_], standard: int, severity: float, rng: np.random.Generator) -> None:
    """Damage lines, in place; errors are drawn for the standard mode's lines, which are as many at each severity."""
    draws, lengths, down = rng.random((standard, 4)), rng.integers(1, _LONGEST + 1, standard), len(ink)
    for line in np.flatnonzero(draws[:, 0] < _HURT * severity):
        top, end = (int(place * down / standard) for place in (line, min(standard, line + lengths[line])))
        left, kind = int(draws[line, 1] * ink.shape[1]), draws[line, 2]
        if kind < 0.4:
            ink[top:end] = ink[max(0, top - 1)]
        elif kind < 0.7:
            ink[top:end, left:] = False
        else:
            ink[top:end, left:] = np.roll(ink[top:end, left:], int(draws[line, 3] * ink.shape[1]), axis=1)
