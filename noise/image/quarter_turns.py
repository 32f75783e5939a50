"""Pages that were fed or photographed the wrong way round."""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import Image, ImageNoise, NoisyImage
from ohr.files.images import quarter_turned

_QUARTERS = {"any": (1, 2, 3), "upside_down": (2,), "sideways": (1, 3)}


class QuarterTurns(ImageNoise, kind="quarter_turns"):
    """Turns a share of the pages, `severity`, clockwise by 90, 180 or 270 degrees, each as likely, or one of `ways`.

    No pixel changes: whatever is lost is lost to an engine that does not turn pages upright. A page that is turned at
    one severity is turned by the same angle at each higher one.
    """

    ways: Annotated[
        Literal["any", "upside_down", "sideways"],
        Field(description="`any` of the three angles, `upside_down` by 180 degrees, or `sideways` by 90 or 270."),
    ] = "any"

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Turn an image."""
        quarters = _QUARTERS[self.ways]
        is_turned, drawn = rng.random() < self.severity, quarters[int(rng.integers(len(quarters)))]
        return NoisyImage(*quarter_turned(image, drawn if is_turned else 0))
