"""Page images as a knowledge base sees them: how each is made."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ohr import seeds
from ohr.contracts import Benchmark, Document, Image, ImageNoise, NoisyImage, PageId
from ohr.files.lazy import Lazy
from ohr.keys import key
from ohr.steps.documents.perturb import numbered
from ohr.work.plugin_checks import checked_image


@dataclass(frozen=True, slots=True)
class PageImage:
    """How to make one page's image.

    Args:
        key: of the image; two images with one key are equal.
    """

    benchmark: Benchmark
    noises: tuple[ImageNoise, ...]
    document: Document
    index: int
    seed: int
    key: str = ""

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return f"image of {self.document.name} page {self.index + 1}"

    def make(self) -> Image:
        """Render the page and distort it; passes on errors of the benchmark or a noise."""
        image = self.benchmark.page_image(self.document, self.index)
        others = OtherPages(partial(self.benchmark.page_image, self.document), self.document.pages, self.index)
        for made in distort(image, others, self.noises, (self.document.name, self.index), self.seed):
            image = made.image
        return image


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """How the page images of one knowledge base are made.

    Args:
        identity: what decides the images beside the document: the noises, their draws, plugin files; JSON values.
    """

    benchmark: Benchmark
    noises: tuple[ImageNoise, ...]
    seed: int
    identity: tuple[Any, ...]

    def page(self, document: Document, index: int, leaf: str) -> PageImage:
        """Return the recipe of one page, with its key; `leaf` is the fingerprint of the document's images."""
        name = key("image", leaf, document.name, index, *self.identity)
        return PageImage(self.benchmark, self.noises, document, index, self.seed, name)


def acting(noises: Sequence[ImageNoise]) -> list[ImageNoise]:
    """Leave out the noises without strength, which give their input back."""
    return [noise for noise in noises if getattr(noise, noise.knob)]


def distort(
    image: Image, others: Sequence[Image], noises: Sequence[ImageNoise], page: PageId, seed: int
) -> Iterator[NoisyImage]:
    """Distort a page image with a chain of image noises; gives the image after each."""
    image = checked_image(image)
    # a noise without strength is in no key, so it must not move the draws of the others either
    for noise, place in numbered(acting(noises)):
        made = noise.perturb(image, others, seeds.generator(seed, noise.kind, *page, place))
        image = checked_image(made.image)
        yield made


class OtherPages(Lazy):
    """The other page images of a document of `pages` pages, without noise."""

    def __init__(self, render: Callable[[int], Image], pages: int, own: int) -> None:
        self._render, self._places = render, [index for index in range(pages) if index != own]

    def __len__(self) -> int:
        return len(self._places)

    def image(self, place: int) -> Image:
        """Render one."""
        return self._render(self._places[place])
