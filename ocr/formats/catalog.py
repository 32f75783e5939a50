"""The formats by name, and how a file of each is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ohr.contracts import Block
from ohr.files.json_input import parse_json

from . import azure, docling, markdown, marker, mineru, mistral, olmocr, paddleocr
from .values import FormatError, Pages, index, listed, mapping, text

FormatName = Literal["ohrbench", "mineru", "marker", "docling", "olmocr", "paddleocr", "azure", "mistral", "markdown"]
FORMAT_NAMES: tuple[str, ...] = get_args(FormatName)


@dataclass(frozen=True, slots=True)
class Format:
    """How a system names and writes its files.

    Args:
        endings: of its files, the ones that tell most first; what comes before is the document's name.
        names: whole names of files whose document is the folder that they are in.
        parts: reads parsed JSON; None for files of text.
        several: files are of one page each, whose pages belong together.
    """

    endings: tuple[str, ...]
    parts: Callable[[Any], Pages] | None
    names: tuple[str, ...] = ()
    several: bool = False


def _ohrbench(parsed: Any) -> Pages:
    pages = (mapping(page, "a page") for page in listed(parsed, "the file"))
    return {
        index(page.get("page_idx", page.get("page_no")), "page_idx"): (Block("text", text(page.get("text"))),)
        for page in pages
    }


_TEXTS = (".md", ".mmd", ".markdown", ".txt")

FORMATS: Mapping[str, Format] = {
    "ohrbench": Format((".json",), _ohrbench),
    "mineru": Format(
        ("_content_list.json", "_middle.json", "_structured_content.json", "_content_list_v2.json", ".json"),
        mineru.pages,
        ("content_list.json", "middle_json.json", "structured_content.json", "middle.json"),
    ),
    "marker": Format((".json", *_TEXTS), marker.pages),
    "docling": Format((".json",), docling.pages),
    "olmocr": Format((".jsonl",), None),
    "paddleocr": Format(("_res.json", ".json"), paddleocr.pages, several=True),
    "azure": Format((".json",), azure.pages),
    "mistral": Format((".json",), mistral.pages),
    "markdown": Format(_TEXTS, None),
}


def read_file(path: Path, name: str) -> dict[str, Pages]:
    """Read a file; the key is the document that the file names, empty where it names none.

    Raises:
        FormatError: it is not in this format.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}") from None
    return read_content(raw, name, is_text=path.suffix.lower() in _TEXTS)


def read_content(raw: bytes, name: str, *, is_text: bool = False) -> dict[str, Pages]:
    """Read the content of a file as `read_file` does."""
    parts = FORMATS[name].parts
    try:
        if name == "olmocr":
            return olmocr.documents(raw.decode("utf-8-sig"))
        if parts is None or is_text:
            return {"": markdown.pages(raw.decode("utf-8-sig"))}
        return {"": parts(parse_json(raw))}
    except FormatError:
        raise
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 text: {error.reason} at byte {error.start}") from None
    except (ValueError, RecursionError) as error:
        hint = "HTML, " if raw.lstrip()[:1] == b"<" else ""
        raise FormatError(f"{hint}not readable as JSON: {error}") from None
    except (TypeError, AttributeError, KeyError, IndexError) as error:  # a value of another type than in any version
        raise FormatError(f"not as {name} writes it: {type(error).__name__}: {error}") from None
