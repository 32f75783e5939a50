"""A page photographed from a screen (FCMBench, Table 2: secondary captures)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image, NoisyImage

from .camera import Capture
from .distortion import Field, grid, lighten, opencv
from .light import exposed, gradient
from .scene import fitted, frame, laid, level

_SENSORS = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2))  # row, column, colour: red, green, green, blue (Bayer)
_GAP = 0.6  # how dark the gaps between a screen's rows are, beside its columns of one colour
_PIXELS = (2000, 1500, 1100)
_CELL = 16


class SecondaryCapture(Capture):
    """Shows the page on a screen and photographs that: few pixels, coloured moire, a blue cast, reflections.

    The page has 2,000, 1,500 and 1,100 of the screen's pixels along its longer side, and the screen's red, green and
    blue columns take away .05, .10 and .18 of the light in turns (severity 1/3, 2/3, 1). A camera sees red, green and
    blue at different places, too. The beat of the two is the moire, as in Liu, Shu, Wang and Yuan
    (https://arxiv.org/abs/1804.03809), so that its colours and bends follow from the camera's pose and lens.
    """

    kind: Literal["secondary_capture"] = "secondary_capture"
    version: ClassVar[int] = 3
    published: ClassVar[float] = 2 / 3

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        height, width = image.shape[:2]
        lean = rng.uniform(-0.025, 0.025, (4, 2)) * self.severity * max(height, width)
        quad = fitted(frame(image) + lean, height, width, 0.02 * self.near)
        scene = np.full_like(image, int(rng.integers(18, 70)))  # the rest of the screen
        shown, scaling = _shown(image, self.severity)
        homography = laid(self.printed(shown), quad, scene, shadow=False) @ scaling
        cool, haze = rng.uniform(0.03, 0.1), rng.uniform(0.05, 0.18)
        gain = _moire(image, homography, rng, level(self.severity, 0, (0.05, 0.10, 0.18)))
        scene = np.asarray(opencv().multiply(scene, gain, scale=1 / 255))
        window = np.float32(haze * self.near) * (1 - gradient(image, rng)) ** 2
        seen = lighten(_tinted(scene, cool * self.near), window)
        return NoisyImage(self.photographed(exposed(seen, rng, 0.4 * self.near), rng), homography)


def _shown(image: Image, severity: float) -> tuple[Image, NDArray[np.float64]]:
    """Show a page with a screen's number of pixels; gives the map of coordinates, too."""
    cv2 = opencv()
    height, width = image.shape[:2]
    long = max(height, width)
    factor = level(severity, long, [min(long, pixels) for pixels in _PIXELS]) / long
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    across, down = size[0] / width, size[1] / height
    scaling = np.array([[across, 0, across / 2 - 0.5], [0, down, down / 2 - 0.5], [0, 0, 1]])
    if factor < 0.5:
        return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA)), scaling
    soft = cv2.GaussianBlur(image, (0, 0), 0.35 / factor) if factor < 0.95 else image
    return np.asarray(cv2.resize(soft, size, interpolation=cv2.INTER_LINEAR)), scaling


def _tinted(image: Image, cool: float) -> Image:
    """Take red and some green away."""
    tones = [np.rint(np.arange(256) * (1 - share * cool)) for share in (1, 0.4, 0)]
    return np.asarray(opencv().LUT(image, np.stack(tones, axis=-1).astype(np.uint8)[None]))


def _moire(image: Image, homography: NDArray[np.float64], rng: np.random.Generator, amplitude: float) -> Image:
    """Give the light that gets from a screen's grid to each place of the picture: (H, W, 3) bytes."""
    cv2 = opencv()
    columns, rows = (_phase(place, image) for place in _places(image, homography, rng))
    for row, column, colour in _SENSORS:
        columns[row::2, column::2] += np.uint8(round(256 * colour / 3))
    stripes, gaps = cv2.LUT(columns, _wave(amplitude)), cv2.LUT(rows, _wave(_GAP * amplitude))
    return np.asarray(cv2.cvtColor(cv2.multiply(stripes, gaps, scale=1 / 255), cv2.COLOR_BayerRGGB2RGB))


def _wave(depth: float) -> Image:
    """Tabulate a wave of light between 1 - `depth` and 1 over one pixel of the screen: (256,) bytes."""
    turn = np.arange(256) / 256 * 2 * np.pi
    return np.rint(255 * (1 - depth * (0.5 - 0.5 * np.cos(turn)))).astype(np.uint8)


def _phase(place: Field, image: Image) -> Image:
    """Tell for each pixel of the picture where in a pixel of the screen it looks: (H, W), 256 steps."""
    whole = opencv().resize(place * np.float32(256), image.shape[1::-1])
    return np.asarray(whole.astype(np.int32).astype(np.uint8))


def _places(image: Image, homography: NDArray[np.float64], rng: np.random.Generator) -> tuple[Field, Field]:
    """Tell which column and row of the screen each place of the picture shows, in pixels of the screen, on a grid.

    The screen's pixels are nearly one or two sensors wide: at all other distances there is a grid, but no moire.
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
