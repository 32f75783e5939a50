"""Merged pictures of pages, for models that take few images (arXiv:2512.24903, appendix D.1)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import ceil
from typing import NamedTuple

import numpy as np

from ohr.contracts import Image

from .records import Protocol

_TWO_COLUMNS = "complong_testmini_246"
"""The one English document whose pages the published code sets in two columns."""


class Layout(NamedTuple):
    """How pages are arranged.

    Attributes:
        pages: of one picture.
        columns: of its grid.
    """

    pages: int
    columns: int


def layout(count: int, document: str, threshold: int | None = 50, protocol: Protocol = "reference") -> Layout:
    """Return how the pages of a document are merged: not at all where there are at most `threshold`.

    Otherwise a picture has k = ceil(count / threshold) pages, in one column for English documents (their ids contain
    complong), else in a row of k. The published code cuts the pages into count // k groups, rounded up to
    ceil(count / (count // k)) pages: with 51 pages, k is 2, and each picture has 3, the third in a row of its own.

    Args:
        count: pages of the document.
        document: its id.
        threshold: most pages that are not merged; None merges none.
        protocol: `reference` takes the published number of pages, `clean` takes k.
    """
    if threshold is None or count <= threshold:
        return Layout(1, 1)
    k = ceil(count / threshold)
    pages = k if protocol == "clean" else ceil(count / (count // k))
    if document == _TWO_COLUMNS:
        return Layout(pages, 2)
    return Layout(pages, 1 if "complong" in document else k)


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
