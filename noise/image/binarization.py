"""Copies in black and white (OHRBench, III.2, there with augraphy: dilation, erosion, letterpress)."""

from collections.abc import Sequence

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, opencv, unit

_WAYS = ("dilation", "erosion", "letterpress")


class Binarization(Distortion, kind="binarization"):
    """Thresholds the page as a copier does: ink that ran (dilation), missing ink (erosion), or uneven (letterpress).

    One of the three is drawn for each page. The severity moves the threshold, blurs the page before it, and for
    letterpress makes the ink more uneven; below 0.5 grey and color shine through. Severity 0.5 (`published`) preserves
    clarity, as the paper's weak distortions do.
    """

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2, severity = opencv(), self.severity
        way = _WAYS[int(rng.integers(len(_WAYS)))]
        soft = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (0, 0), (0.5 + severity) * unit(image) + 0.1)
        threshold = 128.0
        if way == "letterpress":
            soft = cv2.add(soft, _mottle(image, rng, 75 * severity), dtype=cv2.CV_8U)
            threshold += 20 * severity
        elif way == "dilation":
            threshold += 95 * severity
        else:
            threshold -= 75 * severity
        steps = np.arange(256) - threshold
        ink = cv2.LUT(soft, np.rint(255 / (1 + np.exp(-steps / 9))).astype(np.uint8))
        share = min(1.0, 2 * severity)
        return NoisyImage(np.asarray(cv2.addWeighted(image, 1 - share, cv2.merge([ink] * 3), share, 0)))


def _mottle(image: Image, rng: np.random.Generator, depth: float) -> Image:
    """Draw the unevenness of the ink: blots of about three pixels, signed, (H, W)."""
    cv2 = opencv()
    height, width = image.shape[:2]
    cell = max(1.0, 2.2 * unit(image))
    noise = rng.standard_normal((max(1, round(height / cell)), max(1, round(width / cell))), dtype=np.float32)
    # clipped below, or blots would also appear on paper without ink
    levels = np.clip(noise * np.float32(depth), -70, 127).astype(np.int16)
    return np.asarray(cv2.resize(levels, (width, height), interpolation=cv2.INTER_LINEAR))
