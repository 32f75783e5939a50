"""Statistics of pages, made when somebody asks: distances from the ground truth, formatting commands, faulty blocks.

A run writes them as a table where its spec has `measure: [dose, pages]`. For other runs they are made from the texts of
the run, and kept in its store by the content of the two pages: equal pages are measured once, whatever run they are of.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohr.contracts import Page, PageId
from ohr.errors import DataError, OhrError, StoreError
from ohr.files.changes import kept_until_changed
from ohr.keys import key
from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS
from ohr.metrics.realism import see
from ohr.noise_files.workers import each, workers
from ohr.results.run import Run
from ohr.results.tables.read_table import plain
from ohr.results.tables.schema import STATISTICS
from ohr.results.tables.table_files import Tables
from ohr.store import Store, open_store
from ohr.work.shapes import read_sound

if TYPE_CHECKING:
    import pyarrow

_VERSION = 1
"""Raised when a statistic changes, so that no older one is found in a store."""
_AT_ONCE = 64  # pages of one turn: few enough to hold, enough to save round trips to a store
_MANY = 500
"""Pages from which processes save more time than it takes to start them."""

Pair = tuple[str, str]
"""The text of a page in the ground truth, and in a knowledge base."""
Texts = Mapping[PageId, str]


class NothingToCompare(DataError):
    """The run has no clean pages, which others are compared with."""


def page_statistics(run: Run) -> "pyarrow.Table":
    """Return the statistics of each page of a run: those that the run made, or else they are made now.

    Raises:
        NothingToCompare: the run has no clean pages.
        DataError: the run has no texts; a table is missing or damaged.
    """
    if not run.table("pages", ["kb"]).num_rows:
        raise NothingToCompare(f"{run.folder}: the benchmark has no ground truth, which pages are compared with")
    return run.table(STATISTICS) if was_measured(run) else _made_now(run.path("texts"))


@kept_until_changed(most=1)
def _made_now(texts: Path) -> "pyarrow.Table":
    """Make the statistics of a run's pages; several analyses ask for them in succession."""
    import pyarrow

    run = Run(texts.parent)
    columns = list(_columns(run, _clean_texts(run), _store(run)))
    held = {name: [value for some in columns for value in some[name]] for name in (columns[0] if columns else _NAMES)}
    return pyarrow.table(held)


def was_measured(run: Run) -> bool:
    """Report whether a run has made the statistics of its pages."""
    return run.has(STATISTICS)


def write_statistics(folder: Path, truth: Mapping[str, Sequence[Page]], store: Store) -> int:
    """Write the statistics of a run's pages as a table; its measured tables are there. Return how many rows it has.

    Args:
        folder: of the run.
        truth: the ground truth's pages by document.
        store: keeps the statistics for other runs.

    Raises:
        DataError: a table cannot be read or written.
    """
    texts = {(page.document, page.index): page.text for pages in truth.values() for page in pages}
    run = Run(folder)
    with Tables(folder, (STATISTICS,)) as tables:
        for columns in _columns(run, texts, store):
            tables.append(STATISTICS, columns)
    return int(run.table(STATISTICS, ["kb"]).num_rows)


_NAMES = (
    *("kb", "document", "page", "edit_distance", "edit_distance_content", "redundant"),
    *(*(f"commands_{kind}" for kind in KINDS), *COUNTS),
)


def _columns(run: Run, truth: Texts, store: Store | None) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of one knowledge base after the other, in the order of the table of pages."""
    pages = plain(run.table("pages", ["kb", "document", "page", "empty"])).to_pylist()
    for kb in dict.fromkeys(row["kb"] for row in pages):
        texts = _texts(run, kb)
        mine = {(row["document"], row["page"]): row["empty"] for row in pages if row["kb"] == kb}
        if absent := next((place for place in mine if place not in truth), None):
            raise DataError(f"{run.folder}: has no clean text of {absent[0]} page {absent[1] + 1}; {_AGAIN}")
        if lost := next((p for p, empty in mine.items() if p not in texts and truth[p].strip() and not empty), None):
            raise DataError(f"{run.path('texts')}: has no text of {lost[0]} page {lost[1] + 1} in {kb}; run it again")
        pairs = [(truth[place], texts.get(place, "")) for place in mine]
        found = _measured(list(dict.fromkeys(pairs)), store)
        rows = [(kb, *place, *found[pair]) for place, pair in zip(mine, pairs, strict=True)]
        yield dict(zip(_NAMES, map(list, zip(*rows, strict=True)), strict=True))


def _measured(pairs: Sequence[Pair], store: Store | None) -> dict[Pair, Sequence[float]]:
    """Measure some different pairs of pages, those that the store lacks in processes where there are many."""
    keys = {pair: key("page statistics", _VERSION, *pair) for pair in pairs}
    kept = read_sound(store, keys.values(), "page statistics") if store else {}
    left = [pair for pair in pairs if keys[pair] not in kept]
    count = (os.cpu_count() or 1) if len(left) >= _MANY else 1
    with workers(count) as executor:
        for some, made in zip(_turns(left), each(executor, _measure, _turns(left), count), strict=True):
            new = {keys[pair]: statistics for pair, statistics in zip(some, made, strict=True)}
            kept |= new
            with suppress(StoreError):  # a store that can only be read is good for reading
                if store:
                    store.put_many(new)
    return {pair: kept[name] for pair, name in keys.items()}


def _turns(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    left = iter(pairs)
    while some := list(islice(left, _AT_ONCE)):
        yield some


def _measure(pairs: Sequence[Pair]) -> list[list[float]]:
    """Measure some pages: the values of the columns after the page's number."""
    made = []
    for truth, text in pairs:
        page = see(Page("", 0, truth), Page("", 0, text), (), {})
        counts = [*(page.commands.get(kind, 0) for kind in KINDS), *(page.blocks.get(count, 0) for count in COUNTS)]
        made.append([page.dose.edit_distance, page.dose.edit_distance_content, page.redundant, *counts])
    return made


_AGAIN = "add `measure: [dose, pages]` to its spec and run it again"


def _clean_texts(run: Run) -> Texts:
    """Return the texts of the knowledge base that is the ground truth."""
    bases = run.table("pages", ["kb"], noise_type="none")["kb"].unique().to_pylist()
    if not bases:
        raise NothingToCompare(
            f"{run.folder}: has no knowledge base without noise, which pages are compared with; {_AGAIN}"
        )
    return _texts(run, bases[0])


def _texts(run: Run, kb: str) -> Texts:
    """Read the texts of a knowledge base; a page that failed is empty."""
    table = plain(run.table("texts", ["document", "page", "text", "error"], kb=kb)).to_pydict()
    columns = (table[name] for name in ("document", "page", "text", "error"))
    return {(name, page): text if error is None else "" for name, page, text, error in zip(*columns, strict=True)}


def _store(run: Run) -> Store | None:
    """Open the store that a run has used, if it is still there."""
    with suppress(OhrError):
        store = open_store(run.store)
        return store if run.store and store.exists() else None
    return None
