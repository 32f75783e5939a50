"""The files of a folder that hold results, what they hold, and which of them belong to a document."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from ohr.contracts import OcrFormat, Word
from ohr.files.below import folders_in
from ohr.files.json_input import lines, parse_json
from ohr.files.names import composed, is_writable, printable

from .values import Pages, Unreadable

Item = TypeVar("Item")


def ending_of(format: OcrFormat, name: str) -> tuple[int, str] | None:
    """Return which of a format's endings a file has, and its name without it; None for any other file."""
    if name.endswith(format.ignored):
        return None
    for ending in sorted(format.endings, key=len, reverse=True):
        if name == ending.lstrip("_"):
            return format.endings.index(ending), ""
        if name.endswith(ending):
            return format.endings.index(ending), name[: -len(ending)]
    return None


def shortest_endings(format: OcrFormat) -> list[str]:
    """List how the names of a format's files end, the shortest of several."""
    return [
        ending
        for ending in format.endings
        if not any(ending != other and ending.endswith(other) for other in format.endings)
    ]


class Content(NamedTuple):
    """The pages of a file, its words that have a confidence, by page, and why these cannot be read, if so."""

    pages: Pages
    words: Mapping[int, tuple[Word, ...]]
    fault: str = ""


def content_of(
    format: OcrFormat, ending: str, content: bytes, line: int | None = None, *, with_words: bool = True
) -> Content:
    """Read a file's content, or one line of it.

    Raises:
        Unreadable: it is not as the system writes it.
    """
    is_text = ending.endswith(".jsonl") and not format.lists_documents
    own = content if line is None else content.split(b"\n")[line - 1]
    value = parsed(own, "" if is_text else ending)
    pages = _by_page(format.pages, value)
    if not pages and ending not in format.omits_blank:
        raise Unreadable("without pages")
    try:
        return Content(pages, _by_page(format.words, value) if with_words else {})
    except Unreadable as error:
        return Content(pages, {}, str(error))


def _by_page(method: Callable[[Any], Mapping[int, Sequence[Item]]], value: Any) -> dict[int, tuple[Item, ...]]:
    try:
        return {number: tuple(items) for number, items in method(value).items()}
    except ValueError as error:
        raise Unreadable(str(error)) from None
    except Exception as error:  # what no reader foresaw: a file may hold anything
        raise Unreadable(f"not as expected ({type(error).__name__}: {error})") from None


def parsed(content: bytes, ending: str) -> Any:
    """Return what a reader gets of a file with an ending, or say what is there in its place."""
    if not is_json(ending):
        from .xml_input import decoded  # loads a parser

        return decoded(content).replace("\r\n", "\n")
    try:
        found = parse_json(content)
    except ValueError as error:
        if content.lstrip()[:1] == b"<":
            raise Unreadable("HTML or XML in place of JSON") from None
        raise Unreadable("empty" if not content.strip() else f"not readable as JSON ({error})") from None
    if isinstance(found, str):  # which a reader would take for the text of a file
        raise Unreadable("not as expected: only a text in JSON")
    return found


def is_json(ending: str) -> bool:
    """Report whether files with an ending hold JSON, or JSON on each line."""
    return ending.endswith((".json", ".jsonl"))


def sources(format: OcrFormat, content: bytes) -> Iterator[tuple[int, PurePosixPath | None]]:
    """List the lines of a file with one document a line, each with its document's path; None for a broken line."""
    for number, line in lines(content.decode("utf-8", "replace")):
        try:
            source = format.document_of(parsed(line.encode(), ".jsonl"))
            yield number, PurePosixPath(source.rpartition("://")[2])
        except Exception:  # a line may hold anything
            yield number, None


Name = tuple[str, ...]
"""Folders and name of a result, without its ending, in one Unicode form."""

_LOOKED_AT = 8
"""Numbered files, spread over a document, that are looked at to see whether each is a document of its own."""
_NUMBERED = re.compile(r"(?P<stem>.*?)[ ._-]*(?:(?<![A-Za-z])p(?:age)?)?[ ._-]*(?P<number>(?<!\d)\d{1,6})")


_TASK = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DOWNLOADED = ("full.md", "layout.json")
"""Files of MinerU's website and API; others in their folder are named after the task, not the document."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A file with a result, or a line of one.

    Args:
        rank: place of its ending among those of the format; the lowest is preferred.
        number: of the page that it holds, as its name has it; None for a whole document.
    """

    path: Path
    format: OcrFormat
    rank: int
    number: int | None = None
    line: int | None = None

    def __str__(self) -> str:
        return printable(self.path.name) + (f" line {self.line}" if self.line else "")

    @property
    def ending(self) -> str:
        """How the names of such files end."""
        return self.format.endings[self.rank]

    @property
    def has_numbers(self) -> bool:
        """Report whether it says inside which pages of its document it holds."""
        return self.format.numbers_pages and is_json(self.ending)

    def pages(self) -> Pages:
        """Read its pages; raises as `read`."""
        return self.read(with_words=False).pages

    def read(self, *, with_words: bool = True) -> Content:
        """Read it.

        Raises:
            Unreadable: it cannot be read, or is not as the system writes it.
        """
        try:
            return content_of(self.format, self.ending, self.path.read_bytes(), self.line, with_words=with_words)
        except OSError as error:
            raise Unreadable(f"not readable ({error.strerror})") from None
        except MemoryError:
            raise Unreadable("too large for this machine's memory") from None


class Ambiguous(Exception):
    """Several results could be a document's."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(f"several files could be its result: {', '.join(sorted(map(printable, names))[:3])}")


@dataclass
class Index:
    """The results in a folder.

    Args:
        whole: results of whole documents, by name.
        paged: results of single pages, by their document's name; each is among `whole`, too.
        unnamed: lines that name no document.
        unwritable: names that cannot be written to results.
        stamps: times of change of what was looked at.
    """

    whole: dict[Name, list[Piece]] = field(default_factory=lambda: defaultdict(list))
    paged: dict[Name, list[Piece]] = field(default_factory=lambda: defaultdict(list))
    unnamed: list[str] = field(default_factory=list)
    unwritable: list[str] = field(default_factory=list)
    stamps: dict[str, int] = field(default_factory=dict)

    def is_fresh(self) -> bool:
        """Report whether nothing was added or removed since."""
        return all(stamp(path) == stamped for path, stamped in self.stamps.items())

    @cached_property
    def _by_part(self) -> Mapping[str, set[Name]]:
        found = defaultdict(set)
        for name in (*self.whole, *self.paged):
            for part in name:
                found[part].add(name)
        return found

    def pieces(self, document: str) -> list[Piece]:
        """Return the results of a document; none where there are none.

        Raises:
            Ambiguous: several fit equally well.
        """
        wanted = tuple(composed(document).split("/"))
        # a folder of the document's domain is the only place to look at: another one may have the same name
        in_domain = any(name[0] == wanted[0] for name in self._by_part.get(wanted[0], ()) if name[1:])
        near = [name for name in self._by_part.get(wanted[-1], ()) if name[0] == wanted[0] or not in_domain]
        for fits in _FITS:
            for found in (self.whole, self.paged):
                names = [name for name in near if name in found and fits(name, wanted)]
                if len(names) > 1:
                    raise Ambiguous(str(_chosen(found[name])[0].path) for name in names)
                if names:
                    return _chosen(found[names[0]])
        return []

    def documents(self) -> dict[str, list[Piece]]:
        """Return the documents that the folder seems to hold, by name."""
        found: dict[str, list[Piece]] = {}
        for name, pieces in self._apart():
            found.setdefault("/".join(name[: name.index(name[-1]) + 1]), []).extend(pieces)
        return dict(sorted(found.items()))

    def only(self, name: str) -> list[Piece]:
        """Return the result of the one document that was read, which a system may name as it likes."""
        found = list(self._apart(by_name=True))
        return _chosen(found[0][1]) if len(found) == 1 else self.pieces(name)

    def _apart(self, *, by_name: bool = False) -> Iterator[tuple[Name, list[Piece]]]:
        """List results, pages of a document together: their numbers have no gap, and start at 0 or 1.

        Args:
            by_name: whether the numbers in names count alone, and not those that the files have inside.
        """
        pages = {name: found for name, found in self.paged.items() if _are_pages(found)}
        pages = {name: found for name, found in pages.items() if by_name or not _are_documents(found)}
        held = {piece.path for found in pages.values() for piece in found}
        whole = {name: [piece for piece in found if piece.path not in held] for name, found in self.whole.items()}
        yield from ((name, found) for each in (whole, pages) for name, found in each.items() if found)


def index_of(root: Path, format: OcrFormat) -> Index:
    """Return the results in a folder; the last few are kept until a folder changes."""
    place = root.resolve(), format
    if (held := _held.get(place)) and held.is_fresh():
        return held
    while len(_held) >= _MOST:
        del _held[next(iter(_held))]
    _held[place] = made = look(place[0], format)
    return made


_held: dict[tuple[Path, OcrFormat], Index] = {}
_MOST = 4


def look(root: Path, format: OcrFormat) -> Index:
    """Look for results in a folder."""
    index = Index()
    for folder, files in folders_in(root, index.stamps):
        is_download = any(file in _DOWNLOADED for file in files)
        for file in files:
            if ending := ending_of(format, file):
                path = folder / file
                parts = path.relative_to(root).parts[:-1]
                if not is_writable("/".join((*parts, file))):
                    index.unwritable.append(printable("/".join((root.name, *parts, file))))
                    continue
                _add(
                    index,
                    Piece(path, format, ending[0]),
                    tuple(map(composed, parts)),
                    "" if is_download and _TASK.fullmatch(ending[1]) else composed(ending[1]),
                    composed(root.name),
                )
    return index


def _add(index: Index, piece: Piece, folders: Name, stem: str, home: str) -> None:
    """Add a file; one that has no name of its own is named after its folder, `home` where that is the searched one."""
    if piece.ending.endswith(".jsonl") and piece.format.lists_documents:
        index.stamps[str(piece.path)] = piece.path.stat().st_mtime_ns
        for line, source in sources(piece.format, piece.path.read_bytes()):
            found = replace(piece, line=line)
            if source is None:
                index.unnamed.append(str(found))
            else:
                parts = (composed(part) for part in (*source.parts[:-1], source.stem))
                index.whole[tuple(part for part in parts if part not in ("/", "..")) or (home,)].append(found)
        return
    index.whole[(*folders, stem) if stem else folders or (home,)].append(piece)
    if numbered := _NUMBERED.fullmatch(stem):
        own = (*folders, numbered["stem"]) if numbered["stem"] else folders or (home,)
        index.paged[own].append(replace(piece, number=int(numbered["number"])))


def _chosen(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of the preferred kind; each page, and a whole document, may be there once."""
    best = min(piece.rank for piece in pieces)
    found = sorted((piece for piece in pieces if piece.rank == best), key=lambda piece: piece.number or 0)
    if len({piece.number for piece in found}) < len(found):
        raise Ambiguous({str(piece) for piece in found})
    return found


def _are_pages(pieces: Sequence[Piece]) -> bool:
    numbers = {piece.number for piece in pieces}
    return len(numbers) > 1 and numbers in (set(range(len(numbers))), set(range(1, len(numbers) + 1)))


def _are_documents(pieces: Sequence[Piece]) -> bool:
    """Report whether numbered files are documents: two hold a page of the same number, or most hold several pages."""
    seen, several = set[int](), 0
    sample = pieces if pieces[0].has_numbers else pieces[:: max(len(pieces) // _LOOKED_AT, 1)]
    for piece in sample:
        try:
            numbers = set(piece.pages())
        except Unreadable:
            continue
        several += len(numbers) > 1 and not piece.has_numbers
        if (piece.has_numbers and numbers & seen) or 2 * several > len(sample):
            return True
        seen |= numbers
    return False


def stamp(path: str) -> int:
    """Return when a file or folder was changed, 0 where it is gone."""
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 # thousands of them, for each document
    except OSError:
        return 0


def _holds(name: Name, wanted: Name) -> bool:
    return any(name[start : start + len(wanted)] == wanted for start in range(len(name) - len(wanted) + 1))


_FITS: tuple[Callable[[Name, Name], bool], ...] = (
    lambda name, wanted: name == wanted,
    # MinerU's <document>/<method>/<document>, Marker's <document>/<document>
    lambda name, wanted: name[: len(wanted)] == wanted and name[-1] == wanted[-1],
    lambda name, wanted: name[-len(wanted) :] == wanted,
    lambda name, wanted: _holds(name, wanted) and name[-1] == wanted[-1],
    lambda name, wanted: name[-1] == wanted[-1],
    _holds,
    lambda name, wanted: wanted[-1] in name,
)
"""Ways in which a result's name can be a document's, the surest first; all need the last part of that."""
