"""Finds a user's documents: PDF files, and folders of page images."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files import images, pdf
from ohr.files.below import files_below
from ohr.files.names import UNWRITABLE, is_writable, printable
from ohr.messages.wording import counted

DOMAIN = "documents"
"""Domain of files in the root itself."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a document's page images.

    Args:
        name: `<domain>/<document>`, from the path below the root.
        files: one PDF, or image files in the order of their pages.
        frames: how many pages each file has.
    """

    name: str
    files: tuple[Path, ...]
    frames: tuple[int, ...]

    @property
    def pages(self) -> int:
        """How many pages the document has."""
        return sum(self.frames)

    @property
    def is_pdf(self) -> bool:
        """Whether it is a PDF file."""
        return self.files[0].suffix.lower() == ".pdf"

    def image(self, index: int, dpi: int) -> Image:
        """Render or read one page.

        Raises:
            DataError: there is no such page, or its file is damaged.
        """
        if not 0 <= index < self.pages:
            raise DataError(f"{self.name}: no page {index}: it has {counted(self.pages, 'page')}")
        if self.is_pdf:
            return pdf.render(self.files[0], index, dpi)
        for file, count in zip(self.files, self.frames, strict=True):
            if index < count:
                return images.read_image(file, index)
            index -= count
        raise AssertionError("unreachable: the frames sum to the pages")

    def unreadable(self, dpi: int) -> Iterator[str]:
        """Report pages of a PDF that will fail, and each image file whose first bytes show that it will."""
        for file in self.files:
            try:
                if self.is_pdf:
                    yield from pdf.faults(file, dpi)
                else:
                    images.refuse(file)
            except DataError as error:
                yield str(error)


@dataclass(frozen=True, slots=True)
class Found:
    """The documents under a folder by name, in order.

    Args:
        broken: why files could not be used, by document's name.
        others: files that are no PDF and no image.
    """

    sources: Mapping[str, Source]
    broken: Mapping[str, str]
    others: tuple[Path, ...] = ()


def find(root: Path) -> Found:
    """Find every document below `root`, by name; a folder that changed is searched again.

    A PDF is a document. So is a folder below the root that holds images, its pages in natural order of their names
    (`2.png` before `10.png`); an image in the root itself is a document alone. A TIFF file may have several pages.
    Hidden files and folders are skipped; files whose names cannot be written to results are broken.

    Raises:
        DataError: there is no such folder, it holds no document, or two documents have one name.
    """
    files = [(path, path.stat()) for path in files_below(root)]
    signature = tuple((str(path), about.st_size, about.st_mtime_ns) for path, about in files)
    found = _LATEST[root] = _find(root, signature)
    return found


def source(root: Path, name: str) -> Source:
    """Return a document's source as `find` last found it, without a look at every file of the folder."""
    found = _LATEST.get(root) or find(root)
    return found.sources[name]


_LATEST: dict[Path, Found] = {}


@lru_cache(maxsize=4)
def _find(root: Path, signature: object) -> Found:  # noqa: ARG001 # a cache key
    if not root.is_dir():
        raise DataError(f"{root}: no such folder")
    sources: dict[str, Source] = {}
    broken: dict[str, str] = {}
    for name, files in _groups(root):
        if name in sources or name in broken:
            raise DataError(f"{root}: two documents are named {printable(name)!r}: rename one of the files")
        try:
            if bad := [file for file in files if not is_writable(str(file.relative_to(root)))]:
                raise DataError(f"{printable(str(bad[0]))}: its {UNWRITABLE}: rename it")
            sources[name] = Source(name, files, tuple(map(_pages, files)))
        except DataError as error:
            broken[printable(name)] = str(error)
    if not sources:
        reasons = "".join(f"\n  {reason}" for reason in list(broken.values())[:5])
        texts = sum(path.suffix.lower() in (".txt", ".md") for path in files_below(root))
        other = (
            f"; {counted(texts, 'text file')}: a corpus of texts is `kind: beir`, docs/tutorials/your-corpus.md"
            if texts
            else ""
        )
        raise DataError(f"{root}: holds no readable PDF and no page images{other}{reasons}")
    others = tuple(path for path in files_below(root) if path.suffix.lower() not in (".pdf", *images.SUFFIXES))
    return Found({name: sources[name] for name in sorted(sources, key=_natural)}, broken, others)


def _groups(root: Path) -> Iterator[tuple[str, tuple[Path, ...]]]:
    pictures: dict[Path, list[Path]] = {}
    for path in files_below(root):
        inside = path.relative_to(root)
        if path.suffix.lower() == ".pdf" or (path.suffix.lower() in images.SUFFIXES and path.parent == root):
            yield _name(inside.with_suffix("")), (path,)
        elif path.suffix.lower() in images.SUFFIXES:
            pictures.setdefault(path.parent, []).append(path)
    for folder, files in pictures.items():
        yield _name(folder.relative_to(root)), tuple(sorted(files, key=lambda file: _natural(file.name)))


def _name(path: Path) -> str:
    """Name a document by its path; the first folder is its domain."""
    return path.as_posix() if len(path.parts) > 1 else f"{DOMAIN}/{path.as_posix()}"


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _pages(path: Path) -> int:
    return pdf.page_count(path) if path.suffix.lower() == ".pdf" else images.pages(path)
