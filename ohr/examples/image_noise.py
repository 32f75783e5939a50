"""Fades a page towards one of its sides, as a worn-out copier does."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from ohr.contracts import Image, ImageNoise, NoisyImage


class Example(ImageNoise, kind="example"):
    """Fades a page to white, from nothing on one side to `severity` on the other."""

    most: Annotated[float, Field(gt=0, le=1, description="Share of the ink that is lost at severity 1.")] = 0.9

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Draw the side first, whatever the severity: so all levels of a page fade to the same side."""
        from_left = rng.random() < 0.5
        if not self.severity:
            return NoisyImage(image)
        ramp = np.linspace(0, 1, image.shape[1])  # (W,)
        lost = self.severity * self.most * (ramp if from_left else ramp[::-1])
        faded = 255 - (255 - image) * (1 - lost[None, :, None])  # (H, W, 3)
        return NoisyImage(faded.round().astype(np.uint8))
