"""How many pages and facts a copy has, beside the published numbers."""

from collections import Counter
from collections.abc import Iterator

from ohr.contracts import Tally

from .facts import TYPES, read_facts
from .release_files import DataSet

FACTS = {
    "Number": 2930,
    "Temporal": 1144,
    "Monetary Unit": 881,
    "Reporting Entity": 3142,
    "Financial Concepts": 1384,
}
"""Facts of 859 pages by type (project's page and README, commit b291e71)."""

DOCUMENT_TYPES = {"legal": 637, "sec_filings": 142, "statements": 44, "transaction_records": 25, "tax_forms": 11}
"""Pages by the type of their document (project's page)."""

PAGES, OLDER_PAGES, OLDER_FACTS = 859, 500, 739
"""The older numbers are those of the first version of the paper (arXiv:2511.14998v1), which has two types of facts."""


def tallies(data: DataSet) -> Iterator[Tally]:
    """Yield the counts of a copy: pages, facts by type, pages by type of document where the table names it."""
    facts = Counter(fact.type for page in data.pages for fact in read_facts(page.tagged))
    if data.version == "500":
        yield Tally("pages (arXiv v1)", len(data.pages), OLDER_PAGES)
        yield Tally("facts (arXiv v1)", facts.total(), OLDER_FACTS)
        return
    yield Tally("pages", len(data.pages), PAGES)
    yield Tally("facts", facts.total(), sum(FACTS.values()))
    for name in TYPES.values():
        yield Tally(f"facts: {name}", facts[name], FACTS[name])
    kinds = Counter(page.kind for page in data.pages)
    for kind, pages in DOCUMENT_TYPES.items():
        yield Tally(f"pages: {kind}", kinds[kind] if any(kinds) else None, pages)
