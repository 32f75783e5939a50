"""A page photographed from a screen (FCMBench, Table 2: secondary captures)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from ..distortion import Field, grid, lighten, opencv
from ..light import exposed, gradient
from ..picture import CELLS, Picture, split
from .camera import Capture
from .scene import Quad, centered, drawn, fitted, flat, frame, level, scaled

_SENSORS = np.array(((0, 1), (1, 2)))  # red, green; green, blue: the Bayer pattern
_COLORS = np.array((0, 85, 171), dtype=np.int32)  # where a screen's red, green and blue are, in 256ths of its pixel
_BAND = 128  # rows, an even number, so that a band fits into a processor's cache
_GAP = 0.6  # depth of the gaps between a screen's rows, relative to those between its columns of one color
_PIXELS = (2000, 1500, 1100)
_CELL = 16


class SecondaryCapture(Capture, kind="secondary_capture"):
    """Shows the page on a screen and photographs that: few pixels, colored moire, a blue cast, reflections.

    The page has 2,000, 1,500 and 1,100 of the screen's pixels along its longer side, and the screen's red, green and
    blue columns take away .05, .10 and .18 of the light in turns (severity 1/3, 2/3, 1). A camera sees red, green and
    blue at different places, too. The beat of the two is the moire, as in Liu, Shu, Wang and Yuan
    (https://arxiv.org/abs/1804.03809), so that its colors and bends follow from the camera's pose and lens.
    """

    version: ClassVar[int] = 4

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        height, width = image.shape[:2]
        lean = rng.uniform(-0.025, 0.025, (4, 2)) * self.severity * max(height, width)
        quad = fitted(frame(image) + lean, height, width, 0.02 * self.near)
        dark = int(rng.integers(18, 70))  # the rest of the screen
        pose, long = flat(image, quad), max(height, width)
        pixels = level(self.severity, long, [min(long, number) for number in _PIXELS])
        scene = _lit(self.printed(image), pixels / long, pose, quad, dark)
        homography = centered(pose)
        cool, haze = rng.uniform(0.03, 0.1), rng.uniform(0.05, 0.18)
        blue = 1 - cool * self.near * np.array((1, 0.4, 0))
        _veil(scene, _places(image, homography, rng), level(self.severity, 0, (0.05, 0.10, 0.18)), blue)
        window = np.float32(haze * self.near) * (1 - gradient(image, rng, _CELL)) ** 2
        scene = scene.each(lambda plane: lighten(plane, window))
        scene = exposed(scene, rng, 0.4 * self.near)
        return NoisyImage(self.photographed(scene, rng), homography)


def _lit(page: Picture, factor: float, pose: NDArray[np.float64], quad: Quad, dark: int) -> Picture:
    """Show a page on a screen that has `factor` times its pixels, and draw the screen in the camera's perspective."""
    scene = page.each(lambda plane: np.full_like(plane, dark))
    for cell, plane, on in zip(CELLS, page.planes, scene.planes, strict=False):
        shown, (down, across) = _shown(plane, factor)
        drawn(shown, scaled(1 / cell) @ pose @ np.diag((cell / across, cell / down, 1)), quad / cell, on)
    return scene


def _shown(plane: Image, factor: float) -> tuple[Image, tuple[float, float]]:
    """Resample a plane to a screen's pixels; return also how much smaller it is, down and across."""
    cv2 = opencv()
    height, width = plane.shape[:2]
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    soft = cv2.GaussianBlur(plane, (0, 0), 0.35 / factor) if factor < 0.95 else plane
    shown = np.asarray(cv2.resize(soft, size, interpolation=cv2.INTER_LINEAR))
    return shown, (size[1] / height, size[0] / width)


def _veil(scene: Picture, places: tuple[Field, Field], amplitude: float, light: Field) -> None:
    """Darken a picture by the light that the screen's grid holds back, which makes moire; in bands, and in place.

    Args:
        places: column and row of the screen that each place of the picture shows, in pixels of the screen, on a grid.
        light: red, green and blue of the screen's light, (3,), each up to 1.
    """
    cv2 = opencv()
    height, width = scene.frame.shape[:2]
    columns, rows = (cv2.resize(place * np.float32(256), (place.shape[1], height)) for place in places)
    tiles = (_BAND // 2 + 2, width // 2 + 1)
    sensors = np.tile(_SENSORS, tiles)[:, :width]
    phases, filters = (_COLORS[sensors], np.rint(255 * light).astype(np.uint8)[sensors])
    for top in range(0, height, _BAND):
        above = min(top, 2)  # more rows on each side: the other colors of a pixel come from the sensors beside it
        band = slice(top - above, top + _BAND + 2)
        stripes = cv2.LUT(_phase(columns[band], phases), _wave(amplitude))
        gaps = cv2.LUT(_phase(rows[band], np.zeros_like(phases)), _wave(_GAP * amplitude))
        mosaic = cv2.multiply(cv2.multiply(stripes, gaps, scale=1 / 255), filters[: len(gaps)], scale=1 / 255)
        gain = cv2.cvtColor(mosaic, cv2.COLOR_BayerRGGB2RGB)[above : above + _BAND]
        gains = split(gain, whole=len(scene.planes) == 1)
        for cell, plane, part in zip(CELLS, scene.planes, gains.planes, strict=False):
            seen = plane[top // cell : top // cell + len(part)]
            cv2.multiply(seen, part, scale=1 / 255, dst=seen)


def _wave(depth: float) -> Image:
    """Tabulate a wave of light between 1 - `depth` and 1 over one pixel of the screen: (256,) bytes."""
    turn = np.arange(256) / 256 * 2 * np.pi
    return np.rint(255 * (1 - depth * (0.5 - 0.5 * np.cos(turn)))).astype(np.uint8)


def _phase(place: Field, shift: NDArray[np.int32]) -> Image:
    """Return for each pixel of a band its position within a pixel of the screen, in 256 steps: (rows, width)."""
    wide = opencv().resize(place, (shift.shape[1], len(place)))
    return np.asarray((wide.astype(np.int32) + shift[: len(place)]).astype(np.uint8))


def _places(image: Image, homography: NDArray[np.float64], rng: np.random.Generator) -> tuple[Field, Field]:
    """Return the column and row of the screen that each place of the picture shows, in its pixels, on a grid.

    The screen's pixels are drawn nearly one or two sensors wide: at other distances there is a grid, but no moire.
    """
    x, y = grid(image, _CELL)
    size = max(image.shape[:2])
    bend = 1 + np.float32(rng.uniform(-0.02, 0.02)) * (((x - x.mean()) / size) ** 2 + ((y - y.mean()) / size) ** 2)
    bent = np.stack([x.mean() + (x - x.mean()) * bend, y.mean() + (y - y.mean()) * bend, np.ones_like(x)])
    seen = np.tensordot(np.linalg.pinv(homography), bent, 1)  # (3, rows, columns), pixels of the page
    fringes = rng.uniform(6, 40) * rng.choice([-1, 1])
    scale = np.sqrt(abs(np.linalg.det(homography[:2, :2])))
    pitch = (0.5 * rng.integers(1, 3) + fringes / size) * scale
    places = np.clip(np.nan_to_num(seen[:2] / np.where(seen[2] == 0, 1, seen[2]) * pitch), -1e5, 1e5)
    across, down = (places + rng.random((2, 1, 1))).astype(np.float32)
    return across, down
