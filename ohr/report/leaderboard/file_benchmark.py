"""A file of answers as its own benchmark: its questions, accepted answers and reference contexts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Self

from ohr.contracts import Benchmark, Document, Image, Page, Question
from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import AnswerRow
from ohr.messages.wording import counted, named

FILE = "file"
"""Its kind."""
_SOURCE = "unknown"
"""The evidence source of its questions: a file does not say what their evidence is."""


class FileBenchmark(Benchmark, kind=FILE):
    """The questions of a file; it has no documents to look at, only the passages that should have been retrieved."""

    asked: tuple[Question, ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[AnswerRow]) -> Self:
        """Take the questions of rows; a row without an id has its number, and equal questions share a document.

        Raises:
            DataError: two rows have one id.
        """
        names = ids_of(rows)
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise DataError(f"{counted(len(twice), 'id')} of more than one row: {named(twice)}")
        questions = [_question(row, name) for row, name in zip(rows, names, strict=True)]
        without = sum(not row.document for row in rows)
        texts = Counter(folded(row.question) for row in rows if row.question and not row.document)
        remarks = [
            (without, f"no document is named for {counted(without, 'question')}: each counts as a document of its own"),
            (
                repeated := sum(count for count in texts.values() if count > 1),
                f"{counted(repeated, 'row')} ask what another row asks: equal questions count as one document",
            ),
            (
                bare := sum(not row.references for row in rows),
                f"{counted(bare, 'question')} without an accepted answer, and so without a score",
            ),
        ]
        return cls(asked=tuple(questions), remarks=tuple(text for count, text in remarks if count))

    def documents(self) -> Sequence[Document]:
        """List what the questions are about."""
        places = {question.document: question.domain for question in self.asked}
        return [Document(name, domain, "", 0) for name, domain in places.items()]

    def pages(self, document: Document) -> Sequence[Page]:  # noqa: ARG002
        """There is no text of any document."""
        return ()

    def page_image(self, document: Document, index: int) -> Image:
        """There is no image."""
        raise DataError(f"{document.name}: a file of answers has no page {index}")

    def questions(self) -> Sequence[Question]:
        """List the questions."""
        return self.asked

    def fingerprint(self, document: Document, *, images: bool) -> str:  # noqa: ARG002
        """Nothing is made from the documents."""
        return document.name

    def notes(self) -> Sequence[str]:
        """Return which questions share a document, and which have no accepted answer."""
        return self.remarks

    def passages(self) -> Mapping[str, Sequence[Page]]:
        """The passages that should have been retrieved, by document: what floors are drawn from."""
        found: dict[str, list[Page]] = {}
        for question in self.asked:
            pages = found.setdefault(question.document, [])
            pages += [Page(question.document, len(pages) + place, text) for place, text in enumerate(question.evidence)]
        return found


def ids_of(rows: Sequence[AnswerRow]) -> list[str]:
    """Name the question of each row: its id, or the number of the row."""
    return [row.id or f"row {number}" for number, row in enumerate(rows, 1)]


def folded(text: str) -> str:
    """Return a text as texts of questions are compared: without regard to case and white space."""
    return " ".join(text.casefold().split())


def _question(row: AnswerRow, name: str) -> Question:
    document = row.document or f"question: {folded(row.question) or name}"
    domain = row.document.split("/")[0] if "/" in row.document else ""
    pages = tuple(range(len(row.evidence)))
    return Question(name, row.question, row.references, document, pages, row.evidence, _SOURCE, domain)
