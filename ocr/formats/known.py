"""The formats by name: which files a system writes, and how each is read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from ohr.files.json_input import lines, parse_json

from . import azure, docling, markdown, marker, mineru, mistral, ohrbench, olmocr, paddleocr
from .values import Pages, Unreadable

FormatName = Literal[
    "ohrbench", "mineru", "marker", "docling", "olmocr", "paddleocr", "azure", "mistral", "markdown"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file that a system writes.

    Args:
        ending: of its name, after the document's name.
        read: makes pages of its content: JSON, text, or one line of JSON Lines.
        lists_blank: whether a page without text is listed, too.
        numbers_pages: whether the content says which page of its document it holds.
    """

    ending: str
    read: Callable[[Any], Pages]
    content: Literal["json", "text", "lines"] = "json"
    lists_blank: bool = True
    numbers_pages: bool = True

    def pages(self, content: bytes, line: int | None = None) -> Pages:
        """Read a file's content, or one line of it.

        Raises:
            Unreadable: it is not as the system writes it.
        """
        try:
            pages = self.read(self._found(content, line))
        except UnicodeDecodeError:
            raise Unreadable("not text in UTF-8") from None
        except (AttributeError, IndexError, KeyError, TypeError, RecursionError) as error:
            # what no reader foresaw: a file may hold anything
            raise Unreadable(f"not as expected ({type(error).__name__}: {error})") from None
        if not pages and self.lists_blank:
            raise Unreadable("without pages")
        return pages

    def _found(self, content: bytes, line: int | None) -> Any:
        if self.content == "text":
            return content.decode("utf-8-sig").replace("\r\n", "\n")
        return parsed(content if line is None else content.split(b"\n")[line - 1])


@dataclass(frozen=True, slots=True)
class Format:
    """The results of one system.

    Args:
        kinds: the kinds of files, preferred first.
        ignored: endings of files that are no results.
        version: raised when the same files give another text.
    """

    kinds: tuple[FileKind, ...]
    ignored: tuple[str, ...] = ()
    version: int = 1

    def kind_of(self, name: str) -> tuple[int, str] | None:
        """Return the place of a file's kind, and the name without its ending; None for any other file."""
        if name.endswith(self.ignored):
            return None
        for place, kind in enumerate(self.kinds):
            if name == kind.ending.lstrip("_"):
                return place, ""
            if name.endswith(kind.ending):
                return place, name[: -len(kind.ending)]
        return None


_TEXTS = tuple(
    FileKind(ending, markdown.read, "text", numbers_pages=False) for ending in (".md", ".mmd", ".markdown", ".txt")
)

FORMATS: Mapping[FormatName, Format] = {
    "ohrbench": Format((FileKind(".json", ohrbench.read),)),
    "mineru": Format(
        (
            FileKind("_content_list.json", mineru.read, lists_blank=False),
            FileKind("_content_list_v2.json", mineru.read),
            FileKind("_middle.json", mineru.read),
            FileKind("_middle_json.json", mineru.read),
            FileKind("_structured_content.json", mineru.read),
            FileKind("_layout.json", mineru.read),
            FileKind(".json", mineru.read),
        ),
        ("_model.json", "model_output.json"),
    ),
    "marker": Format((FileKind(".json", marker.read), *_TEXTS[:1]), ("_meta.json",), version=2),
    "docling": Format((FileKind(".json", docling.read), *_TEXTS[:1]), version=2),
    "olmocr": Format((FileKind(".jsonl", olmocr.read, "lines"), *_TEXTS[:1]), version=2),
    "paddleocr": Format(
        (
            FileKind("_res.json", paddleocr.read, numbers_pages=False),  # of an image, the number is null
            FileKind(".json", paddleocr.read, numbers_pages=False),
            *_TEXTS[:1],
        ),
        version=2,
    ),
    "azure": Format((FileKind(".json", azure.read), *_TEXTS[:1]), version=2),
    "mistral": Format((FileKind(".json", mistral.read), *_TEXTS[:1])),
    "markdown": Format(_TEXTS, version=3),
}


def reader_version(format: FormatName) -> dict[str, int]:
    """Return what identifies a reader in stored results, once it is no longer the first."""
    return {"reader": FORMATS[format].version} if FORMATS[format].version > 1 else {}


def endings(format: FormatName) -> list[str]:
    """List how the names of a format's files end, the shortest of several."""
    found = [kind.ending for kind in FORMATS[format].kinds]
    return [ending for ending in found if not any(ending != other and ending.endswith(other) for other in found)]


def parsed(content: bytes) -> Any:
    """Read JSON, or say what is there in its place."""
    try:
        return parse_json(content)
    except ValueError as error:
        if content.lstrip()[:1] == b"<":
            raise Unreadable("HTML or XML in place of JSON") from None
        raise Unreadable("empty" if not content.strip() else f"not readable as JSON ({error})") from None


def sources(content: bytes) -> Iterator[tuple[int, PurePosixPath | None]]:
    """List the lines of a file with one document a line, each with its document's path; None for a broken line."""
    for number, line in lines(content.decode("utf-8", "replace")):
        try:
            yield number, PurePosixPath(olmocr.source(parsed(line.encode())).rpartition("://")[2])
        except Unreadable:
            yield number, None
