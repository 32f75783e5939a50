"""Page images from image files, and back."""

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.messages.wording import counted

_JPEG = (".jpg", ".jpeg", ".jpe", ".jfif")
_TIFF = (".tif", ".tiff")
_JPEG_2000 = (".jp2", ".j2k", ".jpx", ".jpf")
SUFFIXES = (".png", *_JPEG, *_TIFF, ".bmp", ".webp", ".gif", *_JPEG_2000, ".pbm", ".pgm", ".ppm", ".pnm", ".tga")
"""Endings of images that are pages."""
_NEW_SUBFILE, _SUBFILE, _BITS, _PHOTOMETRIC = 254, 255, 258, 262
_REDUCED_OR_MASK, _REDUCED, _WHITE_IS_0 = 5, 2, 0
"""Tags of TIFF, and their values."""
PIXELS = 120_000_000
"""No page has more: A3 at 600 dpi has 70 million. Noise and OCR take some ten times the memory of the image."""


def refuse_large(width: int, height: int, what: str) -> None:
    """Raise a DataError for an image that is larger than any page, before memory is taken for it."""
    if width * height > PIXELS:
        raise DataError(f"{what}: {width} x {height} pixels are too many for a page (at most {PIXELS:,})")


def quarter_turned(image: Image, quarters: int) -> tuple[Image, NDArray[np.float64]]:
    """Turn an image clockwise by quarter turns, without a loss; returns the image and the map of its pixels, (3, 3)."""
    height, width = image.shape[:2]
    maps = (
        [[1, 0, 0], [0, 1, 0]],
        [[0, -1, height - 1], [1, 0, 0]],
        [[-1, 0, width - 1], [0, -1, height - 1]],
        [[0, 1, 0], [-1, 0, width - 1]],
    )
    turned = image if quarters % 4 == 0 else np.ascontiguousarray(np.rot90(image, -quarters))
    return turned, np.array([*maps[quarters % 4], [0, 0, 1]], dtype=np.float64)


def pages(path: Path) -> int:
    """Count the pages of an image file: only a TIFF may have several. One that cannot be read has one."""
    if path.suffix.lower() not in _TIFF:
        return 1
    try:
        return len(_frames(path))
    except Exception:  # whatever Pillow raises on a damaged file: `read_image` reports it
        return 1


@kept_until_changed(256)
def _frames(path: Path) -> tuple[int, ...]:
    """List the images of a TIFF that are pages: reduced copies and masks (TIFF 6.0, NewSubfileType) are none."""
    from PIL import Image as Pillow

    found = []
    with Pillow.open(path) as opened:
        for place in range(getattr(opened, "n_frames", 1)):
            opened.seek(place)
            about = getattr(opened, "tag_v2", {})
            if not int(about.get(_NEW_SUBFILE, 0)) & _REDUCED_OR_MASK and about.get(_SUBFILE) != _REDUCED:
                found.append(place)
        return tuple(found) or tuple(range(getattr(opened, "n_frames", 1)))


def refuse(path: Path) -> None:
    """Raise a DataError as `read_image` does where the file's first bytes show that it is no image, or too large."""
    with _opened(path, 0):
        pass


def read_image(path: Path, index: int = 0) -> Image:
    """Read a page of an image file as (H, W, 3) RGB, upright as the camera was held.

    Grey becomes RGB, transparency white; 16 bits, of which a scanner may use 12, and fractions become 8 bits.

    Raises:
        DataError: the file is no image, is damaged, has more pixels than any page, or has no such page.
    """
    from PIL import ImageOps

    with _opened(path, index) as opened:
        opened.load()
        return _as_rgb(ImageOps.exif_transpose(opened), getattr(opened, "tag_v2", {}))


def image_of(content: bytes, what: str) -> Image:
    """Read an image from the content of its file, as `read_image` does; `what` names it in messages."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "image"
        path.write_bytes(content)
        try:
            return read_image(path)
        except DataError as error:
            raise DataError(f"{what} {str(error).removeprefix(f'{path}: ')}") from None


@contextmanager
def _opened(path: Path, index: int) -> Iterator[Any]:
    """Open a page of an image file; every fault, then or later, is a DataError."""
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Pillow.DecompressionBombWarning)  # we have a limit of our own
            with Pillow.open(path) as opened:
                if path.suffix.lower() in _TIFF:
                    opened.seek(([*_frames(path)][index:] or [-1])[0])
                elif index:
                    opened.seek(index)
                refuse_large(*opened.size, str(path))
                yield opened
    except Pillow.DecompressionBombError as error:  # Pillow refuses the largest by itself, and names their pixels
        many = "".join(f"{int(number):,} " for number in re.findall(r"\d+", str(error))[:1])
        raise DataError(f"{path}: {many}pixels are too many for a page (at most {PIXELS:,})") from None
    except EOFError:
        raise DataError(f"{path}: no page {index}: it has {counted(pages(path), 'page')}, counted from 0") from None
    except UnidentifiedImageError:
        raise DataError(f"{path}: cannot be read as an image: it is not one, or it is damaged") from None
    except DataError:
        raise
    except Exception as error:  # a damaged file may raise anything in Pillow: struct.error, KeyError, ...
        raise DataError(f"{path}: cannot be read as an image: {error}") from None


def _as_rgb(image: Any, tags: Mapping[int, Any]) -> Image:
    """Convert an image; `tags` are those of a TIFF."""
    from PIL import Image as Pillow

    if image.mode.startswith("I") or image.mode == "F":  # which Pillow would cut off, not scale
        values = np.nan_to_num(np.asarray(image, dtype=np.float64))
        bits = _tag(tags, _BITS)
        top = 2**bits - 1 if bits is not None and 8 < bits < 16 else _top(values, image.mode)
        grey = np.clip(values / top * 255, 0, 255).round().astype(np.uint8)
        grey = 255 - grey if _tag(tags, _PHOTOMETRIC) == _WHITE_IS_0 else grey
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.mode == "LAB":
        from PIL import ImageCms

        lab, rgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        image = ImageCms.profileToProfile(image, lab, rgb, outputMode="RGB")
    if "A" in image.getbands() or "transparency" in image.info:
        page = Pillow.new("RGBA", image.size, "white")
        page.alpha_composite(image.convert("RGBA"))
        image = page
    read = np.array(image.convert("RGB"))
    if _tag(tags, _BITS) == 16 and read.size and read.max() < 64:  # the upper half of 16 bits, of which 14 are used
        top = 2 ** max(int(read.max()).bit_length(), 1) - 1
        read = (read.astype(np.uint16) * 255 // top).astype(np.uint8)
    return np.asarray(read, dtype=np.uint8)


def _top(values: Any, mode: str) -> float:
    """Return the white of a page without colors: the largest value that as few bits can hold as hold its lightest."""
    lightest = float(values.max()) if values.size else 255.0
    if mode == "F" and lightest <= 1:
        return 1.0
    return float(next((2**bits - 1 for bits in (8, 10, 12, 14, 16, 24, 31) if lightest < 2**bits), max(lightest, 1.0)))


def _tag(tags: Mapping[int, Any], tag: int) -> int | None:
    """Return a number among the tags, of several the first."""
    value = tags.get(tag)
    value = value[0] if isinstance(value, tuple) and value else value
    return value if isinstance(value, int) else None


def scaled(image: Image, width: int) -> Image:
    """Make an image `width` pixels wide at most, by averaging."""
    from PIL import Image as Pillow

    if image.shape[1] <= width:
        return image.copy()
    height = max(1, round(image.shape[0] * width / image.shape[1]))
    return np.array(Pillow.fromarray(image).resize((width, height), Pillow.Resampling.BOX))


def bounded(image: Image, most: int) -> Any:
    """Return a page as a Pillow image of at most `most` pixels, each side at least 28: a vision model's patch."""
    from PIL import Image as Pillow

    page = Pillow.fromarray(image)
    factor = min(1.0, sqrt(most / (page.width * page.height)))
    size = (max(int(page.width * factor), 28), max(int(page.height * factor), 28))
    return page if size == page.size else page.resize(size, Pillow.Resampling.LANCZOS)


def write_image(path: Path, image: Image, *more: Image) -> None:
    """Write an image in the format of its suffix, without loss where the format allows; `more` are a TIFF's pages."""
    from PIL import Image as Pillow

    suffix, made = path.suffix.lower(), Pillow.fromarray(image)
    if suffix in _JPEG:
        made.save(path, "JPEG", quality=95, subsampling=0)
    elif suffix == ".webp":
        made.save(path, lossless=True)
    elif more:
        made.save(path, save_all=True, append_images=[Pillow.fromarray(page) for page in more])
    else:
        made.save(path)
