"""What a phone's camera makes of a scene: stray light, a lens, a sensor, its sharpening and JPEG.

Strength 1 is the median of 39 photographs of documents (FCMBench's public examples, scaled to 2,339 pixels as a page
of A4 at 200 dpi has): docs/noise.md has the figures, tests/speed/photographs.py measures them anew.
"""

from functools import lru_cache
from math import ceil, erf, sqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Image

from ..distortion import Distortion, opencv, unit
from ..picture import Picture, joined, split

_FLARE = 0.13  # ink sends back this share of white paper's light: it is not black, and the lens strays light on it
_BLUR, _HALO, _SHARPENING = 0.75, 1.5, 0.45  # radius of the lens's blur; radius and strength of the unsharp mask
_GRAIN, _NOISE = 0.7, 1.25  # radius of the noise's grain in pixels; its spread in grey levels
_JPEG = 10  # how far the quality lies below 100
_TILE, _SPREAD = 768, 32.0
_JPEG_SIDE = 65_500  # the format holds no longer side


class Capture(Distortion):
    """A page as a phone's camera sees it. The camera's own part has its whole strength from severity 1/3 on."""

    camera: Annotated[
        float,
        Field(
            ge=0,
            le=2,
            description="The camera's stray light, blur, sharpening, noise and JPEG: 0 none, 1 as in the median "
            "photograph, 2 twice that.",
        ),
    ] = 1.0

    @property
    def near(self) -> float:
        """How much is there of what every photograph has: all of it from severity 1/3 on."""
        return min(1.0, 3 * self.severity)

    def printed(self, sheet: Image) -> Picture:
        """See a sheet as a camera does, its ink turned grey."""
        least = min(0.5, _FLARE * self.camera * self.near)
        picture = split(sheet, whole=self.camera == 0)
        return picture.each(
            lambda plane: np.asarray(opencv().convertScaleAbs(plane, alpha=1 - least, beta=255 * least))
        )

    def photographed(self, scene: Picture, rng: np.random.Generator) -> Image:
        """Take the picture of a scene, a little less or more sharp and noisy than the median."""
        blur, noise, corner = rng.uniform(0.75, 1.3), rng.uniform(0.6, 1.4), rng.integers(_TILE, size=2)
        strength = self.camera * self.near
        if self.camera == 0:
            return scene.frame
        cv2, (light, colour) = opencv(), scene.planes
        taps = _lens(blur * strength * unit(light), min(1.0, strength))
        # a phone smooths colour away where it is fine, and JPEG keeps a quarter of it: only the light is worked on
        sharp = cv2.sepFilter2D(light, -1, taps, taps, borderType=cv2.BORDER_REPLICATE)
        share = noise * strength * _NOISE / _SPREAD
        grainy = cv2.addWeighted(sharp, 1, _grain(light, corner), share, -128 * share)
        differences = cv2.cvtColor(colour, cv2.COLOR_RGB2YCrCb)
        quality = round(100 - _JPEG * strength)
        red, blue = (_as_jpeg(cv2.extractChannel(differences, place), quality) for place in (1, 2))
        return joined(_as_jpeg(grainy, quality), (red, blue))


def _lens(blur: float, sharpening: float) -> NDArray[np.float32]:
    """Give the taps, along one axis, of a blur and the unsharp mask after it; they sum to 1."""
    narrow, wide = _BLUR * blur, float(np.hypot(_BLUR, _HALO)) * blur
    half = max(1, ceil(2.5 * wide))
    gain = _SHARPENING * sharpening
    taps = (1 + gain) * _bell(narrow, half) - gain * _bell(wide, half)
    return np.asarray(taps, dtype=np.float32)


def _bell(sigma: float, half: int) -> NDArray[np.float64]:
    """Give a Gaussian's share of each of the pixels from -half to half; they sum to 1, and a width of 0 is allowed."""
    edges = [erf((place - 0.5) / max(sigma * sqrt(2), 1e-6)) for place in range(-half, half + 2)]
    shares = np.diff(edges)
    return np.asarray(shares / shares.sum())


def _grain(image: Image, corner: NDArray[np.int64]) -> Image:
    """Lay the tile of noise over an image, from one of its places on: (H, W)."""
    cv2, (height, width), (down, across) = opencv(), image.shape[:2], (int(place) for place in corner)
    below, right = max(0, height - _TILE), max(0, width - _TILE)
    return np.asarray(cv2.copyMakeBorder(_tile(), down, below, across, right, cv2.BORDER_WRAP)[:height, :width])


@lru_cache(maxsize=1)
def _tile() -> Image:
    """Draw noise about 128 that can be laid side by side: (_TILE, _TILE)."""
    cv2, rng = opencv(), np.random.Generator(np.random.PCG64(7))
    white = np.tile(rng.standard_normal((_TILE, _TILE)).astype(np.float32), (3, 3))
    grain = cv2.GaussianBlur(white, (0, 0), _GRAIN)[_TILE : 2 * _TILE, _TILE : 2 * _TILE]
    return np.asarray(np.clip(np.rint(128 + _SPREAD * grain / grain.std()), 0, 255), dtype=np.uint8)


def _as_jpeg(plane: Image, quality: int) -> Image:
    """Write a plane as JPEG does, and read it: (H, W)."""
    cv2: Any = opencv()
    if max(plane.shape) > _JPEG_SIDE:
        return plane
    _, written = cv2.imencode(".jpg", plane, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(written, cv2.IMREAD_GRAYSCALE))
