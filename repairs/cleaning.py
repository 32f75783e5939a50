"""Specks and grain are taken from pages, and pages are made black and white."""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import Image, TreatedImage

from .opencv import OnOpenCV, opencv

_UNLIKE = 40  # shades of grey: print is anti-aliased, and a pixel of it is nearer to one of its neighbours
_MEANS = (7, 15)  # pixels of a patch, and of where patches like it are looked for: those of OpenCV's examples


class Denoise(OnOpenCV, kind="denoise"):
    """Takes single specks, or all grain, from a page.

    `specks` changes only pixels that are unlike all of their neighbours, so that clean print hardly changes; `median`
    gives each pixel the median of its neighbourhood, which also takes specks that touch each other, and thin strokes;
    `means` averages patches that look the same (non-local means), against the grain of a sensor. All are OpenCV's.
    """

    method: Annotated[Literal["specks", "median", "means"], Field(description="What is done, as above.")] = "specks"
    size: Annotated[Literal[3, 5], Field(description="Pixels of a side of the neighbourhood, of `median`.")] = 3
    strength: Annotated[float, Field(gt=0, le=100, description="Shades that `means` takes for grain.")] = 15.0

    def treat(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> TreatedImage:  # noqa: ARG002
        """Clean a page. The record has `pixels`, the share that changed."""
        cv2 = opencv()
        if self.method == "specks":
            clean = _without_specks(image)
        elif self.method == "median":
            clean = cv2.medianBlur(image, self.size)
        else:
            grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
            clean = cv2.merge([cv2.fastNlMeansDenoising(grey, None, self.strength, *_MEANS)] * 3)
        changed = np.count_nonzero((clean != image).any(axis=2)) / max(1, image[..., 0].size)
        return TreatedImage(np.asarray(clean), record={"pixels": round(changed, 6)})


def _without_specks(image: Image) -> Image:
    cv2 = opencv()
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    ring = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=np.uint8)
    darkest, lightest = (shift(grey, ring).astype(np.int16) for shift in (cv2.erode, cv2.dilate))
    specks = (grey < darkest - _UNLIKE) | (grey > lightest + _UNLIKE)  # (H, W)
    clean = image.copy()
    clean[specks] = cv2.medianBlur(image, 3)[specks]
    return clean


class Binarize(OnOpenCV, kind="binarize"):
    """Makes a page black and white: one threshold for the whole page (Otsu's), or one for each place (`adaptive`).

    Where light falls off over the page, `adaptive` compares each pixel with the light around it. Engines threshold
    pages themselves, so this helps where their own way fails, and takes the grey edges of letters.
    """

    method: Annotated[Literal["otsu", "adaptive"], Field(description="One threshold, or one for each place.")] = (
        "adaptive"
    )
    window: Annotated[
        float, Field(gt=0, le=1, description="Side of a place's surroundings, as a share of the longer side.")
    ] = 0.03
    below: Annotated[
        float, Field(ge=0, le=128, description="Shades by which ink is darker than its surroundings, of `adaptive`.")
    ] = 12.0

    def treat(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> TreatedImage:  # noqa: ARG002
        """Threshold a page. The record has `black`, the share of black pixels."""
        cv2 = opencv()
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        if self.method == "otsu":
            _, ink = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
        else:
            window = max(3, round(max(grey.shape) * self.window) | 1)
            around, kind = cv2.ADAPTIVE_THRESH_GAUSSIAN_C, cv2.THRESH_BINARY
            ink = cv2.adaptiveThreshold(grey, 255, around, kind, window, self.below)
        black = 1 - np.count_nonzero(ink) / max(1, ink.size)
        return TreatedImage(np.asarray(cv2.merge([ink] * 3)), record={"black": round(black, 6)})
