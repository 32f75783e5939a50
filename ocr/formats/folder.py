"""A folder with a system's results: the pages of documents, and what is wrong with them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from ohr.contracts import ABSENT, Document, Page
from ohr.files.names import UNWRITABLE
from ohr.markup.page import Markup, page_text
from ohr.messages.faults import Fault

from .document_files import Result, result_of
from .find import Ambiguous, Index, index_of
from .known import FormatName

SCORED_0 = "so that all questions on it score 0 there"


def holds_results(root: Path, format: FormatName) -> bool:
    """Report whether a folder holds a file of the format."""
    return bool(index_of(root, format).whole)


def pages_of(root: Path, format: FormatName, document: Document, markup: Markup) -> list[Page]:
    """Read a document's pages; each page without a result carries an error."""
    result = result_of(index_of(root, format), document.name, document.pages) or Result(error=ABSENT)
    return [_page(document.name, index, result, markup) for index in range(document.pages)]


def _page(document: str, index: int, result: Result, markup: Markup) -> Page:
    if index in result.pages:
        return Page(document, index, page_text(result.pages[index], markup))
    return Page(document, index, "", result.errors.get(index) or result.error or ABSENT)


def documents_in(root: Path, format: FormatName) -> list[Document]:
    """List the documents that a folder holds, with as many pages as their results have.

    A document that is in no folder of its own gets the folder's name as its domain.
    """
    found, index = [], index_of(root, format)
    for short, pieces in index.documents().items():
        name = short if "/" in short else f"{root.resolve().name}/{short}"
        result = result_of(index, name, len(pieces)) or Result()
        last = max((*result.pages, *result.errors), default=0)
        found.append(Document(name, name.partition("/")[0], "en", last + 1))
    return found


def faults_of(root: Path, format: FormatName, documents: Sequence[Document]) -> Iterator[Fault]:
    """List what a folder lacks, and what is wrong with its files."""
    base, index = root.resolve().name, index_of(root, format)
    yield from (Fault("file", f"whose {UNWRITABLE}, left out", name) for name in index.unwritable)
    yield from (Fault("line", "that names no document, left out", f"{base}/{name}") for name in index.unnamed)
    readers = defaultdict(list)
    for document in documents:
        result = result_of(index, document.name, document.pages)
        yield from _faults(document, result, base)
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


def page_faults(document: Document, here: Set[int], base: str) -> Iterator[Fault]:
    """List pages that are not there, and pages that the document does not have."""
    expected = {*range(document.pages)}
    for index in sorted(expected - here):
        yield Fault("page", f"missing from {base}", f"{document.name} page {index + 1}")
    for index in sorted(here - expected):
        yield Fault("page", f"of {base} after the document's last, left out", f"{document.name} page {index + 1}")
