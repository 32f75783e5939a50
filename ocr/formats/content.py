"""Contents of the files of a format: JSON, a text, or a document on each line."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from ohr.contracts import OcrFormat
from ohr.files.json_input import lines, parse_json

from .values import Pages, Unreadable


def ending_of(format: OcrFormat, name: str) -> tuple[int, str] | None:
    """Return which of a format's endings a file has, and its name without it; None for any other file."""
    if name.endswith(format.ignored):
        return None
    for place, ending in enumerate(format.endings):
        if name == ending.lstrip("_"):
            return place, ""
        if name.endswith(ending):
            return place, name[: -len(ending)]
    return None


def shortest_endings(format: OcrFormat) -> list[str]:
    """List how the names of a format's files end, the shortest of several."""
    return [
        ending
        for ending in format.endings
        if not any(ending != other and ending.endswith(other) for other in format.endings)
    ]


def pages_in(format: OcrFormat, ending: str, content: bytes, line: int | None = None) -> Pages:
    """Read a file's content, or one line of it.

    Raises:
        Unreadable: it is not as the system writes it.
    """
    try:
        found = format.pages(parsed(content if line is None else content.split(b"\n")[line - 1], ending))
        pages = {number: tuple(blocks) for number, blocks in found.items()}
    except ValueError as error:
        raise Unreadable(str(error)) from None
    except Exception as error:  # what no reader foresaw: a file may hold anything
        raise Unreadable(f"not as expected ({type(error).__name__}: {error})") from None
    if not pages and ending not in format.omits_blank:
        raise Unreadable("without pages")
    return pages


def parsed(content: bytes, ending: str) -> Any:
    """Return what a reader gets of a file with an ending, or say what is there in its place."""
    if not is_json(ending):
        try:
            return content.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            raise Unreadable("not text in UTF-8") from None
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
