"""Benchmarks that read a copy of their data as a whole."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.contracts import Document, PublishedBenchmark, Question
from ohr.errors import DataError
from ohr.files.names import is_writable
from ohr.messages.wording import quoted


@dataclass(frozen=True, slots=True)
class Copy:
    """The content of a copy.

    Args:
        places: file, and line or entry, of each question, by its id.
        notes: what looks wrong, or is left out.
    """

    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    places: Mapping[str, str]
    notes: tuple[str, ...]


class CopyBenchmark(PublishedBenchmark):
    """A benchmark that reads its copy, which is kept until its files change, for whatever it is asked."""

    @abstractmethod
    def _copy(self) -> Copy:
        """Read the copy."""

    def check(self) -> None:
        """Read the copy."""
        self._copy()

    def documents(self) -> Sequence[Document]:
        """List the documents."""
        return self._copy().documents

    def questions(self) -> Sequence[Question]:
        """List the questions, in the order of their files."""
        return self._copy().questions

    def origin(self, question: Question) -> str:
        """Name the file, and the line or entry, of a question."""
        return self._copy().places.get(question.id, "")

    def notes(self) -> Sequence[str]:
        """List what looks wrong, or is left out."""
        return self._copy().notes


def only_mean(parts: Any, counts: Any) -> Any:  # noqa: ARG001 # an aggregate's signature
    """Return the only mean."""
    return parts[0]


_LONGEST = 200
"""Bytes of a folder's or a file's name, which has 255 with what is put around it."""


def refuse_name(name: str, where: str, what: str) -> None:
    """Refuse a path of a copy that files cannot be named by, or that leads out of their folder.

    Args:
        where: file and entry.
        what: of which the path is.

    Raises:
        DataError: it is such a path.
    """
    parts = name.split("/")
    if any(part.strip() in ("", ".", "..") or len(part.encode()) > _LONGEST for part in parts) or not is_writable(name):
        wanted = f"a path inside of the copy, of names up to {_LONGEST} bytes"
        raise DataError(f"{where}: {what} must be {wanted} (got {quoted(name)})")
