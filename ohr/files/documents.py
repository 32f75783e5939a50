"""A user's folder of texts as documents: JSON pages in OHRBench's layout, text and Markdown files."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.files import ohrbench_json
from ohr.files.below import files_below

TEXT_SUFFIXES = (".txt", ".md", ".mmd", ".markdown")
"""Endings of files of text or Markdown."""
SUFFIXES = (".json", *TEXT_SUFFIXES)
"""Endings of files with the text of a document."""

LEDGER, SUMMARY = "edits.jsonl", "noise.json"
"""Files at the top of a folder of noisy documents that are not documents: all edits, and a summary."""


def files(folder: Path) -> list[Path]:
    """List the files below a folder by their paths inside it, as `files_below` does."""
    return [path.relative_to(folder) for path in files_below(folder)]


def can_be(path: Path) -> bool:
    """Report by its path inside a folder whether a file can be a document of text."""
    return path.suffix.lower() in SUFFIXES and path != Path(SUMMARY)


def names(files: Sequence[Path]) -> dict[Path, str]:
    """Name the document of each file, by its path inside the folder.

    That is the path without suffix; files that would share a name (`a.txt`, `a.md`) keep theirs: each is a document.
    """
    shared = Counter(path.with_suffix("") for path in files)
    return {path: (path if shared[path.with_suffix("")] > 1 else path.with_suffix("")).as_posix() for path in files}


def is_structured(path: Path) -> bool:
    """Report whether a file holds pages; any other is one page."""
    return path.suffix.lower() == ".json"


def read(path: Path, document: str) -> list[Page]:
    """Read the pages of a file; one that is absent has none.

    Raises:
        DataError: it is not a list of pages, or a text that is not UTF-8.
    """
    if not path.is_file():
        return []
    return ohrbench_json.read_file(path, document) if is_structured(path) else [_read_text(path, document)]


def _read_text(path: Path, document: str) -> Page:
    """Read a text file as one page, without the byte order mark that some editors write first."""
    try:
        return Page(document, 0, path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text: {error.reason} at byte {error.start}") from None
