"""The corpus of a BEIR data set, and its other files of JSON Lines, plain or compressed.

Of a document only the place of its line in the file is kept, so that texts stay on disk until they are needed.
"""

import gzip
import os
import weakref
import zlib
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from ohr.contracts import Document
from ohr.errors import DataError
from ohr.files.changes import State, kept_until_changed, state_of
from ohr.files.json_input import parse_json
from ohr.files.names import quoted_id
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import keys_of

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not empty.

    Args:
        name: its `_id`.
        where: file and line number.
        start: of the line in the file, in bytes.
        size: of the line, in bytes.
        record: the JSON object.
    """

    name: str
    where: str
    start: int
    size: int
    record: Mapping[str, Any]


def opened(path: Path) -> BinaryIO:
    """Open a file to read its bytes at any place; a `.gz` is unpacked into a temporary file, which has no name.

    Raises:
        DataError: it cannot be read, or is damaged.
    """
    with _readable(path):
        if path.suffix != ".gz":
            return path.open("rb")
    unpacked = TemporaryFile()  # noqa: SIM115 # whoever reads it closes it
    try:
        with _readable(path), gzip.open(path) as packed:
            copyfileobj(packed, unpacked, 1 << 20)
    except DataError:
        unpacked.close()
        raise
    unpacked.seek(0)
    return unpacked


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: is damaged: {error}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def records(path: Path, file: BinaryIO, faults: list[Fault]) -> Iterator[Line]:
    """Read the records of an open file; a line that has none is a fault, and so is one with the `_id` of another.

    Args:
        path: for messages.
        faults: takes what is wrong.
    """
    first: dict[str, int] = {}
    start = 0
    for number, content in enumerate(file, start=1):
        line, where = content.removeprefix(_BOM) if number == 1 else content, f"{path}:{number}"
        place, start = start + len(content) - len(line), start + len(content)
        if not line.strip():
            continue
        record = _parsed(line)
        name = None if record is None else _name(record)
        if record is None:
            faults.append(Fault("line", "without a JSON object", where))
        elif name is None:
            there = f"{where} (it has {keys_of(record or ())})"
            faults.append(Fault("line", "without `_id`, a text or a whole number", there))
        elif first.setdefault(name, number) != number:
            faults.append(Fault("line", "with the `_id` of another", f"{where} ({name!r}, as line {first[name]})"))
        else:
            yield Line(name, where, place, len(line), record)


def text_of(line: Line, key: str, faults: list[Fault]) -> str:
    """Return a text of a record; one that is absent or null is empty, and anything else is a fault."""
    value = line.record.get(key)
    if value is not None and not isinstance(value, str):
        faults.append(Fault("line", f"whose `{key}` is no text", line.where))
        return ""
    return value or ""


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        found = parse_json(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _name(record: Mapping[str, Any]) -> str | None:
    name = record.get("_id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        return None
    return str(name).strip() or None


_DIGEST = 32
"""Bytes of a SHA-256."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """A corpus of which the texts are read when they are asked for.

    Args:
        documents: in the order of the file.
        places: of the documents, by name.
        starts: of the documents' lines in the file, in bytes.
        sizes: of these lines, in bytes.
        digests: the SHA-256 of each document's text, one after the other.
        empty: names of documents without text.
    """

    documents: tuple[Document, ...]
    places: Mapping[str, int]
    starts: "array[int]"
    sizes: "array[int]"
    digests: bytes
    empty: frozenset[str]
    _path: Path
    _state: State
    _descriptor: int

    @property
    def is_current(self) -> bool:
        """Whether the file is as it was read."""
        return state_of(self._path) == self._state

    def text(self, name: str) -> str:
        """Read a document's text.

        Raises:
            DataError: there is no such document.
        """
        place = self.place(name)
        # read at a place of its own: threads and forked processes share the file's position
        line = os.pread(self._descriptor, self.sizes[place], self.starts[place])
        record = parse_json(line)
        return joined(record.get("title") or "", record.get("text") or "")

    def digest(self, name: str) -> str:
        """Return the SHA-256 of a document's text, in hexadecimal digits."""
        place = self.place(name)
        return self.digests[_DIGEST * place : _DIGEST * (place + 1)].hex()

    def place(self, name: str) -> int:
        """Return a document's place in the corpus."""
        if name not in self.places:
            raise DataError(f"there is no document {name} in the corpus")
        return self.places[name]


def joined(title: str, text: str) -> str:
    """Join title and text by a space, without space around them, as BEIR's dense retrievers and mteb do."""
    return f"{title} {text}".strip()


@kept_until_changed(most=4)
def read_corpus(path: Path, data_set: str, language: str) -> Corpus:
    """Read a corpus; one that did not change is read once.

    Args:
        path: `corpus.jsonl`, or that with `.gz`.
        data_set: its name, which is the domain of its documents.
        language: of its documents.

    Raises:
        DataError: it cannot be read, has no document, or lines that are wrong.
    """
    documents, domain = list[Document](), quoted_id(data_set)
    starts, sizes, digests, empty = array("q"), array("q"), bytearray(), set()
    faults: list[Fault] = []
    known: set[tuple[str, ...]] = set()
    state = state_of(path)
    with opened(path) as file:
        for line in records(path, file, faults):
            document = Document(f"{domain}/{quoted_id(line.name)}", domain, language, 1)
            text = joined(text_of(line, "title", faults), text_of(line, "text", faults))
            documents.append(document)
            known.add(tuple(line.record))
            starts.append(line.start)
            sizes.append(line.size)
            digests += sha256(text.encode("utf-8", "surrogatepass")).digest()
            if not text:
                empty.add(document.name)
        if faults:
            raise DataError("\n".join(sentences(faults)))
        if not documents:
            raise DataError(f"{path}: has no document")
        if not any("text" in keys for keys in known):
            raise DataError(f"{path}: no document has `text`; their keys are {', '.join(dict.fromkeys(chain(*known)))}")
        descriptor = os.dup(file.fileno())
    places = {document.name: place for place, document in enumerate(documents)}
    corpus = Corpus(tuple(documents), places, starts, sizes, bytes(digests), frozenset(empty), path, state, descriptor)
    weakref.finalize(corpus, os.close, descriptor)
    return corpus
