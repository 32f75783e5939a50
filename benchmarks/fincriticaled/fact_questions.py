"""The questions of a data set: one for each fact, and one for each page, from which the facts of a page are scored."""

from collections.abc import Iterator, Sequence

from ohr.contracts import Question

from .facts import Fact, read_facts
from .occurrences import as_seen
from .release_files import GoldPage
from .totals import PUBLISHED_INDICES

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
