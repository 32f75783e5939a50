"""A phone's camera: stray light, a lens, a sensor, sharpening and JPEG.

Strength 1 is the median of 39 photographs of documents (FCMBench's public examples, scaled to the 2,339 pixels of A4 at
200 dpi). docs/noise/capture.md has the figures, from which the constants below were fitted.
"""

from functools import lru_cache
from math import ceil, erf, sqrt
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import Image

from ..distortion import Distortion, opencv, unit
from ..picture import Picture, joined, split

_FLARE = 0.13  # light of ink as a share of white paper's: ink is not black, and the lens scatters light
_BLUR, _HALO, _SHARPENING = 0.75, 1.5, 0.45  # radius of the lens's blur; radius and strength of the unsharp mask
_GRAIN, _NOISE = 0.7, 1.25  # radius of the noise's grain in pixels; its spread in grey levels
_JPEG = 10  # the quality is 100 less this
_TILE, _SPREAD = 768, 32.0  # side of the tile of noise, and its spread in grey levels
_JPEG_SIDE = 65_500  # the longest side that the format allows


class Capture(Distortion):
    """A page as a phone's camera sees it. The camera's own effects have their full strength from severity 1/3 on."""

    published: ClassVar[float] = 2 / 3
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
        """Strength of the effects that every photograph has: 1 from severity 1/3 on."""
        return min(1.0, 3 * self.severity)

    def printed(self, sheet: Image) -> Picture:
        """Return a sheet as a camera sees it, with grey ink."""
        least = min(0.5, _FLARE * self.camera * self.near)
        picture = split(sheet, whole=self.camera == 0)
        return picture.each(
            lambda plane: np.asarray(opencv().convertScaleAbs(plane, alpha=1 - least, beta=255 * least))
        )

    def photographed(self, scene: Picture, rng: np.random.Generator) -> Image:
        """Take a picture of a scene, with sharpness and noise drawn around the median."""
        blur, noise, corner = rng.uniform(0.75, 1.3), rng.uniform(0.6, 1.4), rng.integers(_TILE, size=2)
        strength = self.camera * self.near
        if self.camera == 0:
            return scene.frame
        cv2, (light, color) = opencv(), scene.planes
        taps = _lens(blur * strength * unit(light), min(1.0, strength))
        # phones smooth fine color away and JPEG keeps a quarter of it, so only the luminance is processed
        sharp = cv2.sepFilter2D(light, -1, taps, taps, borderType=cv2.BORDER_REPLICATE)
        share = noise * strength * _NOISE / _SPREAD
        grainy = cv2.addWeighted(sharp, 1, _grain(light, corner), share, -128 * share)
        differences = cv2.cvtColor(color, cv2.COLOR_RGB2YCrCb)
        quality = round(100 - _JPEG * strength)
        red, blue = (_as_jpeg(cv2.extractChannel(differences, place), quality) for place in (1, 2))
        return joined(_as_jpeg(grainy, quality), (red, blue))


def _lens(blur: float, sharpening: float) -> NDArray[np.float32]:
    """Return the taps along one axis of a blur followed by an unsharp mask; they sum to 1."""
    narrow, wide = _BLUR * blur, float(np.hypot(_BLUR, _HALO)) * blur
    half = max(1, ceil(2.5 * wide))
    gain = _SHARPENING * sharpening
    taps = (1 + gain) * _bell(narrow, half) - gain * _bell(wide, half)
    return np.asarray(taps, dtype=np.float32)


def _bell(sigma: float, half: int) -> NDArray[np.float64]:
    """Integrate a Gaussian over each of the pixels from -half to half; they sum to 1, and a width of 0 is allowed."""
    edges = [erf((place - 0.5) / max(sigma * sqrt(2), 1e-6)) for place in range(-half, half + 2)]
    shares = np.diff(edges)
    return np.asarray(shares / shares.sum())


def _grain(image: Image, corner: NDArray[np.int64]) -> Image:
    """Repeat the tile of noise over an image, from `corner` of the tile on: (H, W)."""
    cv2, (height, width), (down, across) = opencv(), image.shape[:2], (int(place) for place in corner)
    below, right = max(0, height - _TILE), max(0, width - _TILE)
    return np.asarray(cv2.copyMakeBorder(_tile(), down, below, across, right, cv2.BORDER_WRAP)[:height, :width])


@lru_cache(maxsize=1)
def _tile() -> Image:
    """Draw noise about 128 that can be tiled without seams: (_TILE, _TILE)."""
    cv2, rng = opencv(), np.random.Generator(np.random.PCG64(7))
    white = np.tile(rng.standard_normal((_TILE, _TILE)).astype(np.float32), (3, 3))
    grain = cv2.GaussianBlur(white, (0, 0), _GRAIN)[_TILE : 2 * _TILE, _TILE : 2 * _TILE]
    return np.asarray(np.clip(np.rint(128 + _SPREAD * grain / grain.std()), 0, 255), dtype=np.uint8)


def _as_jpeg(plane: Image, quality: int) -> Image:
    """Encode a plane as JPEG and decode it: (H, W)."""
    cv2: Any = opencv()
    if max(plane.shape) > _JPEG_SIDE:
        return plane
    _, written = cv2.imencode(".jpg", plane, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(written, cv2.IMREAD_GRAYSCALE))
