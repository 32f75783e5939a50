"""The pages that a program has just written, of one document or one page."""

from pathlib import Path

from ohr.contracts import Recognition
from ohr.messages.wording import counted, named

from .document_files import Result, read
from .find import Ambiguous, look
from .known import FORMATS, FormatName, endings
from .values import Unreadable


def pages_written(
    folder: Path, text: bytes | None, format: FormatName, name: str, pages: int
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
        plain = len(blocks) == 1 and blocks[0].kind == "text"  # Markdown, in which no blocks are told apart
        return Recognition(blocks[0].text) if plain else Recognition(blocks=blocks)
    return Recognition("", found.errors.get(index) or "the program wrote nothing for this page")


def _result(folder: Path, text: bytes | None, format: FormatName, name: str, pages: int) -> Result | str:
    if text is not None:
        return Result(FORMATS["markdown"].kinds[0].pages(text))
    index = look(folder, format)
    if not index.whole:
        there = sorted(path.name for path in folder.rglob("*") if path.is_file())
        wrote = f"only {named(there)}" if there else "nothing"
        return f"wrote {wrote} where a file that ends in {' or '.join(endings(format))} was expected"
    pieces = index.only(name)
    return read(pieces, pages) if pieces else f"wrote results of several documents, and none named {name}"
