"""The pages of a document, from the files that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ohr.contracts import Block

from .find import Ambiguous, Index, Piece
from .values import Pages, Unreadable


@dataclass(frozen=True, slots=True)
class Result:
    """The pages of a document.

    Args:
        errors: reasons of pages that could not be read.
        error: the reason why nothing could be read.
        files: the files that it is made of.
        lists_blank: whether pages without text are listed.
    """

    pages: Pages = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    error: str | None = None
    files: tuple[str, ...] = ()
    lists_blank: bool = True


def result_of(index: Index, document: str, pages: int) -> Result | None:
    """Read a document's result in a folder; None where there is none.

    Args:
        pages: the number of the document's pages, which shows whether numbers in files' names start at 0 or at 1.
    """
    try:
        pieces = index.pieces(document)
    except Ambiguous as error:
        return Result(error=str(error))
    return read(pieces, pages) if pieces else None


def read(pieces: Sequence[Piece], pages: int | None = None) -> Result:
    """Read the files of one document; one that is broken costs its own pages."""
    files = tuple(str(piece) for piece in pieces)
    if pieces[0].number is None:
        try:
            return Result(_content(pieces[0]), files=files, lists_blank=pieces[0].kind.lists_blank)
        except Unreadable as error:
            return Result(error=f"its result is {error}", files=files)
    numbers = [piece.number or 0 for piece in pieces]
    first = int(min(numbers) > 0 and max(numbers) == (pages or len(pieces)))
    found = Result(files=files)
    for number, piece in zip(numbers, pieces, strict=True):
        try:
            found.pages[number - first] = _one_page(piece)
        except Unreadable as error:
            found.errors[number - first] = f"its result is {error}"
    return found


def _content(piece: Piece) -> Pages:
    try:
        content = piece.path.read_bytes()
    except OSError as error:
        raise Unreadable(f"not readable ({error.strerror})") from None
    return piece.kind.pages(content, piece.line)


def _one_page(piece: Piece) -> tuple[Block, ...]:
    found = _content(piece)
    if len(found) > 1:
        raise Unreadable(f"of {len(found)} pages, although its name has a page's number")
    return next(iter(found.values()), ())
