"""Page images from image files, and back."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.messages.wording import counted

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
PIXELS = 120_000_000
"""No page has more: A3 at 600 dpi has 70 million. Noise and OCR take some ten times the memory of the image."""


def refuse_large(width: int, height: int, what: str) -> None:
    """Raise a DataError for an image that is larger than any page, before memory is taken for it."""
    if width * height > PIXELS:
        raise DataError(f"{what}: {width} x {height} pixels are too many for a page (at most {PIXELS:,})")


def pages(path: Path) -> int:
    """Count the pages of an image file: only a TIFF may have several. One that cannot be read has one."""
    from PIL import Image as Pillow

    if path.suffix.lower() not in (".tif", ".tiff"):
        return 1
    try:
        with Pillow.open(path) as opened:
            return int(getattr(opened, "n_frames", 1))
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError):
        return 1


def refuse(path: Path) -> None:
    """Raise a DataError as `read_image` does where the file's first bytes show that it is no image, or too large."""
    with _opened(path, 0):
        pass


def read_image(path: Path, index: int = 0) -> Image:
    """Read a page of an image file as (H, W, 3) RGB, upright as the camera was held.

    Grey becomes RGB, transparency white, 16 bits 8.

    Raises:
        DataError: the file is no image, is damaged, has more pixels than any page, or has no such page.
    """
    from PIL import ImageOps

    with _opened(path, index) as opened:
        opened.load()
        return _as_rgb(ImageOps.exif_transpose(opened))


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
                if index:
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
    except (OSError, SyntaxError, ValueError) as error:  # what Pillow raises on damaged files
        raise DataError(f"{path}: cannot be read as an image: {error}") from None


def _as_rgb(image: Any) -> Image:
    from PIL import Image as Pillow

    if image.mode.startswith("I") or image.mode == "F":  # 16 bits, which Pillow would cut off, not scale
        values = np.asarray(image, dtype=np.float64)
        top = 65535.0 if values.size and values.max() > 255 else 255.0
        grey = np.clip(values / top * 255, 0, 255).round().astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if "A" in image.getbands() or "transparency" in image.info:
        page = Pillow.new("RGBA", image.size, "white")
        page.alpha_composite(image.convert("RGBA"))
        image = page
    return np.array(image.convert("RGB"))


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
    if suffix in (".jpg", ".jpeg"):
        made.save(path, quality=95, subsampling=0)
    elif suffix == ".webp":
        made.save(path, lossless=True)
    elif more:
        made.save(path, save_all=True, append_images=[Pillow.fromarray(page) for page in more])
    else:
        made.save(path)
