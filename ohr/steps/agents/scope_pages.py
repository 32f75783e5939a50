"""The desk of an agent: the pages of one scope of a knowledge base, read from the store when they are looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ohr.contracts import Image, PageId, Picture
from ohr.dataset.inputs import Inputs
from ohr.errors import DataError
from ohr.files.pictures import Size, make_picture, picture_size
from ohr.steps.documents.make_document import read_pages
from ohr.steps.documents.page_images import ImageRecipe, PageImage, keep, rendered, size_key
from ohr.store import Store
from ohr.work.shapes import read_sound

_HELD = 32
"""Documents whose text is held at once: those of the questions in flight are asked for again and again."""


@dataclass
class ScopeDesk:
    """The pages that the questions of one scope may look at.

    Args:
        documents: their names, in order.
        texts: keys of their texts, None where one failed; no entry where the agent reads no text.
        images: how page images are made; None where the agent looks at none.
    """

    store: Store
    inputs: Inputs
    documents: tuple[str, ...]
    texts: Mapping[str, str | None]
    images: ImageRecipe | None
    instruction: str = ""
    _held: dict[str, dict[int, str]] = field(default_factory=dict)
    _sizes: dict[str, Size] = field(default_factory=dict)

    def pages(self) -> Sequence[PageId]:
        """List the pages."""
        return self._pages

    @cached_property
    def places(self) -> frozenset[PageId]:
        """The pages, to look one up."""
        return frozenset(self._pages)

    @cached_property
    def _pages(self) -> tuple[PageId, ...]:
        known = self.inputs.by_name
        if self.images and self.images.orders:
            placed = ((name, page.number) for name in self.documents for page in self.images.placed(known[name]))
            return tuple(dict.fromkeys(placed))
        return tuple((name, index) for name in self.documents for index in range(known[name].pages))

    def text(self, page: PageId) -> str:
        """Return a page's text; empty where it could not be read.

        Raises:
            KeyError: there is no such page.
            DataError: the agent reads no text.
        """
        name, index = page
        if not self.texts:
            raise DataError("the text of a page, though the agent does not read text")
        if name not in self.texts or not 0 <= index < self.inputs.by_name[name].pages:
            raise KeyError(page)
        if name not in self._held:
            if len(self._held) >= _HELD:
                self._held.pop(next(iter(self._held)))
            self._held[name] = {each.index: each.text for each in read_pages(self.store, self.texts[name]) or ()}
        return self._held[name].get(index, "")

    def size(self, picture: Picture) -> Size:
        """Return the size of a picture; a page's own is kept, so that its image is not made for it."""
        return picture_size(picture, self._size)

    def _size(self, page: PageId) -> Size:
        image = self.page_image(page)
        if image.key not in self._sizes:
            name = size_key(image.key)
            kept = read_sound(self.store, [name], "size").get(name)
            if kept is None:
                made = stored_image(image, self.store)
                kept = made.shape[1], made.shape[0]
            self._sizes[image.key] = (kept[0], kept[1])
        return self._sizes[image.key]

    def page_image(self, page: PageId) -> PageImage:
        """Return how a page's image is made.

        Raises:
            DataError: the agent looks at no images, or there is no such page in the scope.
        """
        name, index = page
        if self.images is None:
            raise DataError("a picture, though the agent does not read images")
        if page not in self.places:
            raise DataError(f"a picture of page {index} of {name}, which is not on the desk")
        document = self.inputs.by_name[name]
        image = self.images.numbered_page(document, index, self.inputs.leaf(document, images=True))
        assert image is not None  # as it is one of the places
        return image

    def picture(self, picture: Picture) -> Image:
        """Make a picture."""
        return make_picture(picture, lambda page: stored_image(self.page_image(page), self.store))

    def picture_key(self, picture: Picture) -> list[Any]:
        """Return what decides a picture: the keys of its pages, and its steps; its size must be computable."""
        self.size(picture)
        steps = [[name, [float(number) for number in numbers]] for name, numbers in picture.steps]
        return [[self.page_image(page).key for page in picture.pages], steps]


def stored_image(page: PageImage, store: Store) -> Image:
    """Read a page image, or make and keep it: a conversation shows it again in every turn."""
    found = rendered(store, page.key)
    if found is None:
        found = page.make()
        keep(store, page.key, found)
    return found
