"""OHRBench's layout: `<base>/<domain>/<document>.json`, a list of {"page_idx", "text"}."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ohr.contracts import Page, Word
from ohr.errors import DataError
from ohr.files import MOST_PAGES
from ohr.files.changes import kept_until_changed
from ohr.files.digests import input_value
from ohr.files.json_input import parse_json, whole_number
from ohr.files.names import composed, is_writable, printable
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import keys_of

# --- folders ----------------------------------------------------------------------------------------------


def has_bases(root: Path) -> bool:
    """Report whether a folder is a benchmark in this layout: it holds the ground truth among its knowledge bases."""
    return (root / "retrieval_base" / "gt").is_dir()


def benchmark_root(base: Path) -> Path | None:
    """Return the benchmark's folder above a knowledge base, which is `<root>/retrieval_base/<base>`."""
    above = base.resolve().parent
    return above.parent if above.name == "retrieval_base" and has_bases(above.parent) else None


def document_files(base: Path) -> dict[str, Path]:
    """Return each document's file, in the order in which the published code reads them: by path, suffix included.

    Hidden files and folders are skipped, as there, and files whose name cannot be written to results (see
    `unwritable_files`).
    """
    found = sorted(path.split("/") for path in _inside(base))
    names = (("/".join(parts).removesuffix(".json"), parts) for parts in found if len(parts) > 1)
    return {name: base.joinpath(*parts) for name, parts in names if is_writable(name)}


def set_names(names: Iterable[str]) -> dict[str, str]:
    """Return names of exactly `<domain>/<document>` for documents of any depth, each its own on every file system.

    Folders below the domain become a part of the document's name: `law/2020/lease` is `law/2020__lease`. Names are
    composed (NFC) and short enough for a file; of names that then are one but for their case, later ones get a number.
    """
    taken: set[str] = set()
    chosen = {}
    for name in names:
        domain, _, rest = composed(name).partition("/")
        document = rest.replace("/", "__")
        while len(document.encode()) > _LONGEST:
            document = document[:-1]
        numbered = (f"{domain}/{document}-{number}" for number in count(2))
        free = (each for each in chain([f"{domain}/{document}"], numbered) if each.casefold() not in taken)
        chosen[name] = next(free)
        taken.add(chosen[name].casefold())
    return chosen


_LONGEST = 200
"""Bytes of a document's name: a file's has 255, with its ending and what is put before it while it is written."""


def unwritable_files(base: Path) -> list[str]:
    """List the JSON files whose names cannot be written to results, as `<base>/<path>` with replacement characters."""
    return sorted(f"{base.name}/{printable(path)}" for path in _inside(base) if not is_writable(path))


def _inside(base: Path) -> Iterator[str]:
    """List the paths of JSON files inside a folder."""
    above = len(str(base / "-")) - 1
    # thousands of files: cut as text, since a Path of each takes longer
    return (entry.path[above:].replace(os.sep, "/") for entry in json_files(base))


def json_files(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """List the JSON files below a folder, in any order; hidden files and folders are skipped, links are followed."""
    left, seen = [folder], set()
    while left:
        here = left.pop()
        about = here.stat()
        if (about.st_dev, about.st_ino) in seen:  # a link to a folder above
            continue
        seen.add((about.st_dev, about.st_ino))
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir():
                    left.append(Path(entry.path))
                elif entry.name.endswith(".json") and entry.is_file():
                    yield entry


# --- pages ------------------------------------------------------------------------------------------------

_UNNUMBERED = "without a page number, left out"
_REPEATED = "listed again, of which the first counts"


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of one file: its pages in ascending order, its faults, and why it could not be read, if so."""

    pages: tuple[Page, ...]
    faults: tuple[Fault, ...]
    error: str | None = None
    detail: str = ""


@kept_until_changed(512, largest=1 << 17)  # a run reads each file several times: these hold some 60 MB at most
def read_document(path: Path, name: str) -> Reading:
    """Read a document; what cannot be read is a fault, and a page whose text is not a string has an error."""
    where = _where(path, name)
    try:
        entries = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        return _unread("not readable as JSON", where, f": {error}")
    if not isinstance(entries, list):
        return _unread("not a list of pages", where)
    pages: dict[int, Page] = {}
    faults: list[Fault] = []
    for place, entry in enumerate(entries):
        number = _number(entry)
        if number is None:
            there = f" (it has {keys_of(entry)})" if isinstance(entry, dict) and "page_idx" not in entry else ""
            faults.append(Fault("page", _UNNUMBERED, f"{where} entry {place}{there}"))
        elif number in pages:
            faults.append(Fault("page", _REPEATED, f"{where} page {number + 1}"))
        else:
            pages[number] = _page(name, number, entry)
            faults += _page_faults(pages[number], entry, where)
    if list(pages) != sorted(pages):
        faults.append(Fault("file", "with pages out of order, put in order", where))
    return Reading(tuple(pages[number] for number in sorted(pages)), tuple(faults))


_FACTS = 1
"""Version of what `document_facts` keeps."""


def document_facts(path: Path, name: str) -> tuple[set[int], list[Fault]]:
    """Return the numbers of a document's pages and the faults of its file, which is read again once it has changed."""

    def read() -> list[Any]:
        reading = read_document(path, name)
        return [[page.index for page in reading.pages], [list(fault) for fault in reading.faults]]

    def facts(value: Any) -> tuple[set[int], list[Fault]]:
        numbers, faults = value
        return set(numbers), [Fault(*fault) for fault in faults]

    try:
        return facts(input_value(path, f"facts {_FACTS} {name}", read))
    except (TypeError, ValueError):  # somebody has edited what the store keeps
        return facts(read())


def read_file(path: Path, document: str) -> list[Page]:
    """Read a document's file in page order.

    Raises:
        DataError: it cannot be read, or a page has no number or is listed twice. A page whose text is null is a Page
            with an error.
    """
    reading = read_document(path, document)
    if reading.error is not None:
        raise DataError(f"{path}: {reading.error.removeprefix(_FILE)}{reading.detail}: it must list {{page_idx, text}}")
    lost = [
        fault._replace(about=fault.about.partition(",")[0])  # here nothing is left out
        for fault in reading.faults
        if fault.about in (_UNNUMBERED, _REPEATED)
    ]
    if lost:
        raise DataError(f"{path}: {'; '.join(sentences(lost))}")
    return list(reading.pages)


def read_pages(base: Path, document: str) -> list[Page]:
    """Read one document of a knowledge base as `read_file` does; a document that is absent has no pages."""
    path = base / f"{document}.json"
    return read_file(path, document) if path.is_file() else []


def read_words(path: Path) -> dict[int, tuple[Word, ...]]:
    """Read the words of a document that have a confidence, by page, as `write_pages` wrote them; no others."""
    content = path.read_bytes()
    if b'"words"' not in content:  # most files: they are not parsed again
        return {}
    try:
        entries = parse_json(content)
    except ValueError:
        return {}
    numbered = [(_number(entry), entry) for entry in entries if isinstance(entry, dict)]
    words = {number: tuple(_stated(entry.get("words"))) for number, entry in numbered if number is not None}
    return {number: stated for number, stated in words.items() if stated}


def _stated(words: Any) -> Iterator[Word]:
    for each in words if isinstance(words, list) else ():
        match each:
            case [str(text), float() | int() as confidence] if 0 <= confidence <= 1:
                yield Word(text, None, float(confidence))


def write_pages(path: Path, pages: Iterable[Page], words: Mapping[int, Sequence[Word]] = MappingProxyType({})) -> None:
    """Write a document's file, and the folders above it; words with a confidence are beside the text of their page."""
    entries: list[dict[str, Any]] = []
    for page in pages:
        stated = [[word.text, word.confidence] for word in words.get(page.index, ())]
        entries.append({"page_idx": page.index, "text": page.text, **({"words": stated} if stated else {})})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def with_texts(path: Path, texts: Mapping[int, str]) -> str:
    """Return a document's file with other texts by page index; everything else stays, unknown keys too."""
    entries = parse_json(path.read_bytes())
    for entry in entries:
        number = _number(entry)
        if number is not None and number in texts and isinstance(entry.get("text"), str):
            entry["text"] = texts[number]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


_FILE = "its file is "


def _unread(reason: str, where: str, detail: str = "") -> Reading:
    return Reading((), (Fault("file", reason, where),), _FILE + reason, detail)


def _where(path: Path, name: str) -> str:
    """Name a document in faults: `<base>/<domain>/<document>`."""
    depth = name.count("/")  # a relative path may have fewer parents than the document has folders
    base = path.absolute().parents
    return f"{base[min(depth, len(base) - 1)].name}/{name}"


def _number(entry: Any) -> int | None:
    number = whole_number(entry.get("page_idx", entry.get("page_no"))) if isinstance(entry, dict) else None
    return number if number is not None and number < MOST_PAGES else None


def _page(name: str, number: int, entry: Mapping[str, Any]) -> Page:
    text = entry.get("text")
    if isinstance(text, str):
        return Page(name, number, text)
    kind = "null" if text is None else type(text).__name__
    return Page(name, number, "", f"text is {kind}, not a string")


def _page_faults(page: Page, entry: Mapping[str, Any], where: str) -> Iterator[Fault]:
    if page.error is not None:
        yield Fault("page", "with a text that is not a string, counted as failed", f"{where} page {page.index + 1}")
    elif not page.text.strip():
        yield Fault("page", f"without text in {where.split('/')[0]}", f"{where} page {page.index + 1}")
    if isinstance(entry.get("page_idx", entry.get("page_no")), str):
        yield Fault("page number", "in quotes, read without them", f"{where} page {page.index + 1}")
