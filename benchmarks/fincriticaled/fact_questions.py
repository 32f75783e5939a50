"""A copy of the data as documents and questions: one for each fact, and one for each page, with which facts are scored.

What is read is kept until its files change.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from ohr.contracts import Document, Question
from ohr.files.changes import State, state_of
from ohr.messages.faults import sentences

from ..copies import Copy
from .annotations import agreement_note, exports
from .facts import Fact, read_facts
from .matching import as_seen
from .release_files import DataSet, GoldPage, find_table, gold_folder, read_data_set

SAMPLE = Path(__file__).parent / "sample"
PUBLISHED_INDICES = range(858)
"""Pages that the published loop scores: it leaves out the last of 859."""


def gold_of(questions: Sequence[Question]) -> str | None:
    """Return the page with its facts tagged, which the page's own question has; None where that is not among these."""
    return next((one.answers[0] for one in questions if not one.asked and one.answers), None)


def number_of(question: Question) -> int | None:
    """Return the place of a fact among those of its page; None for another question."""
    page, _, number = question.id.rpartition("-")
    return int(number) if page and number.isdecimal() else None


def _of_page(page: GoldPage) -> Question:
    return Question(
        id=str(page.index),
        text="all facts of the page",
        answers=(page.tagged,),
        document=page.name,
        pages=(0,),
        evidence=(),
        evidence_source="text",
        domain=page.domain,
        asked=False,
    )


def _of_fact(page: GoldPage, number: int, fact: Fact, as_published: bool) -> Question:
    return Question(
        id=f"{page.index}-{number}",
        text=f"{fact.type}: {fact.hint}",
        answers=(fact.value,),
        document=page.name,
        pages=(0,),
        evidence=(fact.passage,),
        evidence_source="table" if fact.in_table else "text",
        domain=page.domain,
        facts=(fact.value if as_published else as_seen(fact),),
        groups=(("type", fact.type),),
    )


def pages_of(root: Path | str) -> DataSet:
    """Read the pages of a folder; for what asks for each page, only the table and the list of gold files are watched.

    Raises:
        DataError: as `read_data_set`.
    """
    folder = _folder(root)
    table = find_table(folder)
    return _data(folder, state_of(table, gold_folder(table)))


def load(root: Path | str, *, as_published: bool) -> Copy:
    """Return documents and questions of a folder; one of whose files has changed is read again.

    Raises:
        DataError: as `read_data_set`.
    """
    folder = _folder(root)
    table = find_table(folder)
    return _copy(folder, state_of(table, *exports(folder), *sorted(gold_folder(table).iterdir())), as_published)


@lru_cache(maxsize=4)
def _data(folder: Path, state: State) -> DataSet:  # noqa: ARG001 # a key of the cache
    return read_data_set(folder)


@lru_cache(maxsize=4)
def _copy(folder: Path, state: State, as_published: bool) -> Copy:  # noqa: ARG001 # a key of the cache
    data = read_data_set(folder)
    gold = gold_folder(data.table.path)
    asked: dict[str, tuple[Question, str]] = {}
    for page in data.pages:
        asked[str(page.index)] = _of_page(page), f"{data.table.path}:{page.row.line}"
        # the published loop over facts leaves out the last of 859 pages
        facts = read_facts(page.tagged) if not as_published or page.index in PUBLISHED_INDICES else ()
        for number, fact in enumerate(facts):
            question = _of_fact(page, number, fact, as_published)
            asked[question.id] = question, f"{gold / page.file}:{fact.line}"
    return Copy(
        documents=tuple(Document(page.name, page.domain, "en", 1) for page in data.pages),
        questions=tuple(question for question, _ in asked.values()),
        places={name: place for name, (_, place) in asked.items()},
        notes=tuple(_notes(folder, data, as_published)),
    )


def _notes(folder: Path, data: DataSet, as_published: bool) -> Iterator[str]:
    yield from sentences(data.faults)
    last = [page.index for page in data.pages if page.index not in PUBLISHED_INDICES]
    if as_published and last:
        yield f"the facts of page {last[0]} are left out: the published loop ends at page {PUBLISHED_INDICES[-1]}"
    for path in exports(folder):
        yield from agreement_note(path)


def _folder(root: Path | str) -> Path:
    return SAMPLE if root == "sample" else Path(root)
