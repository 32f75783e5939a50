"""Sequences of page images that are made when they are looked at, and not kept."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import overload

from ohr.contracts import Image
from ohr.files import images, pdf


class Lazy(Sequence[Image]):
    """Images that are made each time they are looked at."""

    @abstractmethod
    def image(self, place: int) -> Image:
        """Make one image."""

    @overload
    def __getitem__(self, place: int) -> Image: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Image]: ...
    def __getitem__(self, place: int | slice) -> Image | Sequence[Image]:
        if isinstance(place, slice):
            return [self[index] for index in range(len(self))[place]]
        return self.image(range(len(self))[place])


class Made(Lazy):
    """Images made by a function each."""

    def __init__(self, makers: Sequence[Callable[[], Image]]) -> None:
        self._makers = makers

    def __len__(self) -> int:
        return len(self._makers)

    def image(self, place: int) -> Image:
        """Make one."""
        return self._makers[place]()


def page_images(path: Path, dpi: int) -> Made:
    """Return the pages of a PDF, rendered at `dpi`, or of an image file. Raises DataError, also as pages are made."""
    if path.suffix.lower() == ".pdf":
        return Made([partial(pdf.render, path, index, dpi) for index in range(pdf.page_count(path))])
    return Made([partial(images.read_image, path, index) for index in range(images.pages(path))])
