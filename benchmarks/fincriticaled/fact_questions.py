"""A copy of the data as documents and questions: one for each fact, and one for each page, with which facts are scored.

What is read is kept until its files change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
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
DOMAIN = "filings"
"""Domain of pages of which the table does not say the type."""


def domain_of(page: GoldPage) -> str:
    """Return the type of the page's document."""
    return page.kind or DOMAIN


def name_of(page: GoldPage) -> str:
    """Return the name of the document that a page is."""
    return f"{domain_of(page)}/{page.index}"


def questions_of(page: GoldPage, *, as_published: bool) -> Iterator[tuple[Question, int]]:
    """Yield the question of a page and those of its facts; each with its line, in the table or in the gold file.

    Args:
        page: with its facts.
        as_published: the published loop over facts leaves out the last of 859 pages, and finds values as they are
            written, not as they are seen.
    """
    yield _of_page(page), page.row.line
    if not as_published or page.index in PUBLISHED_INDICES:
        for number, fact in enumerate(read_facts(page.tagged)):
            yield _of_fact(page, number, fact, as_published), fact.line


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
        document=name_of(page),
        pages=(0,),
        evidence=(),
        evidence_source="text",
        domain=domain_of(page),
        asked=False,
    )


def _of_fact(page: GoldPage, number: int, fact: Fact, as_published: bool) -> Question:
    return Question(
        id=f"{page.index}-{number}",
        text=f"{fact.type}: {fact.hint}",
        answers=(fact.value,),
        document=name_of(page),
        pages=(0,),
        evidence=(fact.passage,),
        evidence_source="table" if fact.in_table else "text",
        domain=domain_of(page),
        facts=(fact.value if as_published else as_seen(fact),),
        groups=(("type", fact.type),),
    )


@dataclass(frozen=True)
class Pages:
    """The pages of a data set, by what they are known by."""

    data: DataSet

    @cached_property
    def by_name(self) -> Mapping[str, GoldPage]:
        """The pages by the name of their document."""
        return {name_of(page): page for page in self.data.pages}

    @cached_property
    def names(self) -> Mapping[int, str]:
        """The names of documents by the page's index."""
        return {page.index: name_of(page) for page in self.data.pages}


def pages_of(root: Path | str) -> Pages:
    """Return the pages of a folder; for what asks for each page, only the table and the list of gold files are watched.

    Raises:
        DataError: as `read_data_set`.
    """
    folder = _folder(root)
    table = find_table(folder)
    return _pages(folder, state_of(table, gold_folder(table)))


def load(root: Path | str, *, as_published: bool) -> Copy:
    """Return documents and questions of a folder; one of whose files has changed is read again.

    Raises:
        DataError: as `read_data_set`.
    """
    folder = _folder(root)
    table = find_table(folder)
    return _copy(folder, state_of(table, *exports(folder), *sorted(gold_folder(table).iterdir())), as_published)


@lru_cache(maxsize=4)
def _pages(folder: Path, state: State) -> Pages:  # noqa: ARG001 # a key of the cache
    return Pages(read_data_set(folder))


@lru_cache(maxsize=4)
def _copy(folder: Path, state: State, as_published: bool) -> Copy:  # noqa: ARG001 # a key of the cache
    data = read_data_set(folder)
    gold = gold_folder(data.table.path)
    asked: dict[str, tuple[Question, str]] = {}
    for page in data.pages:
        for question, line in questions_of(page, as_published=as_published):
            file = gold / page.file if question.asked else data.table.path
            asked[question.id] = question, f"{file}:{line}"
    return Copy(
        documents=tuple(Document(name_of(page), domain_of(page), "en", 1) for page in data.pages),
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
