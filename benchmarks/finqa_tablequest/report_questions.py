"""Questions of finqa-tablequest-bench, and the reports that they are about, with the pages that were sampled.

`qa_pairs/{easy,medium,hard}.json` are lists of questions with `image`, `difficulty`, `question`, `answer`, `cot` (null
for easy), `table_loc`, `report_type` and `page_number`. Pages are `sampled_pages/{level}/{document}_p{number}.png`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from ohr.benchmarks.tablequest.context_questions import Level, level_of, require
from ohr.contracts import Document, Question
from ohr.errors import DataError
from ohr.files.changes import State, state_of
from ohr.files.json_input import read_records
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import quoted, shortened

from ..copies import Copy
from ..tablequest.figures import figures

REPORT_TYPES = ("10K", "10Q", "8K", "EARNINGS")
PUBLISHED = {"easy": 58, "medium": 53, "hard": 58}
"""Numbers of questions of the release."""
_PAGE = re.compile(r"(?P<document>.+)_p(?P<number>[0-9]{1,6})\.png")
_DATED = re.compile(r"dated-[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class FinqaQuestion:
    """One question about one page.

    Args:
        id: level and running number, such as `easy-7`; the release has none.
        document: its name, such as `HARROW_2022_10K`.
        page_number: of the page in its report, from 1.
        image: path of the page's image, below the benchmark's folder.
        report_type: as in the file; for a report of form 8-K, the release has its date there.
        where: file and entry, for messages.
    """

    id: str
    level: Level
    document: str
    page_number: int
    image: str
    question: str
    answer: str
    report_type: str
    where: str

    @property
    def form(self) -> str:
        """The form of its report, repaired: `8K` where the release has a date."""
        return "8K" if _DATED.fullmatch(self.report_type) else self.report_type


def read_questions(root: Path) -> list[FinqaQuestion]:
    """Read the questions of all levels, in the order of the release.

    Raises:
        DataError: a file cannot be read, or a question lacks a part or has a wrong one. The message names the file and
            the entry.
    """
    return [question for level in get_args(Level) for question in _level(root / "qa_pairs" / f"{level}.json", level)]


def notes(questions: Sequence[FinqaQuestion]) -> list[str]:
    """Describe what looks wrong in the questions: dates for forms, gold answers without a word, equal questions."""
    texts = Counter(question.question for question in questions)
    return sentences(fault for question in questions for fault in _faults(question, texts))


def _level(path: Path, level: Level) -> Iterator[FinqaQuestion]:
    for number, (where, record) in enumerate(read_records(path), start=1):
        require(where, record, ("image", "question", "answer", "table_loc", "report_type"))
        if (given := level_of(where, record)) != level:
            raise DataError(f"{where}: difficulty is {given} in the file of {level} questions")
        document, page_number = _page(where, record)
        if not isinstance(steps := record.get("cot"), str | None):
            raise DataError(f"{where}: cot must be text or null (got {quoted(steps)})")
        yield FinqaQuestion(
            id=f"{level}-{number}",
            level=level,
            document=document,
            page_number=page_number,
            image=f"sampled_pages/{level}/{document}_p{page_number}.png",
            question=record["question"],
            answer=record["answer"],
            report_type=record["report_type"],
            where=where,
        )


def _page(where: str, record: Mapping[str, Any]) -> tuple[str, int]:
    name = record["image"].rpartition("/")[2]
    named = _PAGE.fullmatch(name)
    if named is None:
        raise DataError(f"{where}: image must be named DOCUMENT_pNUMBER.png (got {quoted(record['image'])})")
    number = _number(where, record.get("page_number"))
    if number != int(named["number"]):
        raise DataError(f"{where}: page_number is {number} and the image is {shortened(name)}")
    return named["document"], number


def _number(where: str, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise DataError(f"{where}: a page number must be a whole number from 1 (got {quoted(given)})")
    return given


def _faults(question: FinqaQuestion, texts: Mapping[str, int]) -> Iterator[Fault]:
    if question.form != question.report_type:
        yield Fault("question", "with the date of its report as report_type, read as 8K", question.id)
    elif question.form not in REPORT_TYPES:
        yield Fault("question", "with an unknown report_type", question.id)
    if not any(map(str.isalnum, question.answer)):
        yield Fault("question", "whose gold answer has no word, scored as it is", question.id)
    if texts[question.question] > 1:
        yield Fault("question", "with the text of another, one query with it under reference", question.id)


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
    questions = tuple(_question(each, names[each.document]) for each in read)
    documents = tuple(Document(each.name, each.domain, "en", len(each.pages)) for each in reports.values())
    return Reports(documents, questions, {each.id: each.where for each in read}, tuple(notes(read)), reports, read)


def _reports(read: tuple[FinqaQuestion, ...]) -> Iterator[Report]:
    """Yield the reports; the form of one is that of its first question."""
    for document in dict.fromkeys(question.document for question in read):
        mine = [question for question in read if question.document == document]
        images: dict[int, dict[str, None]] = {}
        for question in mine:
            images.setdefault(question.page_number, {})[question.image] = None
        yield Report(f"{mine[0].form}/{document}", tuple((number, tuple(images[number])) for number in sorted(images)))


def _question(read: FinqaQuestion, report: Report) -> Question:
    place = [number for number, _ in report.pages].index(read.page_number)
    # the figure of an easy answer is a cell of the page; others may be computed, and no text says which
    facts = (figure.digits for figure in figures(read.answer)) if read.level == "easy" else ()
    return Question(
        id=read.id,
        text=read.question,
        answers=(read.answer,),
        document=report.name,
        pages=(place,),
        evidence=(),
        evidence_source="table",
        domain=report.domain,
        task_type="understanding" if read.level == "easy" else "reasoning",
        places=((report.name, place),),
        facts=tuple(dict.fromkeys(facts)),
        groups=(("level", read.level),),
    )


def merged(questions: tuple[Question, ...]) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Return the texts of several questions with the pages of all of them: one query each in the published code."""
    pages: dict[str, dict[tuple[str, int], None]] = {}
    for question in questions:
        pages.setdefault(question.text, {})[question.document, question.pages[0]] = None
    return tuple((text, tuple(places)) for text, places in pages.items() if len(places) > 1)


def misplaced(questions: Sequence[FinqaQuestion]) -> list[str]:
    """List the questions for which the published generator reads the pages of another one, or none.

    It takes the query with the question's number, which is another question's after a merge. For the last ones there is
    no query, and the published code answers "No retrieved context available".
    """
    merged: dict[str, list[str]] = {}
    for question in questions:
        merged.setdefault(question.question, []).append(question.id)
    queries = list(merged.values())
    return [q.id for place, q in enumerate(questions) if place >= len(queries) or q.id not in queries[place]]
