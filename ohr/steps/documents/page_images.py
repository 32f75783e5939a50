"""Page images as a knowledge base sees them: how each is made, and in which order they are."""

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from ohr import seeds
from ohr.contracts import (
    Benchmark,
    Document,
    Image,
    ImageTreatment,
    PageId,
    PageOrder,
    Placed,
    TreatedImage,
)
from ohr.errors import StageError
from ohr.files.lazy import Lazy
from ohr.keys import key
from ohr.keys import key as key_of
from ohr.steps.documents.treat import arranged, label, numbered
from ohr.store import Store
from ohr.work.plugin_checks import checked_image
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Work

Records = list[dict[str, Any]]
"""Records of the repairs of an image: {treatment, seconds, changed, ...}, JSON values."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """How to make one page's image.

    Args:
        key: of the image; two images with one key are equal.
    """

    benchmark: Benchmark
    treatments: tuple[ImageTreatment, ...]
    document: Document
    index: int
    seed: int
    key: str = ""

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return f"image of {self.document.name} page {self.index + 1}"

    def make(self, records: Records | None = None) -> Image:
        """Render the page and treat it; passes on errors of the benchmark or a treatment.

        Args:
            records: takes what the repairs did.
        """
        image = self.benchmark.page_image(self.document, self.index)
        others = OtherPages(partial(self.benchmark.page_image, self.document), self.document.pages, self.index)
        for treated in distort(image, others, self.treatments, (self.document.name, self.index), self.seed, records):
            image = treated.image
        return image


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """How the page images of one knowledge base are made.

    Args:
        identity: what decides the images beside the document: the treatments, their draws, plugin files; JSON values.
        orders: what leaves pages out, doubles them, or changes their order.
    """

    benchmark: Benchmark
    treatments: tuple[ImageTreatment, ...]
    seed: int
    identity: tuple[Any, ...]
    orders: tuple[PageOrder, ...] = ()

    def page(self, document: Document, index: int, leaf: str) -> PageImage:
        """Return the recipe of one page of the source, with its key; `leaf` is the fingerprint of its images."""
        name = key("image", leaf, document.name, index, *self.identity)
        return PageImage(self.benchmark, self.treatments, document, index, self.seed, name)

    def placed(self, document: Document) -> list[Placed]:
        """Return the pages of a document in their order: the page of the source, and the number it has."""
        return in_order(document, self.orders, self.seed)

    def numbered_page(self, document: Document, number: int, leaf: str) -> PageImage | None:
        """Return the recipe of the first page with a number; None where no page has it."""
        if not self.orders:
            return self.page(document, number, leaf)
        places = (page.place for page in self.placed(document) if page.number == number)
        return next((self.page(document, place, leaf) for place in places), None)


def in_order(document: Document, orders: Sequence[PageOrder], seed: int) -> list[Placed]:
    """Return the pages of a document as orders arrange them: the page of the source, and the number it has."""
    pages = [Placed(index, index) for index in range(document.pages)]
    for order, number in numbered(orders):
        placed = arranged(order, number, document.name, [page.number for page in pages], seed)
        pages = [Placed(pages[place].place, index) for place, index in placed]
    return pages


def acting(treatments: Sequence[ImageTreatment]) -> list[ImageTreatment]:
    """Leave out the treatments without strength, which give their input back."""
    return [treatment for treatment in treatments if treatment.acts]


def distort(
    image: Image,
    others: Sequence[Image],
    treatments: Sequence[ImageTreatment],
    page: PageId,
    seed: int,
    records: Records | None = None,
) -> Iterator[TreatedImage]:
    """Lead a page image through a list of treatments; gives the image after each.

    Args:
        records: takes what the repairs did.
    """
    image = checked_image(image)
    # a noise without strength is in no key, so it must not move the draws of the others either
    for treatment, number in numbered(acting(treatments)):
        began = perf_counter()
        treated = treatment.treat(image, others, seeds.generator(seed, treatment.kind, *page, number))
        if not isinstance(treated, TreatedImage):
            what = f"an image must be a TreatedImage, not {type(treated).__name__}"
            raise StageError(f"{treatment.family} {treatment.kind}", f"{page[0]} page {page[1] + 1}", what)
        if records is not None and treatment.purpose == "repair":
            record = {"treatment": label(treatment, number), "seconds": round(perf_counter() - began, 6)}
            changed = treated.image is not image and not np.array_equal(treated.image, image)
            records.append({**treated.record, **record, "changed": changed})
        image = checked_image(treated.image)
        yield treated


class OtherPages(Lazy):
    """The other page images of a document of `pages` pages, without noise."""

    def __init__(self, render: Callable[[int], Image], pages: int, own: int) -> None:
        self._render, self._places = render, [index for index in range(pages) if index != own]

    def __len__(self) -> int:
        return len(self._places)

    def image(self, place: int) -> Image:
        """Render one."""
        return self._render(self._places[place])


@dataclass(frozen=True, slots=True)
class RenderPage(Work):
    """Distort one page's image and keep it for the stages that look at it. Writes {png}, base64."""

    kind: ClassVar[str] = "rendering pages"
    shape: ClassVar[str] = "image"
    role: ClassVar[str] = "page image"
    page: PageImage
    base: str

    @property
    def item(self) -> str:
        """Name of the page."""
        return f"{self.base}: {self.page.document.name} page {self.page.index + 1}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Render the page."""
        keep(context.store, ready.outputs[0], self.page.make())
        report = Report()
        report.calls["page images"] = 1
        return report


def keep(store: Store, key: str, image: Image) -> None:
    """Keep an image, and its size, which outlives it."""
    import cv2

    written, png = cv2.imencode(".png", image[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])
    if not written:
        raise StageError("page image", key, "an image cannot be written as PNG")
    size = [image.shape[1], image.shape[0]]
    store.put_many({key: {"png": base64.b64encode(png.tobytes()).decode("ascii")}, size_key(key): size})


def size_key(image: str) -> str:
    """Key of the size of a page image, [width, height] in pixels."""
    return key_of("image size", image)


def rendered(store: Store, key: str) -> Image | None:
    """Read a rendered image; None when the store does not have it."""
    import cv2

    found = read_sound(store, [key], "image").get(key)
    if found is None:
        return None
    image: Any = cv2.imdecode(np.frombuffer(base64.b64decode(found["png"]), np.uint8), cv2.IMREAD_COLOR_RGB)
    return np.ascontiguousarray(image, dtype=np.uint8)
