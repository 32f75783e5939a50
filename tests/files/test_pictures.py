"""Pictures: a size is known before the image is made, and is the image's."""

import numpy as np
import pytest

from ohr.contracts import Picture
from ohr.errors import DataError
from ohr.files.pictures import described, make_picture, picture_size

A, B, C = ("law/lease", 0), ("law/lease", 1), ("report", 0)
SIZES = {A: (160, 120), B: (80, 60), C: (160, 120)}
LIGHT = {A: 200, B: 100, C: 50}


def page(which):
    """Return a page that is lighter from left to right and from top to bottom, so that each place looks different."""
    width, height = SIZES[which]
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    return np.stack([across, down, np.full_like(across, LIGHT[which])], axis=2).astype(np.uint8)


def made(picture):
    """Return the image of a picture; its size must be as predicted."""
    image = make_picture(picture, page)
    assert image.dtype == np.uint8
    assert (image.shape[1], image.shape[0]) == picture_size(picture, SIZES.__getitem__)
    return image


def size(*pages, picture=None, sizes=None):
    return picture_size(picture or Picture(pages), (sizes or SIZES).__getitem__)


def test_a_page_as_it_is_and_one_that_fits_is_not_touched():
    assert (made(Picture((A,))) == page(A)).all()
    assert (made(Picture((A,)).fit(1, 160 * 120)) == page(A)).all()


def test_a_crop_has_the_pixels_of_its_box():
    image = made(Picture((A,)).crop((10, 20, 40, 50)))
    assert (image == page(A)[20:50, 10:40]).all()
    assert image.flags.c_contiguous


@pytest.mark.parametrize(
    ("box", "kept"),
    [
        ((-5, -5, 10, 10), (0, 0, 10, 10)),
        ((150, 110, 999, 999), (150, 110, 160, 120)),
        ((-9, -9, 999, 999), (0, 0, 160, 120)),
        ((9.6, 19.4, 40.4, 49.6), (10, 19, 40, 50)),
        ((0.5, 1.5, 2.5, 3.5), (0, 2, 2, 4)),  # halves become even numbers, as Python and Pillow round
    ],
)
def test_a_box_is_rounded_and_clipped(box, kept):
    assert (made(Picture((A,)).crop(box)) == made(Picture((A,)).crop(kept))).all()


@pytest.mark.parametrize("box", [(10, 10, 10, 20), (20, 0, 10, 9), (160, 0, 170, 9), (-9, 0, 0, 9), (5, 5, 5.4, 9)])
def test_a_crop_without_a_pixel_is_refused(box):
    left, top, right, bottom = map(round, box)
    for read in (made, lambda picture: picture_size(picture, SIZES.__getitem__)):
        with pytest.raises(DataError) as caught:
            read(Picture((A,)).crop(box))
        assert str(caught.value) == f"a crop of {left}, {top}, {right}, {bottom} has no pixel of a picture of 160x120"


@pytest.mark.parametrize(
    ("page_size", "limits", "fitted"),
    [
        ((1600, 1200), (200_704, 401_408), (731, 548)),
        ((300, 200), (200_704, 401_408), (548, 365)),
        ((550, 550), (200_704, 401_408), (550, 550)),
        ((156, 156), (200_704, 401_408), (448, 448)),  # 156 x (448 / 156) is 447.99999999999994
        ((1600, 1200), (1, 1), (1, 1)),
        ((3000, 1), (1, 30), (300, 1)),  # no side becomes 0
        ((1, 1), (100, 100), (10, 10)),
    ],
)
def test_a_picture_is_scaled_to_as_many_pixels(page_size, limits, fitted):
    assert size(picture=Picture((A,)).fit(*limits), sizes={A: page_size}) == fitted


def test_scaling_keeps_the_content_in_its_place():
    image = made(Picture((A,)).fit(1, 80 * 60)).astype(int)
    assert image.shape == (60, 80, 3)
    assert abs(image[30, 20] - (40, 60, 200)).max() <= 2


def test_steps_are_done_in_order():
    twice = made(Picture((A,)).crop((40, 40, 120, 100)).crop((10, 10, 20, 20)))
    assert (twice == page(A)[50:60, 50:60]).all()
    cropped_last = Picture((A,)).fit(1, 80 * 60).crop((0, 0, 40, 60))
    assert made(cropped_last).shape == (60, 40, 3)
    assert made(Picture((A,)).crop((0, 0, 40, 60)).fit(1, 600)).shape == (30, 20, 3)


def test_a_grid_has_its_pages_row_by_row_between_black_lines():
    image = made(Picture((A, C, A)).grid(2, 2, line=4))
    assert image.shape == (244, 324, 3)
    assert (image[:120, :160] == page(A)).all()
    assert (image[:120, 164:] == page(C)).all()
    assert (image[124:, :160] == page(A)).all()
    assert (image[124:, 164:] == 255).all()
    assert (image[120:124] == 0).all()
    assert (image[:, 160:164] == 0).all()
    assert made(Picture((A, C)).grid(1, 2)).shape == (120, 320, 3)  # without lines


def test_pages_of_a_grid_get_the_commonest_size():
    image = made(Picture((B, A, C)).grid(1, 3))
    assert image.shape == (120, 480, 3)
    assert abs(image[60, 80].astype(int) - (40, 30, 100)).max() <= 2
    assert made(Picture((B, A)).grid(2, 1)).shape == (120, 80, 3)  # of equally common ones the first


def test_a_grid_may_be_cropped_and_scaled():
    picture = Picture((A, C)).grid(2, 1, line=10).crop((0, 0, 160, 130))
    assert (made(picture)[120:] == 0).all()
    assert made(picture.fit(1, 80 * 65)).shape == (65, 80, 3)


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (Picture((A, C)), "a picture of 2 pages needs a grid"),
        (Picture(()), "a picture of 0 pages needs a grid"),
        (Picture((A, C)).crop((0, 0, 9, 9)), "only a picture of one page, or a grid, can be cropped or scaled"),
        (Picture((A, C)).fit(1, 9), "only a picture of one page, or a grid, can be cropped or scaled"),
        (Picture((A, B, C)).grid(1, 2), "a grid of 1x2 cannot hold 3 pages"),
        (Picture(()).grid(1, 2), "a grid of 1x2 cannot hold 0 pages"),
        (Picture((A,)).grid(0, 2), "a grid of 0x2 with lines of 0 pixels cannot be made"),
        (
            Picture((A,)).grid(2000, 2000),
            "a grid of 320000x240000 pixels is too large; at most 200,000,000 pixels are made",
        ),
    ],
)
def test_a_picture_that_cannot_be_made_is_refused_by_its_size_as_by_its_image(picture, message):
    for read in (made, lambda wanted: picture_size(wanted, SIZES.__getitem__)):
        with pytest.raises(DataError) as caught:
            read(picture)
        assert str(caught.value) == message


@pytest.mark.parametrize("seed", range(20))
def test_a_predicted_size_is_right_whatever_the_steps(seed):
    rng = np.random.default_rng(seed)
    pages = (A, B, C)[: rng.integers(1, 4)]
    picture = Picture(pages).grid(int(rng.integers(1, 3)), 3, int(rng.integers(0, 9)))
    for _ in range(4):
        width, height = picture_size(picture, SIZES.__getitem__)
        left, top = rng.uniform(-10, 0.5) * width / 10, rng.uniform(-10, 0.5) * height / 10
        box = (left, top, left + rng.uniform(1.2, 3) * width, top + rng.uniform(1.2, 3) * height)
        least = int(rng.integers(1, 5000))
        picture = picture.crop(box).fit(least, least + int(rng.integers(0, 20_000)))
    made(picture)


def test_pages_are_only_measured_for_a_size():
    asked = []

    def measured(which):
        asked.append(which)
        return SIZES[which]

    picture_size(Picture((A, B)).grid(1, 2), measured)
    assert asked == [A, B]


def test_a_page_is_not_changed():
    shown = page(A)
    shown.flags.writeable = False
    for picture in (Picture((A,)).crop((0, 0, 9, 9)), Picture((A,)).fit(1, 99), Picture((A,)).grid(1, 2, 3)):
        make_picture(picture, lambda _: shown)
    assert (shown == page(A)).all()


def test_a_picture_is_described_in_words():
    picture = Picture((("law/a", 0),)).crop((1.4, 2, 30, 40)).fit(200704, 401408)
    assert described(picture) == "[picture of law/a:0; crop 1 2 30 40; fit 200704 401408]"
