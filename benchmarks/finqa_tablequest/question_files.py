"""Questions of finqa-tablequest-bench, read from its layout.

`qa_pairs/{easy,medium,hard}.json` are lists of questions with `image`, `difficulty`, `question`, `answer`, `cot` (null
for easy), `table_loc`, `report_type` and `page_number`. Pages are `sampled_pages/{level}/{document}_p{number}.png`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ohr.benchmarks.tablequest.question_files import Level, level_of, require
from ohr.errors import DataError
from ohr.files.json_input import read_records
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import quoted, shortened

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
        steps: the reference reasoning; empty for easy questions.
        table: words that say where on the page the table is.
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
    steps: str
    table: str
    report_type: str
    where: str

    @property
    def page(self) -> str:
        """Name of its page, without folder and ending."""
        return f"{self.document}_p{self.page_number}"

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
        yield FinqaQuestion(
            id=f"{level}-{number}",
            level=level,
            document=document,
            page_number=page_number,
            image=f"sampled_pages/{level}/{document}_p{page_number}.png",
            question=record["question"],
            answer=record["answer"],
            steps=_steps(where, record),
            table=record["table_loc"],
            report_type=record["report_type"],
            where=where,
        )


def _page(where: str, record: Mapping[str, Any]) -> tuple[str, int]:
    name = record["image"].rpartition("/")[2]
    found = _PAGE.fullmatch(name)
    if found is None:
        raise DataError(f"{where}: image must be named DOCUMENT_pNUMBER.png (got {quoted(record['image'])})")
    number = _number(where, record.get("page_number"))
    if number != int(found["number"]):
        raise DataError(f"{where}: page_number is {number} and the image is {shortened(name)}")
    return found["document"], number


def _number(where: str, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise DataError(f"{where}: a page number must be a whole number from 1 (got {quoted(given)})")
    return given


def _steps(where: str, record: Mapping[str, Any]) -> str:
    given = record.get("cot")
    if given is not None and not isinstance(given, str):
        raise DataError(f"{where}: cot must be text or null (got {quoted(given)})")
    return given or ""


def _faults(question: FinqaQuestion, texts: Mapping[str, int]) -> Iterator[Fault]:
    if question.form != question.report_type:
        yield Fault("question", "with the date of its report as report_type, read as 8K", question.id)
    elif question.form not in REPORT_TYPES:
        yield Fault("question", "with an unknown report_type", question.id)
    if not any(map(str.isalnum, question.answer)):
        yield Fault("question", "whose gold answer has no word, scored as it is", question.id)
    if texts[question.question] > 1:
        yield Fault("question", "with the text of another, one query with it under reference", question.id)
