"""Rotation of the page (OHRBench, III.2)."""

from collections.abc import Sequence

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import OnOpenCV, opencv

_MOST = 6.0  # degrees at severity 1


class Rotation(OnOpenCV, kind="rotation"):
    """Turns the page about its center by an angle drawn from [-6, 6] degrees x severity.

    The paper's [-3, 3] is severity 0.5 (`published`). The corners are filled with white, like a scanner's lid.
    """

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image."""
        angle = rng.uniform(-1, 1) * _MOST * self.severity
        if angle == 0:
            return NoisyImage(image.copy(), np.eye(3))
        cv2 = opencv()
        height, width = image.shape[:2]
        matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), angle, 1.0)  # (2, 3)
        planes = cv2.split(image)
        # as most scans are: one plane takes a third of the time
        grey = all(np.array_equal(planes[0], plane) for plane in planes[1:])
        turned = cv2.warpAffine(
            planes[0] if grey else image,
            matrix,
            (width, height),
            flags=cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(255,) * 3,
        )
        turned = cv2.merge([turned] * 3) if grey else turned
        return NoisyImage(turned, np.vstack([matrix, [0.0, 0.0, 1.0]]))
