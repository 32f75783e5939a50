"""The results in a folder: the pages of documents, what is wrong with them, and what a program has just written."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from ohr.contracts import ABSENT, Block, Document, OcrFormat, Page, Recognition
from ohr.files.names import UNWRITABLE
from ohr.markup.artifacts import WORDS, artifacts
from ohr.markup.page import Markup, page_text
from ohr.messages.faults import Fault
from ohr.messages.wording import counted, named

from .find import Ambiguous, Index, Piece, index_of, look, pages_in, shortest_endings
from .markdown import Markdown
from .values import Pages, Unreadable

_LONGEST_PAGE = 20_000
"""Characters: the longest of 3,590 pages of OHRBench's ground truth has 7,647, MinerU's longest of them 10,756."""
SCORED_0 = "so that all questions on it score 0 there"


@dataclass(frozen=True, slots=True)
class Result:
    """The pages of a document.

    Args:
        errors: reasons of pages that could not be read.
        error: the reason why nothing could be read.
        lists_blank: whether pages without text are listed.
    """

    pages: Pages = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    error: str | None = None
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
    if pieces[0].number is None:
        try:
            return Result(pieces[0].pages(), lists_blank=pieces[0].ending not in pieces[0].format.omits_blank)
        except Unreadable as error:
            return Result(error=f"its result is {error}")
    numbers = [piece.number or 0 for piece in pieces]
    first = int(min(numbers) > 0 and max(numbers) == (pages or len(pieces)))
    result = Result()
    for number, piece in zip(numbers, pieces, strict=True):
        try:
            result.pages[number - first] = _one_page(piece)
        except Unreadable as error:
            result.errors[number - first] = f"its result is {error}"
    return result


def _one_page(piece: Piece) -> tuple[Block, ...]:
    pages = piece.pages()
    if len(pages) > 1:
        raise Unreadable(f"of {len(pages)} pages, although its name has a page's number")
    return next(iter(pages.values()), ())


def pages_of(root: Path, format: OcrFormat, document: Document, markup: Markup) -> list[Page]:
    """Read a document's pages; each page without a result carries an error."""
    result = result_of(index_of(root, format), document.name, document.pages) or Result(error=ABSENT)
    return [_page(document.name, index, result, markup) for index in range(document.pages)]


def _page(document: str, index: int, result: Result, markup: Markup) -> Page:
    if index in result.pages:
        return Page(document, index, page_text(result.pages[index], markup))
    return Page(document, index, "", result.errors.get(index) or result.error or ABSENT)


def documents_in(root: Path, format: OcrFormat) -> list[Document]:
    """List the documents that a folder holds, with as many pages as their results have.

    A document that is in no folder of its own gets the folder's name as its domain.
    """
    documents, index = [], index_of(root, format)
    for short, pieces in index.documents().items():
        name = short if "/" in short else f"{root.resolve().name}/{short}"
        result = result_of(index, name, len(pieces)) or Result()
        last = max((*result.pages, *result.errors), default=0)
        documents.append(Document(name, name.partition("/")[0], "en", last + 1))
    return documents


def faults_of(root: Path, format: OcrFormat, documents: Sequence[Document], markup: Markup) -> Iterator[Fault]:
    """List what a folder lacks, and what is wrong with its files and texts."""
    base, index = root.resolve().name, index_of(root, format)
    yield from (Fault("file", f"whose {UNWRITABLE}, left out", name) for name in index.unwritable)
    yield from (Fault("line", "that names no document, left out", f"{base}/{name}") for name in index.unnamed)
    readers = defaultdict(list)
    for document in documents:
        result = result_of(index, document.name, document.pages)
        yield from _faults(document, result, base)
        pages = [_page(document.name, index, result, markup) for index in sorted(result.pages)] if result else []
        yield from text_faults(pages, base)
        for piece in _pieces(index, root.resolve(), document.name):
            readers[piece].append(document.name)
    for piece, names in readers.items():
        if len(names) > 1:
            yield Fault("file", f"of {base} taken for several documents", f"{piece} for {' and '.join(names)}")


def _pieces(index: Index, root: Path, name: str) -> list[str]:
    try:
        return [str(piece.path.relative_to(root)) for piece in index.pieces(name)]
    except Ambiguous:
        return []


def _faults(document: Document, result: Result | None, base: str) -> Iterator[Fault]:
    if result is None:
        yield Fault("document", f"missing from {base}, {SCORED_0}", document.name)
        return
    if result.error is not None:
        yield Fault("document", f"of {base} without pages: {result.error}", document.name)
        return
    for index, reason in sorted(result.errors.items()):
        yield Fault("page", f"of {base} without text: {reason}", f"{document.name} page {index + 1}")
    yield from page_faults(document, {*result.pages, *result.errors}, base)
    if 0 < (last := max((*result.pages, *result.errors), default=-1) + 1) < document.pages:
        where = f"{document.name} ({counted(last, 'page')} where the document has {document.pages})"
        yield Fault("document", f"of {base} shorter than the document", where)


def text_faults(pages: Sequence[Page], base: str) -> Iterator[Fault]:
    """List the artifacts of a document's pages, and a single page that is too long for one."""
    for page in pages:
        for kind in dict.fromkeys(artifact.kind for artifact in artifacts(page.text)):
            yield Fault("page", f"of {base} with {WORDS[kind]}", f"{page.document} page {page.index + 1}")
    if len(pages) == 1 and len(pages[0].text) > _LONGEST_PAGE:
        about = f"of {base} read as one page, although it is too long for one: its page borders are not known"
        yield Fault("document", about, f"{pages[0].document} ({len(pages[0].text):,} characters)")


def page_faults(document: Document, here: Set[int], base: str) -> Iterator[Fault]:
    """List pages that are not there, and pages that the document does not have."""
    expected = {*range(document.pages)}
    for index in sorted(expected - here):
        yield Fault("page", f"missing from {base}", f"{document.name} page {index + 1}")
    for index in sorted(here - expected):
        yield Fault("page", f"of {base} after the document's last, left out", f"{document.name} page {index + 1}")


def pages_written(
    folder: Path, text: bytes | None, format: OcrFormat, name: str, pages: int
) -> list[Recognition] | str:
    """Return one recognition per page, or the reason why there are none, which follows the program's name.

    Args:
        folder: where the program wrote its files.
        text: its standard output, if that is the result.
        name: of the file that the program read, without its ending.
        pages: the number of pages that it read.
    """
    try:
        found = _result(folder, text, format, name, pages)
    except (Ambiguous, Unreadable) as error:
        return f"wrote what cannot be used: {error}"
    if isinstance(found, str) or found.error:
        return found if isinstance(found, str) else f"wrote what cannot be used: {found.error}"
    last = max((*found.pages, *found.errors), default=-1)
    if pages == 1 and len(found.pages) + len(found.errors) == 1:
        # whatever number the program gave to its only page
        found = Result(dict(enumerate(found.pages.values())), dict(enumerate(found.errors.values())))
    elif last + 1 > pages or (last + 1 < pages and found.lists_blank):
        return f"wrote {counted(last + 1, 'page') if last >= 0 else 'no page'} for {counted(pages, 'page')}"
    return [_recognition(found, index) for index in range(pages)]


def _recognition(found: Result, index: int) -> Recognition:
    if index in found.pages or not found.lists_blank:
        blocks = found.pages.get(index, ())
        plain = len(blocks) == 1 and blocks[0].kind == "text"  # Markdown has no separate blocks
        return Recognition(blocks[0].text) if plain else Recognition(blocks=blocks)
    return Recognition("", found.errors.get(index) or "the program wrote nothing for this page")


def _result(folder: Path, text: bytes | None, format: OcrFormat, name: str, pages: int) -> Result | str:
    if text is not None:
        return Result(pages_in(Markdown(), ".md", text))
    index = look(folder, format)
    if not index.whole:
        there = sorted(path.name for path in folder.rglob("*") if path.is_file())
        wrote = f"only {named(there)}" if there else "nothing"
        return f"wrote {wrote} where a file that ends in {' or '.join(shortest_endings(format))} was expected"
    pieces = index.only(name)
    return read(pieces, pages) if pieces else f"wrote results of several documents, and none named {name}"
