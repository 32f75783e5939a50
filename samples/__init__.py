"""Scripts that build the samples that ohr ships from their sources; see README.md. No part of the installed package."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from ohr.errors import DataError

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
"""The folder in which each benchmark has its `source/`, and the `sample/` or `data/` that is built from it."""

NOTO = Path("/usr/share/fonts/opentype/noto")
"""Folder of the Chinese fonts of Debian's fonts-noto-cjk, which no package of pip has."""


def folder_to_write(description: str | None, arguments: Sequence[str], default: Path) -> Path:
    """Read a script's arguments: `--into FOLDER` in the place of the folder that is shipped."""
    parser = ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--into", type=Path, default=default, help="folder to write; the one that ohr ships")
    into: Path = parser.parse_args(arguments).into
    return into


def put(path: Path, content: str | bytes) -> None:
    """Write a file, and its folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def as_json(value: object) -> str:
    """Write a value as a JSON file."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def as_lines(records: Iterable[object]) -> str:
    """Write records as JSON Lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_yaml(path: Path) -> Any:
    """Read a YAML file."""
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def typeset(source: Path | bytes, root: Path, fonts: Sequence[str | Path], **options: Any) -> bytes:
    """Typeset a document, as a PDF or a picture of its only page; the same fonts give the same bytes everywhere.

    Args:
        source: a file of typst, or its text.
        root: folder that the source may read from.
        fonts: packages of pip, and folders; a folder that is absent is left out.
        options: of `typst.compile`.

    Raises:
        DataError: a package is not installed, or the document has more pages than a picture can show.
    """
    import typst

    folders = [_font_folder(font) if isinstance(font, str) else font for font in fonts]
    made: Any = typst.compile(
        source if isinstance(source, bytes) else str(source),
        root=str(root),
        font_paths=typst.Fonts(
            include_system_fonts=False, font_paths=[str(folder) for folder in folders if folder.is_dir()]
        ),
        timestamp=0,
        **options,
    )
    if not isinstance(made, bytes):
        raise DataError(f"the document needs {len(made)} pages, and must fit on one")
    return made


def _font_folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise DataError(f"{package}: not installed; `pip install ohr[mini]` has the fonts")
    return Path(spec.origin).parent / ("mpl-data/fonts/ttf" if package == "matplotlib" else "files")


def texts_of_pages(pdf: bytes) -> list[str]:
    """Read the text layer of each page."""
    import pypdfium2

    with pypdfium2.PdfDocument(pdf) as opened:
        return [page.get_textpage().get_text_range() for page in opened]


def small_png(picture: Any, colors: int, **options: Any) -> bytes:
    """Write a picture of Pillow as a PNG with a palette, which keeps its file small."""
    content = BytesIO()
    picture.quantize(colors, dither=0).save(content, "PNG", optimize=True, **options)
    return content.getvalue()
