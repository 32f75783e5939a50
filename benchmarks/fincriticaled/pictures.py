"""Page images of the table: a cell is a path, or the image itself in base64."""

import base64
import binascii
from hashlib import sha256
from pathlib import Path

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files.digests import input_digest
from ohr.files.images import image_of, read_image
from ohr.files.names import is_file
from ohr.messages.wording import quoted

COLUMNS = ("image_path", "image", "data.image")
"""Columns that may have the image; the first one of the table is used."""

_BASE64 = ("data:", "iVBORw0KGgo", "/9j/", "R0lGOD", "SUkq", "TU0AK", "UklGR")
"""How a data URI starts, and PNG, JPEG, GIF, TIFF and WebP in base64."""


def is_there(table: Path, cell: str) -> bool:
    """Report whether a cell of a table holds an image, or names a file that exists."""
    return cell.startswith(_BASE64) or is_file(_path(table, cell))


def digest(table: Path, cell: str) -> str | None:
    """Hash the image of a cell; None where its file is missing."""
    if cell.startswith(_BASE64):
        return sha256(cell.encode()).hexdigest()
    return input_digest(_path(table, cell)) if is_there(table, cell) else None


def read(table: Path, cell: str, where: str) -> Image:
    """Read the image of a cell, (H, W, 3) RGB.

    Args:
        where: the file and line of the cell, for messages.

    Raises:
        DataError: the file is missing, or the image is damaged.
    """
    if cell.startswith(_BASE64):
        return _decoded(cell, where)
    if not is_there(table, cell):
        raise DataError(f"{where}: no such image file (got {quoted(cell)})")
    return read_image(_path(table, cell))


def _path(table: Path, cell: str) -> Path:
    """Return the path of an image: relative to the table's folder if it is there, else to the one above."""
    beside = table.parent / cell
    return beside if is_file(beside) else table.parent.parent / cell


def _decoded(cell: str, where: str) -> Image:
    """Decode an image in base64, with or without the beginning of a data URI."""
    try:
        content = base64.b64decode("".join(cell.partition(",")[2].split() or cell.split()), validate=True)
    except binascii.Error as error:
        raise DataError(f"{where}: the image is damaged base64: {error}") from None
    return image_of(content, f"{where}: the image")
