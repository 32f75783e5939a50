"""Merged pictures in the place of page images: which generator sees what, and how much is held at once."""

import weakref
from collections.abc import Iterator, Sequence
from math import ceil
from typing import ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ohr.benchmarks.finmmdocr.merged_pages import Layout, MergedPages, layout, merged, resized
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


def test_pages_of_english_documents_are_stacked_and_those_of_others_in_rows():
    assert seen(5, threshold=3) == ["20x60:0", "20x60:2", "20x30:4"]
    assert seen(5, "毛利率是多少？", threshold=3) == ["40x30:0", "40x30:2", "20x30:4"]


def test_the_reference_protocol_takes_the_published_number_of_pages():
    assert len(seen(51, protocol="reference")) == 17
    assert len(seen(51)) == 26
    assert len(seen(51, threshold=None)) == 51


def test_pictures_are_made_smaller():
    assert seen(4, threshold=2, long_side=30) == ["10x30:0", "10x30:2"]


def test_one_picture_is_made_at_a_time():
    opened = []

    def page(place):
        opened.append(place)
        return np.zeros((4, 4, 3), np.uint8)

    pages = Made([lambda place=place: page(place) for place in range(6)])
    images = MergedPages(generator=Seeing(), threshold=3)._merged(Prompt("?", (), "", "?", pages))
    assert (len(images), opened) == (3, [])
    assert images[1].shape == (8, 4, 3)
    assert opened == [2, 3]


def test_it_is_identified_with_its_generator_and_needs_one_that_sees():
    assert MergedPages(generator=Seeing()).identity() != MergedPages(generator=Seeing(speed=2)).identity()
    with pytest.raises(ValidationError, match="reading reads no page images"):
        MergedPages(generator=Reading())


# --- merging --------------------------------------------------------------------------------------------


def page(value, height=20, width=10):
    return np.full((height, width, 3), value, dtype=np.uint8)


@pytest.mark.parametrize(
    ("count", "threshold", "english", "reference", "clean"),
    [
        (50, 50, False, (1, 1), (1, 1)),  # up to the threshold they are not merged
        (15, 15, False, (1, 1), (1, 1)),
        (1000, None, False, (1, 1), (1, 1)),
        (100, 50, False, (2, 2), (2, 2)),
        (100, 50, True, (2, 1), (2, 1)),
        (45, 15, False, (3, 3), (3, 3)),
        (51, 50, False, (3, 2), (2, 2)),  # the published code rounds up twice
        (101, 50, False, (4, 3), (3, 3)),
        (101, 50, True, (4, 1), (3, 1)),
    ],
)
def test_longer_documents_have_k_pages_a_picture_in_k_columns_or_one(count, threshold, english, reference, clean):
    for protocol, wanted in (("reference", reference), ("clean", clean)):
        assert layout(count, threshold, protocol, english=english) == wanted


@given(st.integers(1, 900), st.sampled_from([15, 50, 300]), st.sampled_from(["reference", "clean"]))
def test_there_are_never_more_pictures_than_the_threshold(count, threshold, protocol):
    assert ceil(count / layout(count, threshold, protocol, english=False).pages) <= threshold


def test_pages_are_set_in_rows():
    pages = [page(value) for value in (10, 20, 30, 40, 50)]
    first, second = merged(iter(pages), Layout(3, 2))
    assert first.shape == (40, 20, 3)
    assert [first[0, 0, 0], first[0, 10, 0], first[20, 0, 0], first[20, 10, 0]] == [10, 20, 30, 255]
    assert second.shape == (20, 20, 3)
    assert [second[0, 0, 0], second[0, 10, 0]] == [40, 50]
    (column,) = merged(pages[:2], Layout(2, 1))
    assert (column.shape, column[19, 0, 0], column[20, 0, 0]) == ((40, 10, 3), 10, 20)
    assert [each is own for each, own in zip(merged(pages, Layout(1, 1)), pages, strict=True)] == [True] * 5


def test_the_published_code_cuts_a_page_that_is_larger_than_the_first():
    pages = [page(1), page(2, 30, 15), page(3), page(4)]
    (cut,) = merged(pages, Layout(4, 2))
    assert cut.shape == (40, 20, 3)
    assert [cut[0, 10, 0], cut[30, 0, 0], cut[39, 19, 0]] == [2, 3, 4]
    assert (cut[20:30, :10] == 255).all()
    (whole,) = merged(pages, Layout(4, 2), protocol="clean")
    assert whole.shape == (50, 25, 3)
    assert (whole[:30, 10:25] == 2).all()
    assert [whole[30, 0, 0], whole[30, 10, 0]] == [3, 4]


def test_pages_and_pictures_are_gone_when_the_next_ones_are_read():
    class Traced(np.ndarray):
        pass

    seen, alive = [], []

    def traced(value):
        alive.append(sum(reference() is not None for reference in seen))
        made = page(value).view(Traced)
        seen.append(weakref.ref(made))
        return made

    def pages():
        for value in range(9):
            yield traced(value)

    pictures = merged(pages(), Layout(3, 3))
    while (picture := next(pictures, None)) is not None:
        assert sum(reference() is not None for reference in seen) == 0
        seen.append(weakref.ref(picture))
        del picture
    assert max(alive) == 2  # the two pages before the third of a picture


def test_the_longer_side_is_scaled():
    assert resized(page(1, 200, 100), 50).shape == (50, 25, 3)
    assert resized(page(1, 100, 200), 50).shape == (25, 50, 3)
    assert resized(page(1, 3, 200), 50).shape == (1, 50, 3)
    assert resized(page(7, 40, 40), 50).shape == (50, 50, 3)
    assert (resized(page(7, 200, 100), 50) == 7).all()


def test_only_the_published_code_enlarges():
    small = page(1, 20, 10)
    assert resized(small, 40).shape == (40, 20, 3)
    assert resized(small, 40, "clean") is small
    assert [p.shape for p in merged([small, small], Layout(2, 1), 80)] == [(80, 20, 3)]
    assert [p.shape for p in merged([small, small], Layout(2, 1), 80, "clean")] == [(40, 10, 3)]
