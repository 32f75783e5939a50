"""The pages of a corpus, put together to documents."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ohr.contracts import Document
from ohr.errors import DataError
from ohr.files.names import quoted_id
from ohr.files.tables import is_blank
from ohr.messages.faults import Fault
from ohr.messages.wording import quoted

from .layout import Shard, read_columns, require_text, shard

if TYPE_CHECKING:
    from pyarrow import ChunkedArray

_CODES = {
    "arabic": "ar", "chinese": "zh", "dutch": "nl", "english": "en", "french": "fr", "german": "de", "italian": "it",
    "japanese": "ja", "korean": "ko", "polish": "pl", "portuguese": "pt", "russian": "ru", "spanish": "es",
}  # fmt: skip
"""Languages by the names that data sets give them; others are kept as codes."""
_CODE = re.compile("[a-z]{2,3}")


class Place(NamedTuple):
    """Where a page is in the corpus: the number of its file, and its row there."""

    id: str
    file: int
    row: int


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a corpus.

    Args:
        documents: in the order of their first rows.
        places: of the pages of each document, by its name, in their order.
        by_id: document and index of each page, by its id in the corpus.
        texts: of the rows of each file; empty where no page has any.
    """

    shards: tuple[Shard, ...]
    documents: tuple[Document, ...]
    places: Mapping[str, tuple[Place, ...]]
    by_id: Mapping[str, tuple[str, int]]
    texts: tuple["ChunkedArray", ...]

    def text(self, place: Place) -> str:
        """Return the text of a page; "" where it has none."""
        return str(self.texts[place.file][place.row].as_py() or "")


def read_pages(files: Mapping[str, Sequence[Path]], domain: str, language: str, faults: list[Fault]) -> Pages:
    """Read all of a corpus but its images.

    Args:
        files: of each configuration.
        language: of documents whose metadata name none.
        faults: where what is counted is put.

    Raises:
        DataError: a file is damaged or lacks a column, or pages contradict one another.
    """
    shards = tuple(shard(path, "corpus") for path in files["corpus"])
    by_document = {
        f"{domain}/{quoted_id(document)}": (document, _in_order(document, rows))
        for document, rows in _by_document(shards, faults).items()
    }
    languages = _languages(files.get("documents", ()))
    documents = tuple(
        Document(name, domain, languages.get(document, language), len(places))
        for name, (document, places) in by_document.items()
    )
    by_id = {place.id: (name, index) for name, (_, places) in by_document.items() for index, place in enumerate(places)}
    read = {name: places for name, (_, places) in by_document.items()}
    return Pages(shards, documents, read, by_id, _texts(shards, faults))


def _by_document(shards: Sequence[Shard], faults: list[Fault]) -> dict[str, list[tuple[Place, Any]]]:
    """Return the places of each document's pages with their numbers; a page without a document is one by itself."""
    rows: dict[str, list[tuple[Place, Any]]] = defaultdict(list)
    known: dict[str, tuple[str, Any]] = {}
    for file, read in enumerate(shards):
        for row, about in enumerate(read_columns(read, ("id", "document", "page number")).to_pylist()):
            where = f"{read.path}: row {row}"
            lacking = [part for part, value in about.items() if is_blank(value)]
            if lacking:
                raise DataError(f"{where}: has no {lacking[0]}")
            page, number = str(about["id"]), about.get("page number")
            document = str(about.get("document", page))
            if page not in known:
                known[page] = document, number
                rows[document].append((Place(page, file, row), number))
            elif known[page] == (document, number):
                faults.append(Fault("page", "that is there twice, taken once", page))
            else:
                raise DataError(f"{where}: the id {quoted(page)} is that of another page, too")
    return rows


def _in_order(document: str, rows: Sequence[tuple[Place, Any]]) -> tuple[Place, ...]:
    """Order a document's pages by their numbers; without numbers they are in the order of the rows."""
    if rows[0][1] is None:
        return tuple(place for place, _ in rows)
    numbered: dict[float, Place] = {}
    for place, number in rows:
        try:
            key = float(number)
        except (TypeError, ValueError):
            raise DataError(f"page {place.id} of {document}: its page number is {quoted(number)}") from None
        if key in numbered:
            raise DataError(f"pages {numbered[key].id} and {place.id} of {document} have the same number {number}")
        numbered[key] = place
    return tuple(numbered[key] for key in sorted(numbered))


def _texts(shards: Sequence[Shard], faults: list[Fault]) -> tuple["ChunkedArray", ...]:
    """Read the texts of the pages, and count the empty ones; where all are empty, the corpus has none."""
    from pyarrow import compute

    tables = [read_columns(read, ("id", "text")) for read in shards if "text" in read.columns]
    if len(tables) < len(shards):
        return ()
    blank = []
    for read, table in zip(shards, tables, strict=True):
        require_text(read, "text", table["text"].type)
        trimmed = compute.utf8_trim_whitespace(table["text"].cast("string").fill_null(""))
        blank += table["id"].filter(compute.equal(trimmed, "")).to_pylist()
    if len(blank) == sum(map(len, tables)):
        return ()
    faults += [Fault("page", "without text in the corpus", str(page)) for page in blank]
    return tuple(table["text"] for table in tables)


def _languages(paths: Sequence[Path]) -> dict[str, str]:
    """Return the code of the language of each document whose metadata name one."""
    known = {}
    for path in paths:
        read = shard(path, "documents")
        if {"document", "language"} <= read.columns.keys():
            for about in read_columns(read, ("document", "language")).to_pylist():
                name = str(about["language"] or "").casefold()
                code = _CODES.get(name, name.partition("-")[0])
                if _CODE.fullmatch(code):
                    known[str(about["document"])] = code
    return known
