"""Page images from the files that people have."""

import numpy as np
import pytest
from PIL import Image

from ohr.errors import DataError
from ohr.files import images

GREY = np.linspace(0, 255, 40 * 30).reshape(40, 30).astype(np.uint8)


def saved(path, image, **words):
    image.save(path, **words)
    return path


def test_sixteen_bits_are_scaled_not_cut_off(tmp_path):
    path = saved(tmp_path / "deep.png", Image.fromarray(GREY.astype(np.uint16) * 257))
    assert (images.read_image(path) == GREY[:, :, None]).all()


def test_what_is_transparent_is_white(tmp_path):
    clear = np.zeros((40, 30, 4), dtype=np.uint8)
    clear[:5, :, 3] = 255
    read = images.read_image(saved(tmp_path / "clear.png", Image.fromarray(clear)))
    assert (read[:5] == 0).all()
    assert (read[5:] == 255).all()


def test_inks_of_print_become_colors(tmp_path):
    read = images.read_image(saved(tmp_path / "print.tif", Image.new("CMYK", (30, 40), (0, 255, 255, 0))))
    assert (read == (255, 0, 0)).all()


@pytest.mark.parametrize("mode", ["L", "LA", "P", "1", "RGB", "RGBA"])
def test_each_mode_keeps_black_and_white(tmp_path, mode):
    half = np.zeros((40, 30), dtype=np.uint8)
    half[:20] = 255
    read = images.read_image(saved(tmp_path / "half.png", Image.fromarray(half).convert(mode)))
    assert (read == half[:, :, None]).all()


@pytest.mark.parametrize(("orientation", "turns"), [(1, 0), (3, 2), (6, -1), (8, 1)])
def test_a_photograph_is_turned_upright_as_the_camera_was_held(tmp_path, orientation, turns):
    picture = Image.fromarray(np.repeat(GREY[:, :, None], 3, axis=2))
    exif = picture.getexif()
    exif[0x0112] = orientation
    path = saved(tmp_path / "photo.png", picture, exif=exif)
    assert (images.read_image(path)[:, :, 0] == np.rot90(GREY, turns)).all()


def test_the_pages_of_a_tiff_come_one_by_one_and_go_back(tmp_path):
    sheets = [np.full((40, 30, 3), tone, dtype=np.uint8) for tone in (10, 120, 240)]
    images.write_image(tmp_path / "scan.tif", *sheets)
    assert images.pages(tmp_path / "scan.tif") == 3
    assert [images.read_image(tmp_path / "scan.tif", index)[0, 0, 0] for index in range(3)] == [10, 120, 240]
    with pytest.raises(DataError, match="no page 3: it has 3 pages"):
        images.read_image(tmp_path / "scan.tif", 3)


def test_a_second_picture_inside_a_phones_jpeg_is_no_page(tmp_path):
    small = Image.fromarray(np.repeat(GREY[:, :, None], 3, axis=2))
    path = tmp_path / "phone.jpg"
    small.save(path, format="MPO", save_all=True, append_images=[small])
    assert images.pages(path) == 1
    assert images.read_image(path).shape == (40, 30, 3)


@pytest.mark.parametrize("name", ["empty.png", "words.png", "half.png", "half.jpg", "half.tif", "none.png"])
def test_a_damaged_file_is_reported_once_by_its_name(tmp_path, name):
    path = tmp_path / name
    if name.startswith("half"):
        noise = np.random.default_rng(0).integers(0, 256, (90, 90, 3), dtype=np.uint8)
        Image.fromarray(noise).save(path)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif name != "none.png":
        path.write_bytes(b"" if name == "empty.png" else b"no picture at all")
    with pytest.raises(DataError) as caught:
        images.read_image(path)
    message = str(caught.value)
    assert message.count(str(path)) == 1
    assert "\n" not in message


@pytest.mark.acceptance  # 120 million pixels
def test_a_large_page_is_read_without_a_warning_and_a_huge_one_refused(tmp_path, recwarn):
    path = saved(tmp_path / "large.png", Image.new("1", (10_000, 9_500), 1))
    assert images.read_image(path).shape == (9_500, 10_000, 3)
    assert not recwarn.list
    with pytest.raises(DataError, match="too many for a page"):
        images.read_image(saved(tmp_path / "huge.png", Image.new("1", (20_000, 20_000), 1)))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("twelve.tif", GREY.astype(np.uint16) * 16),
        ("ten.tif", GREY.astype(np.uint16) * 4),
        ("fractions.tif", GREY.astype(np.float32) / 255),
        ("numbers.tif", GREY.astype(np.float32)),
        ("long.tif", GREY.astype(np.int32)),
    ],
)
def test_any_number_of_bits_is_scaled_to_eight(tmp_path, name, values):
    read = images.read_image(saved(tmp_path / name, Image.fromarray(values)))
    assert np.abs(read[:, :, 0].astype(int) - GREY).max() <= 2


def test_sixteen_bits_with_white_as_zero_are_not_a_negative(tmp_path):
    path = saved(tmp_path / "fax.tif", Image.fromarray(GREY.astype(np.uint16) * 257))
    entry = b"\x06\x01\x03\x00\x01\x00\x00\x00"  # PhotometricInterpretation, one number of 16 bits
    path.write_bytes(path.read_bytes().replace(entry + b"\x01", entry + b"\x00"))
    assert (images.read_image(path)[:, :, 0] == 255 - GREY).all()


@pytest.mark.parametrize("suffix", [".jp2", ".gif", ".jfif", ".jpe", ".pgm", ".tga"])
def test_further_kinds_of_files_are_pages(tmp_path, suffix):
    assert suffix in images.SUFFIXES
    path = tmp_path / f"page{suffix}"
    images.write_image(path, np.repeat(GREY[:, :, None], 3, axis=2))
    assert np.abs(images.read_image(path)[:, :, 0].astype(int) - GREY).max() <= 3


def test_reduced_copies_and_masks_in_a_tiff_are_no_pages(tmp_path):
    first, second = Image.new("L", (30, 40), 10), Image.new("L", (30, 40), 200)
    small, mask = Image.new("L", (15, 20), 99), Image.new("L", (30, 40), 99)
    for image, kind in ((small, 1), (mask, 4)):
        image.encoderinfo = {"tiffinfo": {254: kind}}
    path = saved(tmp_path / "fax.tif", first, save_all=True, append_images=[small, mask, second])
    assert images.pages(path) == 2
    assert [images.read_image(path, index)[0, 0, 0] for index in range(2)] == [10, 200]
    with pytest.raises(DataError, match="no page 2: it has 2 pages"):
        images.read_image(path, 2)


def test_whatever_pillow_raises_is_one_sentence(tmp_path, monkeypatch):
    path = saved(tmp_path / "a.png", Image.fromarray(GREY))

    def breaks(*_, **__):
        raise KeyError("no such tag")

    monkeypatch.setattr(Image, "open", breaks)
    with pytest.raises(DataError, match="cannot be read as an image"):
        images.read_image(path)
