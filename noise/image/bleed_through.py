"""Print of a sheet's other side that shows through the paper."""

from collections.abc import Sequence

import numpy as np

from ohr.contracts import Image, NoisyImage

from .capture.scene import stranger
from .distortion import Distortion, clouds, grid, opencv, spread, unit

_MOST = 0.8  # share of the other side's ink that shows at severity 1


class BleedThrough(Distortion, kind="bleed_through"):
    """Lets the other side's print show through: another page of the document, mirrored, blurred and blotched.

    Up to 80% x severity of its ink shows. A document of one page has a sheet of unrelated words behind it. The page is
    nowhere lighter than at a lower severity.
    """

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        """Distort an image at a severity above 0."""
        cv2, (height, width) = opencv(), image.shape[:2]
        place, shift = rng.random(), rng.uniform(-12, 12, 2) * unit(image)
        sheet = others[int(place * len(others))] if len(others) else stranger(0)
        back = cv2.resize(
            cv2.cvtColor(sheet[:, ::-1], cv2.COLOR_RGB2GRAY), (width, height), interpolation=cv2.INTER_AREA
        )
        shifted = cv2.warpAffine(
            back,
            np.column_stack([np.eye(2), shift]),
            (width, height),
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=255,
        )
        soft = cv2.GaussianBlur(shifted, (0, 0), 1.9 * unit(image) + 0.1)
        blotched = np.clip(0.75 + 0.25 * clouds(rng, grid(image)[0].shape, 12), 0.25, 1) * np.float32(
            _MOST * self.severity
        )
        shown = cv2.multiply(cv2.bitwise_not(soft), spread(blotched, soft), scale=1 / 255)
        return NoisyImage(cv2.multiply(image, cv2.merge([cv2.bitwise_not(shown)] * 3), scale=1 / 255))
