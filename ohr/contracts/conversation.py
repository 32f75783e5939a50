"""Conversations with models: turns of texts and pictures; a picture is a recipe, made when it is sent and not kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal

from ohr.contracts.values import Image

PageId = tuple[str, int]
"""A page by its document's name and its index, from 0."""

Box = tuple[float, float, float, float]
"""A rectangle (left, top, right, bottom) in pixels."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture for a model: pages of the knowledge base, and the steps that are applied to their images.

    Args:
        pages: one page, or the pages of a grid.
        steps: name and numbers of each step, in order; `crop`, `fit` and `grid` add one.
    """

    pages: tuple[PageId, ...]
    steps: tuple[tuple[str, tuple[float, ...]], ...] = ()

    def crop(self, box: Box) -> "Picture":
        """Cut a box out, in pixels of the picture so far; its numbers are rounded, and clipped to the picture."""
        return replace(self, steps=(*self.steps, ("crop", box)))

    def fit(self, least: int, most: int) -> "Picture":
        """Scale to at least `least` and at most `most` pixels, width x height; the proportions stay."""
        return replace(self, steps=(*self.steps, ("fit", (least, most))))

    def grid(self, rows: int, columns: int, line: int = 0) -> "Picture":
        """Put the pages into the cells of a grid, row by row, with black lines of `line` pixels between them.

        Pages are resized to the size that most of them have; cells without a page are white.
        """
        return replace(self, steps=(*self.steps, ("grid", (rows, columns, line))))


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation: texts and pictures in the order in which they are sent."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Picture, ...]

    @property
    def text(self) -> str:
        """Its texts, joined by blank lines."""
        return "\n\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """Its pictures."""
        return tuple(part for part in self.parts if isinstance(part, Picture))


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that a generator is to continue; its last turn is the user's.

    Args:
        images: of the pictures of all turns, in order. Each is made when it is accessed, and not kept: hold few at a
            time.
        id: of the question.
        attempt: number of the try: where replies are sampled, another try is another sample.
    """

    turns: tuple[Turn, ...]
    images: Sequence[Image] = field(default=(), compare=False, repr=False)
    id: str = field(default="", compare=False)
    attempt: int = 0

    @property
    def has_pictures(self) -> bool:
        """Whether any turn shows a picture."""
        return any(turn.pictures for turn in self.turns)

    def shown(self) -> Iterator[tuple[str, Iterator[str | Image]]]:
        """Yield the role and the parts of each turn, with images in the place of pictures, each made as it comes.

        All parts of a turn with pictures must be taken before those of the next.
        """
        places = count()
        for turn in self.turns:
            yield turn.role, (part if isinstance(part, str) else self.images[next(places)] for part in turn.parts)
