"""A folder of results: which files belong to which document, and their pages."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath

from ohr.files.documents import files
from ohr.files.names import composed

from .catalog import FORMATS, Format, read_file
from .values import FormatError, Pages

_PAGE_FILE = re.compile(r"(.+?)_(\d+)")
"""The stem of a file of one page: the document and the page."""


@dataclass(frozen=True, slots=True)
class Found:
    """A document's results.

    Args:
        error: why there are none.
        files: relative to the folder.
    """

    pages: Pages = field(default_factory=dict)
    error: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class ResultsFolder:
    """A folder with the results of a system, in one of its formats."""

    root: Path
    format: str

    def documents(self) -> list[str]:
        """Name the documents that the files are about: by their path, without what the format adds."""
        form = FORMATS[self.format]
        if self.format == "olmocr":
            return sorted({source for path in self._files() for source in _sources(self.root / path)})
        names = {_document(path, form) for path in self._files()}
        return sorted(name for name in names if name)

    def read(self, document: str) -> Found:
        """Read a document's results, by its name `domain/document`."""
        paths, pages = self._of(document), Pages()
        if isinstance(paths, str):
            return Found(error=paths)
        shown = tuple(path.as_posix() for path in paths)
        for path in paths:
            try:
                pages |= self._pages(path, document)
            except FormatError as error:
                return Found(error=f"{path.as_posix()}: {error}", files=shown)
        return Found(pages, None if paths else "not among the results", shown)

    def _pages(self, path: Path, document: str) -> Pages:
        found = read_file(self.root / path, self.format)
        if self.format == "olmocr":
            return found[composed(PurePath(document).name)]
        pages = found[""]
        number = _PAGE_FILE.fullmatch(_stem(path, FORMATS[self.format]))
        if FORMATS[self.format].several and list(pages) == [0] and number:
            return {int(number[2]): pages[0]}  # a result of an image does not know its page
        return pages

    def _files(self) -> Sequence[PurePath]:
        return _listed(self.root, self.format)

    def _of(self, document: str) -> list[Path] | str:
        """Return the files of a document, or why it is not clear which they are."""
        form, last = FORMATS[self.format], composed(PurePath(document).name)
        if self.format == "olmocr":
            return [Path(p) for p in self._files() if last in _sources(self.root / p)][:1]
        fitting = [path for path in self._files() if _fits(path, last, form)]
        domain = composed(document).rpartition("/")[0]
        inside = [path for path in fitting if domain in map(composed, path.parts[:-1])]
        ranked = sorted((_rank(path, form), path) for path in inside or fitting)
        best = [Path(path) for rank, path in ranked if rank == ranked[0][0]]
        if len(best) > 1 and not form.several:
            return f"several files may be its results: {', '.join(path.as_posix() for path in best[:3])}"
        return best


@lru_cache(maxsize=8)
def _listed(root: Path, name: str) -> tuple[PurePath, ...]:
    form = FORMATS[name]
    return tuple(path for path in files(root) if path.name in form.names or path.name.endswith(form.endings))


@lru_cache(maxsize=64)
def _sources(path: Path) -> frozenset[str]:
    try:
        return frozenset(map(composed, read_file(path, "olmocr")))
    except FormatError:
        return frozenset()


def _rank(path: PurePath, form: Format) -> int:
    """Rank a file by its ending: the first of the format tells most."""
    if path.name in form.names:
        return form.names.index(path.name)
    return next(place for place, ending in enumerate(form.endings) if path.name.endswith(ending))


def _stem(path: PurePath, form: Format) -> str:
    ending = next((ending for ending in form.endings if path.name.endswith(ending)), "")
    return path.name.removesuffix(ending)


def _fits(path: PurePath, last: str, form: Format) -> bool:
    return composed(last) in _candidates(path, form)


def _candidates(path: PurePath, form: Format) -> Iterator[str]:
    """List the names of documents that a file may be about."""
    if path.name not in form.names:
        stem = composed(_stem(path, form))
        yield stem
        if form.several and (number := _PAGE_FILE.fullmatch(stem)):
            yield number[1]
    if path.name in form.names or form.several:
        yield from map(composed, reversed(path.parts[:-1]))


def _document(path: PurePath, form: Format) -> str:
    """Name a document by the path of its file: its folders, except those that only repeat its name."""
    if path.name in form.names:
        return "/".join(path.parts[:-1])
    stem = _stem(path, form)
    if form.several and (number := _PAGE_FILE.fullmatch(stem)):
        stem = number[1]
    parts = list(path.parts[:-1])
    if stem in parts:  # <document>/auto/<document>_content_list.json
        parts = parts[: parts.index(stem)]
    return "/".join([*parts, stem])
