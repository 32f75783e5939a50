"""The results in a folder: the pages of documents, what is wrong with them, and what a program has just written."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from ohr.contracts import ABSENT, Document, OcrFormat, Page, Recognition, Word
from ohr.files.below import files_below
from ohr.files.names import UNWRITABLE
from ohr.markup.page import Markup, page_text
from ohr.messages.faults import Fault
from ohr.messages.wording import counted, named

from .find import Ambiguous, Content, Index, Piece, content_of, index_of, is_json, look, shortest_endings
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
        joined: how many pages of the file were put together, as its document has one.
        words: those that have a confidence, by page.
        unsure: the reason why confidences could not be read, if so.
    """

    pages: Pages = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    error: str | None = None
    lists_blank: bool = True
    joined: int = 1
    words: dict[int, tuple[Word, ...]] = field(default_factory=dict)
    unsure: str = ""


@dataclass(frozen=True, slots=True)
class Files:
    """The files that a document's result is in, not read yet.

    Args:
        document: whose number of pages shows whether numbers in files' names start at 0 or at 1.
        error: the reason why the files are not known.
        is_listed: the folder shows the document, so that only its result has the number of its pages.
    """

    document: Document
    pieces: tuple[Piece, ...] = ()
    error: str | None = None
    is_listed: bool = False


def files_of(index: Index, document: Document, *, is_listed: bool = False) -> Files:
    """Return the files of a document; none where there are none."""
    try:
        return Files(document, tuple(index.pieces(document.name)), None, is_listed)
    except Ambiguous as error:
        return Files(document, (), str(error), is_listed)


def files_in(root: Path, format: OcrFormat) -> list[Files]:
    """List the files of each document that a folder holds.

    A document that is in no folder of its own gets the folder's name as its domain.
    """
    index, files = index_of(root, format), []
    for short, pieces in index.documents().items():
        name = short if "/" in short else f"{root.resolve().name}/{short}"
        files.append(files_of(index, Document(name, name.partition("/")[0], "en", len(pieces)), is_listed=True))
    return files


def result_of(files: Files) -> tuple[Document, Result | None]:
    """Read a document's result, None where there is none; a document that is listed gets its number of pages."""
    result = read(files.pieces, files.document.pages) if files.pieces else None
    result = Result(error=files.error) if files.error is not None else result
    if not files.is_listed:
        return files.document, _as_one_page(result, files)
    last = max((*result.pages, *result.errors), default=0) if result else 0
    return replace(files.document, pages=last + 1), result


def _as_one_page(result: Result | None, files: Files) -> Result | None:
    """Put a text together that marks of pages part, such as form feeds, where its document has one page."""
    if result is None or files.document.pages > 1 or len(result.pages) < 2 or is_json(files.pieces[0].ending):
        return result
    pages, words = tuple(chain.from_iterable(result.pages.values())), tuple(chain.from_iterable(result.words.values()))
    return replace(result, pages={0: pages}, words={0: words} if words else {}, joined=len(result.pages))


def read(pieces: Sequence[Piece], pages: int | None = None) -> Result:
    """Read the files of one document; one that is broken costs its own pages."""
    if pieces[0].number is None:
        try:
            content = pieces[0].read()
        except Unreadable as error:
            return Result(error=f"its result is {error}")
        lists_blank = pieces[0].ending not in pieces[0].format.omits_blank
        return Result(content.pages, words=dict(content.words), unsure=content.fault, lists_blank=lists_blank)
    held, result = dict[int, Content](), Result()
    for number, piece in zip(_numbers(pieces, pages), pieces, strict=True):
        try:
            held[number] = piece.read()
        except Unreadable as error:
            result.errors[number] = f"its result is {error}"
    unsure = next((content.fault for content in held.values() if content.fault), "")
    if _are_parts(pieces[0], list(held.values())):
        return replace(_of_parts(list(held.values()), result.errors, pages or 0), unsure=unsure)
    for number, content in held.items():
        if len(content.pages) > 1:
            several = f"of {len(content.pages)} pages, although its name has a page's number"
            result.errors[number] = f"its result is {several}"
        else:
            result.pages[number] = next(iter(content.pages.values()), ())
            if content.words:
                result.words[number] = next(iter(content.words.values()))
    return replace(result, unsure=unsure)


def _numbers(pieces: Sequence[Piece], pages: int | None) -> list[int]:
    """Return the numbers of pages that files have in their names, from 0."""
    numbers = [piece.number or 0 for piece in pieces]
    first = int(min(numbers) > 0 and max(numbers) == (pages or len(pieces)))
    return [number - first for number in numbers]


def _are_parts(piece: Piece, held: Sequence[Content]) -> bool:
    """Report whether numbered files are parts of a document, as shards of Document AI, whose pages have own numbers."""
    numbers = [number for content in held for number in content.pages]
    return piece.has_numbers and len(numbers) > len(held) and len(set(numbers)) == len(numbers)


def _of_parts(held: Sequence[Content], errors: Mapping[int, str], pages: int) -> Result:
    """Join the parts of a document; pages that none of them has have the first error of one that is broken."""
    whole = {number: blocks for content in held for number, blocks in content.pages.items()}
    words = {number: each for content in held for number, each in content.words.items()}
    missing = (number for number in range(pages if errors else 0) if number not in whole)
    broken = dict.fromkeys(missing, next(iter(errors.values()), ""))
    return Result(dict(sorted(whole.items())), broken, words=words)


def pages_of(document: Document, result: Result | None, markup: Markup) -> list[Page]:
    """Return a document's pages; each page without a result carries an error."""
    result = result or Result(error=ABSENT)
    return [_page(document.name, index, result, markup) for index in range(document.pages)]


def _page(document: str, index: int, result: Result, markup: Markup) -> Page:
    if index in result.pages:
        return Page(document, index, page_text(result.pages[index], markup))
    return Page(document, index, "", result.errors.get(index) or result.error or ABSENT)


def folder_faults(root: Path, format: OcrFormat, files: Sequence[Files], own: Iterable[Fault]) -> Iterator[Fault]:
    """List what is wrong with a folder and, as `own`, with its documents, and which files are taken for several."""
    base, index = root.resolve().name, index_of(root, format)
    yield from (Fault("file", f"whose {UNWRITABLE}, left out", name) for name in index.unwritable)
    yield from (Fault("line", "that names no document, left out", f"{base}/{name}") for name in index.unnamed)
    yield from own
    readers = defaultdict(list)
    for each in files:
        for piece in each.pieces:
            readers[piece].append(each.document.name)
    for piece, names in readers.items():
        if len(names) > 1:
            shown = f"{piece.path.relative_to(root.resolve())} for {' and '.join(names)}"
            yield Fault("file", f"of {base} taken for several documents", shown)


def faults_of(document: Document, result: Result | None, base: str) -> Iterator[Fault]:
    """List what a document lacks, and what is wrong with its files."""
    if result is None:
        yield Fault("document", f"missing from {base}, {SCORED_0}", document.name)
        return
    if result.error is not None:
        yield Fault("document", f"of {base} without pages: {result.error}", document.name)
        return
    for index, reason in sorted(result.errors.items()):
        yield Fault("page", f"of {base} without text: {reason}", f"{document.name} page {index + 1}")
    if result.joined > 1:
        yield Fault("document", f"of one page whose file in {base} has marks of several, read as one", document.name)
    if result.unsure:
        yield Fault(
            "document", f"of {base} whose confidences are left out, since its result is {result.unsure}", document.name
        )
    yield from page_faults(document, {*result.pages, *result.errors}, base)
    if 0 < (last := max((*result.pages, *result.errors), default=-1) + 1) < document.pages:
        where = f"{document.name} ({counted(last, 'page')} where the document has {document.pages})"
        yield Fault("document", f"of {base} shorter than the document", where)
    length = sum(len(block.text) for blocks in result.pages.values() for block in blocks)
    if len(result.pages) == 1 and length > _LONGEST_PAGE:
        about = f"of {base} read as one page, although it is too long for one: its page borders are not known"
        yield Fault("document", about, f"{document.name} ({length:,} characters)")


def page_artifacts(pages: Sequence[Page]) -> list[tuple[Page, str]]:
    """List the kinds of artifacts that each page's text has."""
    from ohr.markup.artifacts import artifacts

    return [(page, kind) for page in pages for kind in dict.fromkeys(each.kind for each in artifacts(page.text))]


def artifact_faults(kinds: Sequence[tuple[Page, str]], base: str) -> Iterator[Fault]:
    """List the artifacts of a document's pages."""
    from ohr.markup.artifacts import WORDS

    for page, kind in kinds:
        yield Fault("page", f"of {base} with {WORDS[kind]}", f"{page.document} page {page.index + 1}")


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
        return Result(content_of(Markdown(), ".md", text).pages)
    index = look(folder, format)
    if not index.whole:
        there = [path.name for path in files_below(folder)]
        wrote = f"only {named(there)}" if there else "nothing"
        return f"wrote {wrote} where a file that ends in {' or '.join(shortest_endings(format))} was expected"
    pieces = index.only(name)
    return read(pieces, pages) if pieces else f"wrote results of several documents, and none named {name}"
