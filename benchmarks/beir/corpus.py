"""The corpus of a BEIR data set: where each document's line is in its file, so that texts stay on disk."""

import os
import weakref
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path

from ohr.contracts import Document
from ohr.errors import DataError
from ohr.files.changes import State, kept_until_changed, state_of
from ohr.files.json_input import parse_json
from ohr.files.names import quoted_id
from ohr.messages.faults import Fault, sentences

from .json_lines import opened, records, text_of

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
