"""Noise of whole pages: they vanish, come twice, or change their order, as in a scanner's feed or a pile of copies."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ohr.contracts import PageOrder, Placed


class _PageNoise(PageOrder):
    """Draws a number for each page; those below the rate are touched, so that a higher rate touches them too."""

    family: ClassVar[str] = "treatment"
    knob: ClassVar[str] = "rate"
    rate: Annotated[float, Field(ge=0, le=1, description="Share of the pages that are touched.")] = 0.1
    numbers: Annotated[
        Literal["source", "place"],
        Field(description="Pages keep the numbers of their source, or are numbered as they lie."),
    ] = "source"

    def arrange(self, numbers: Sequence[int], rng: np.random.Generator) -> list[Placed]:
        """Arrange the pages of one document."""
        touched = rng.random(len(numbers)) < self.rate
        places = self.places(touched, rng)
        return [
            Placed(place, numbers[place] if self.numbers == "source" else count) for count, place in enumerate(places)
        ]

    @abstractmethod
    def places(self, touched: NDArray[np.bool_], rng: np.random.Generator) -> Sequence[int]:
        """Return the places of the pages in their new order; `touched`, (pages,), says which are touched."""


class DropPages(_PageNoise, kind="drop_pages"):
    """Leaves pages out, each with the probability `rate`."""

    def places(self, touched: NDArray[np.bool_], rng: np.random.Generator) -> list[int]:  # noqa: ARG002 # draws no more
        """Return the places of the pages that stay."""
        return [place for place, drop in enumerate(touched) if not drop]


class DoublePages(_PageNoise, kind="double_pages"):
    """Repeats pages, each with the probability `rate`; the copy follows its page."""

    def places(self, touched: NDArray[np.bool_], rng: np.random.Generator) -> list[int]:  # noqa: ARG002 # draws no more
        """Return the places of all pages, some twice."""
        return [place for place, double in enumerate(touched) for _ in range(2 if double else 1)]


class ShufflePages(_PageNoise, kind="shuffle_pages"):
    """Shuffles pages, each with the probability `rate`, among their own places.

    Chunks and scores of pages that keep their numbers hardly notice; what is lost is text that runs over a page's end,
    and, with `numbers: place`, every citation of a page.
    """

    def places(self, touched: NDArray[np.bool_], rng: np.random.Generator) -> list[int]:
        """Return the places of all pages in their new order."""
        order: NDArray[Any] = np.arange(len(touched))
        ranks = rng.random(len(touched))
        order[touched] = order[touched][np.argsort(ranks[touched], kind="stable")]
        return [int(place) for place in order]
