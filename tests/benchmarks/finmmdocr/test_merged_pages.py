"""Merged pictures in the place of page images: which generator sees what, and how much is held at once."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import numpy as np
import pytest
from pydantic import ValidationError

from ohr.benchmarks.finmmdocr.merged_pages import MergedPages
from ohr.contracts import Completion, Generator, Prompt
from ohr.files.lazy import Made


class Seeing(Generator):
    """Describes the pictures that it sees."""

    kind: Literal["seeing"] = "seeing"
    reads_images: ClassVar[bool] = True
    speed: int = 1

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        for prompt in prompts:
            seen = [f"{image.shape[1]}x{image.shape[0]}:{image[0, 0, 0]}" for image in prompt.images]
            yield Completion(" ".join(seen))


class Reading(Generator):
    """Reads text."""

    kind: Literal["reading"] = "reading"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        return iter(())


def seen(count, question="What is the margin?", **fields):
    pages = Made([lambda place=place: np.full((30, 20, 3), place, np.uint8) for place in range(count)])
    prompt = Prompt(question, (), "", question, pages)
    (completion,) = MergedPages(generator=Seeing(), **fields).answer([prompt])
    return completion.text.split()


def test_few_pages_are_not_merged():
    assert seen(3, threshold=3) == ["20x30:0", "20x30:1", "20x30:2"]
    assert seen(0, threshold=3) == []


def test_pages_of_english_documents_are_stacked():
    assert seen(5, threshold=3) == ["20x60:0", "20x60:2", "20x30:4"]


def test_pages_of_other_documents_are_in_rows():
    assert seen(5, "毛利率是多少？", threshold=3) == ["40x30:0", "40x30:2", "20x30:4"]


def test_the_reference_protocol_takes_the_published_number_of_pages():
    assert len(seen(51, protocol="reference")) == 17
    assert len(seen(51)) == 26
    assert len(seen(51, threshold=None)) == 51


def test_pictures_are_made_smaller():
    assert seen(4, threshold=2, long_side=30) == ["10x30:0", "10x30:2"]


def test_one_picture_is_made_at_a_time():
    made = []

    def page(place):
        made.append(place)
        return np.zeros((4, 4, 3), np.uint8)

    pages = Made([lambda place=place: page(place) for place in range(6)])
    images = MergedPages(generator=Seeing(), threshold=3)._merged(Prompt("?", (), "", "?", pages))
    assert (len(images), made) == (3, [])
    assert images[1].shape == (8, 4, 3)
    assert made == [2, 3]


def test_it_is_identified_with_its_generator_and_needs_one_that_sees():
    assert MergedPages(generator=Seeing()).identity() != MergedPages(generator=Seeing(speed=2)).identity()
    with pytest.raises(ValidationError, match="reading reads no page images"):
        MergedPages(generator=Reading())
