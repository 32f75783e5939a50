"""Benchmarks that read a copy of their data as a whole."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.contracts import Document, PublishedBenchmark, Question


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
