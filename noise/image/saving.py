"""Pages that were saved with too few pixels or too few bytes."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import OnOpenCV, opencv


class _Saved(OnOpenCV):
    """A noise that draws nothing: a page and a severity give one result, so replicates would repeat it."""

    @property
    def draws(self) -> bool:
        """Whether anything is drawn."""
        return False

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image."""
        return NoisyImage(self.saved(image) if self.severity else image.copy())

    @abstractmethod
    def saved(self, image: Image) -> Image:
        """Save an image at a severity above 0, and read it again."""


_FEWEST = 585  # pixels of A4's longer side at 50 dpi


class LowDpi(_Saved, kind="low_dpi"):
    """Keeps fewer pixels, down to 585 along the longer side (A4 at 50 dpi), and scales them up to the page's size.

    The resolution falls geometrically: a page at 150 dpi has 108, 78 and 50 dpi left at severity 0.3, 0.6 and 1. A page
    that has no more than 585 pixels stays as it is.
    """

    def saved(self, image: Image) -> Image:
        """Make an image small, and large again."""
        cv2, (height, width) = opencv(), image.shape[:2]
        factor = min(1.0, _FEWEST / max(height, width)) ** self.severity
        small = cv2.resize(
            image, (max(1, round(width * factor)), max(1, round(height * factor))), interpolation=cv2.INTER_AREA
        )
        return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC))


_LOWEST = 0.03  # the quality at severity 1, as a share of 100: at lower ones few letters are left
_LONGEST = 65_000  # pixels; the format allows 65,535


class Jpeg(_Saved, kind="jpeg"):
    """Saves the page as a JPEG of quality 100 x 0.03^severity: 35, 12 and 3 at severity 0.3, 0.6 and 1."""

    def saved(self, image: Image) -> Image:
        """Encode an image, and decode it; one that is too long for the format, in parts."""
        longer = int(np.argmax(image.shape[:2]))
        if image.shape[longer] > _LONGEST:
            parts = np.array_split(image, -(-image.shape[longer] // _LONGEST), axis=longer)
            return np.concatenate([self.saved(part) for part in parts], axis=longer)
        cv2 = opencv()
        quality = max(1, round(100 * _LOWEST**self.severity))
        blue_first = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
        _, written = cv2.imencode(".jpg", blue_first, [cv2.IMWRITE_JPEG_QUALITY, quality])
        return np.asarray(cv2.cvtColor(cv2.imdecode(written, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB))
