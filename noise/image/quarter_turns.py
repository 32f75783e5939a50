"""Pages that were fed or photographed the wrong way round."""

from collections.abc import Sequence

import numpy as np

from ohr.contracts import Image, ImageNoise, NoisyImage
from ohr.files.images import quarter_turned


class QuarterTurns(ImageNoise, kind="quarter_turns"):
    """Turns a share of the pages, `severity`, clockwise by 90, 180 or 270 degrees, each as likely.

    No pixel changes: whatever is lost is lost to an engine that does not turn pages upright. A page that is turned at
    one severity is turned by the same angle at each higher one.
    """

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Turn an image."""
        is_turned, quarters = rng.random() < self.severity, int(rng.integers(1, 4))
        return NoisyImage(*quarter_turned(image, quarters if is_turned else 0))
