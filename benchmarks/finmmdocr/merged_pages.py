"""Merged pictures for generators that read images: fewer, larger images of the same pages (arXiv:2512.24903, D.1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import ceil
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from ohr.contracts import Completion, Generator, Image, Prompt, Resources
from ohr.files.lazy import Lazy
from ohr.keys import identity
from ohr.parts import GeneratorPart
from ohr.text.chinese import HAS_HAN

from .metrics import Rules
from .release_records import Protocol


class Layout(NamedTuple):
    """How pages are arranged.

    Attributes:
        pages: of one picture.
        columns: of its grid.
    """

    pages: int
    columns: int


def layout(count: int, threshold: int | None, protocol: Protocol, *, english: bool) -> Layout:
    """Return how the pages of a document are merged: not at all where there are at most `threshold`.

    Otherwise a picture has k = ceil(count / threshold) pages, in one column for English documents, else in a row of k.
    The published code cuts the pages into count // k groups, rounded up to
    ceil(count / (count // k)) pages: with 51 pages, k is 2, and each picture has 3, the third in a row of its own.

    Args:
        count: pages of the document.
        threshold: most pages that are not merged; None merges none.
        protocol: `reference` takes the published number of pages, `clean` takes k.
    """
    if threshold is None or count <= threshold:
        return Layout(1, 1)
    k = ceil(count / threshold)
    pages = k if protocol == "clean" else ceil(count / (count // k))
    return Layout(pages, 1 if english else k)


def merged(
    images: Iterable[Image], how: Layout, long_side: int | None = None, protocol: Protocol = "reference"
) -> Iterator[Image]:
    """Yield the pictures of a document; only the pages of one are held at a time.

    Args:
        images: its pages in order, each (height, width, 3) RGB.
        how: the result of `layout`.
        long_side: pixels of each picture's longer side; None leaves its size. See `resized`.
        protocol: with `reference`, every cell of the grid has the size of the picture's first page, so that a larger
            page is covered or cut; with `clean`, rows and columns are as large as their largest page.
    """
    pages = iter(images)
    while group := list(islice(pages, how.pages)):
        picture = group[0] if how.pages == 1 else _grid(group, how.columns, protocol)
        if long_side is not None:
            picture = resized(picture, long_side, protocol)
        del group  # neither pages nor the last picture are in memory while the next ones are read
        yield picture
        del picture


def resized(image: Image, long_side: int, protocol: Protocol = "reference") -> Image:
    """Scale an image by Lanczos' filter to a longer side of `long_side` pixels.

    The published code also enlarges smaller images; `clean` leaves them as they are.
    """
    from PIL import Image as Pillow

    height, width = image.shape[:2]
    if protocol == "clean" and max(height, width) <= long_side:
        return image
    scale = long_side / max(height, width)
    size = (long_side, max(1, int(height * scale))) if width > height else (max(1, int(width * scale)), long_side)
    return np.asarray(Pillow.fromarray(image).resize(size, Pillow.Resampling.LANCZOS))


def _grid(pages: Sequence[Image], columns: int, protocol: Protocol) -> Image:
    rows = [pages[start : start + columns] for start in range(0, len(pages), columns)]
    if protocol == "clean":
        heights = [max(page.shape[0] for page in row) for row in rows]
        widths = [max(page.shape[1] for page in pages[column::columns]) for column in range(min(columns, len(pages)))]
        corners = [(sum(heights[:r]), sum(widths[:c])) for r, row in enumerate(rows) for c in range(len(row))]
    else:
        heights, widths = [pages[0].shape[0]] * len(rows), [pages[0].shape[1]] * columns
        corners = list(_published_corners(rows))
    picture: Image = np.full((sum(heights), sum(widths), 3), 255, dtype=np.uint8)
    for page, (top, left) in zip(pages, corners, strict=True):
        seen = picture[top : top + page.shape[0], left : left + page.shape[1]]
        seen[:] = page[: seen.shape[0], : seen.shape[1]]
    return picture


def _published_corners(rows: Sequence[Sequence[Image]]) -> Iterator[tuple[int, int]]:
    """Yield top and left of each page: rows are as high as their last page, and pages follow without a gap."""
    top = 0
    for row in rows:
        left = 0
        for page in row:
            yield top, left
            left += page.shape[1]
        top += row[-1].shape[0]


class MergedPages(Generator, kind="merged_pages"):
    """Lets another generator see several pages in one picture where there are many (arXiv:2512.24903, appendix D.1).

    More than `threshold` pages are merged, k = ceil(pages / threshold) in each picture: in one column where the
    question is in English, else in a row of k.
    """

    reads_images: ClassVar[bool] = True
    generator: Annotated[GeneratorPart, Field(description="The generator that sees the pictures.")]
    threshold: Annotated[
        int | None,
        Field(gt=0, description="Most pages that are not merged; published: 15, 50, 300 and null, for none."),
    ] = 50
    long_side: Annotated[
        int | None,
        Field(gt=0, description="Pixels of a picture's longer side; published: 3840, 1920 and null, for all."),
    ] = None
    protocol: Rules = "clean"

    @model_validator(mode="after")
    def _sees(self) -> Self:
        if not self.generator.reads_images:
            raise ValueError(f"{self.generator.kind} reads no page images")
        return self

    def check(self) -> None:
        """Check the generator."""
        self.generator.check()

    def resources(self) -> Resources:
        """Return the generator's resources."""
        return self.generator.resources()

    def identity(self) -> Mapping[str, object]:
        """Identify the generator as it identifies itself."""
        made: list[Any] = identity(self.generator)
        return {**super().identity(), "generator": made}

    def answer(self, prompts: Sequence[Prompt]) -> Iterable[Completion]:
        """Answer each prompt, with merged pictures in the place of its images."""
        return self.generator.answer([replace(prompt, images=self._merged(prompt)) for prompt in prompts])

    def _merged(self, prompt: Prompt) -> Sequence[Image]:
        english = HAS_HAN.search(prompt.question) is None
        how = layout(len(prompt.images), self.threshold, self.protocol, english=english)
        return MergedImages(prompt.images, how, self.long_side, self.protocol)


class MergedImages(Lazy):
    """Pictures of several images each, made when they are looked at."""

    def __init__(self, images: Sequence[Image], how: Layout, long_side: int | None, protocol: Protocol) -> None:
        self._images, self._how, self._long_side, self._protocol = images, how, long_side, protocol

    def __len__(self) -> int:
        return -(-len(self._images) // self._how.pages)

    def image(self, place: int) -> Image:
        """Make one picture."""
        start = place * self._how.pages
        pages = (self._images[index] for index in range(len(self._images))[start : start + self._how.pages])
        return next(merged(pages, self._how, self._long_side, self._protocol))
