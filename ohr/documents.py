"""A folder of one's own texts as documents: JSON pages in OHRBench's layout, text and Markdown files."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ohr import layout
from ohr.contracts import Page
from ohr.errors import DataError

SUFFIXES = (".json", ".txt", ".md", ".mmd", ".markdown")


def names(files: Sequence[Path]) -> dict[Path, str]:
    """Name the document of each file, by its path inside the folder.

    That is the path without suffix; files that would so share a name (`a.txt`, `a.md`) keep it: each is a document.
    """
    shared = Counter(path.with_suffix("") for path in files)
    return {path: (path if shared[path.with_suffix("")] > 1 else path.with_suffix("")).as_posix() for path in files}


def is_structured(path: Path) -> bool:
    """Tell whether a file holds pages; any other is one page."""
    return path.suffix.lower() == ".json"


def read(path: Path, document: str) -> list[Page]:
    """Read the pages of a file; one that is absent has none.

    Raises:
        DataError: it is neither a list of pages nor, if it is a text, UTF-8.
    """
    if not path.is_file():
        return []
    pages = layout.read_pages(path.parent, path.stem) if is_structured(path) else [_read_text(path)]
    return [Page(document, page.index, page.text, page.error) for page in pages]


def _read_text(path: Path) -> Page:
    """Read a text file as one page, without the mark of byte order that some editors begin it with."""
    try:
        return Page(path.stem, 0, path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text: {error.reason} at byte {error.start}") from None
