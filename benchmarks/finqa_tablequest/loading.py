"""The questions of finqa-tablequest-bench as ohr's: by report, with the pages that were sampled from it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import get_args

from ohr.benchmarks.tablequest.question_files import Level
from ohr.contracts import Document, Question
from ohr.files.changes import State, state_of

from ..copies import Copy
from ..tablequest.figures import figures
from .question_files import FinqaQuestion, notes, read_questions

SAMPLE = Path(__file__).parent / "sample"


@dataclass(frozen=True, slots=True)
class Report:
    """A document: the sampled pages of one report, in the order of their numbers.

    Args:
        name: form and name of the report.
        pages: for each page its number in the report, and the paths of its image below the benchmark's folder, one for
            each level that has it.
    """

    name: str
    pages: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def domain(self) -> str:
        """The form of the report."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Reports(Copy):
    """The content of a folder.

    Args:
        reports: by name, in the order of their first questions, as their documents are.
    """

    reports: Mapping[str, Report]
    read: tuple[FinqaQuestion, ...]


def load(root: Path | str) -> Reports:
    """Read a folder; one whose questions did not change is read once.

    Raises:
        DataError: as for `read_questions`.
    """
    folder = SAMPLE if root == "sample" else Path(root)
    return _load(folder, state_of(*(folder / "qa_pairs" / f"{level}.json" for level in get_args(Level))))


@lru_cache(maxsize=4)
def _load(folder: Path, state: State) -> Reports:  # noqa: ARG001 # a key of the cache
    read = tuple(read_questions(folder))
    reports = {report.name: report for report in _reports(read)}
    names = {report.name.partition("/")[2]: report for report in reports.values()}
    questions = tuple(_question(one, names[one.document]) for one in read)
    documents = tuple(Document(one.name, one.domain, "en", len(one.pages)) for one in reports.values())
    return Reports(documents, questions, {one.id: one.where for one in read}, tuple(notes(read)), reports, read)


def _reports(read: tuple[FinqaQuestion, ...]) -> Iterator[Report]:
    """Yield the reports; the form of one is that of its first question."""
    for document in dict.fromkeys(one.document for one in read):
        mine = [one for one in read if one.document == document]
        images: dict[int, dict[str, None]] = {}
        for one in mine:
            images.setdefault(one.page_number, {})[one.image] = None
        yield Report(f"{mine[0].form}/{document}", tuple((number, tuple(images[number])) for number in sorted(images)))


def _question(one: FinqaQuestion, report: Report) -> Question:
    place = [number for number, _ in report.pages].index(one.page_number)
    # the figure of an easy answer is a cell of the page; others may be computed, and no text says which
    facts = (figure.digits for figure in figures(one.answer)) if one.level == "easy" else ()
    return Question(
        id=one.id,
        text=one.question,
        answers=(one.answer,),
        document=report.name,
        pages=(place,),
        evidence=(),
        evidence_source="table",
        domain=report.domain,
        task_type="understanding" if one.level == "easy" else "reasoning",
        places=((report.name, place),),
        facts=tuple(dict.fromkeys(facts)),
        groups=(("level", one.level),),
    )


def merged(questions: tuple[Question, ...]) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Return the texts of several questions with the pages of all of them: one query each in the published code."""
    pages: dict[str, dict[tuple[str, int], None]] = {}
    for question in questions:
        pages.setdefault(question.text, {})[question.document, question.pages[0]] = None
    return tuple((text, tuple(found)) for text, found in pages.items() if len(found) > 1)
