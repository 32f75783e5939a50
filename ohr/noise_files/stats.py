"""Statistics of noise and of pages, read from a run's rows or from folders in OHRBench's layout."""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ohr.contracts import SOURCES, Page, PageId, Question
from ohr.errors import DataError, OhrError, StoreError
from ohr.files import documents, ohrbench_questions
from ohr.files.changes import kept_until_changed
from ohr.keys import key
from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS
from ohr.metrics.dose import (
    PAGE_PARTS,
    QUESTION_PARTS,
    Dose,
    Floats,
    QuestionDose,
    aggregated,
    by_page,
    mean_dose,
    question_dose,
)
from ohr.metrics.realism import SeenPage, Stats, gather, see, stats
from ohr.metrics.trust import COUNTS as TRUST
from ohr.metrics.trust import page_trust
from ohr.noise_files.workers import each, workers
from ohr.results.run import Run
from ohr.results.score_arrays import Questions, ScoreTable
from ohr.results.tables.groups import ALL
from ohr.results.tables.read_table import plain
from ohr.results.tables.schema import STATISTICS
from ohr.results.tables.table_files import Tables
from ohr.store import Store, open_store
from ohr.work.shapes import read_sound

if TYPE_CHECKING:
    import pyarrow

_VERSION = 4
"""Raised when a statistic changes, so that no older one is found in a store."""
_AT_ONCE = 64  # pages of one turn: few enough to hold, enough to save round trips to a store
_MANY = 500
"""Pages from which processes save more time than it takes to start them."""

Pair = tuple[str, str, str]
"""The text of a page in the ground truth, and in a knowledge base; the name of its document."""
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
    held = {
        name: [value for column in columns for value in column[name]] for name in (columns[0] if columns else _NAMES)
    }
    return pyarrow.table(held)


def was_measured(run: Run) -> bool:
    """Report whether a run has made the statistics of its pages, all of them: earlier versions made fewer."""
    from pyarrow import parquet

    return run.has(STATISTICS) and set(_NAMES) <= set(parquet.read_schema(run.path(STATISTICS)).names)


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
    *(*(f"commands_{kind}" for kind in KINDS), *COUNTS, *TRUST),
)


def _columns(run: Run, truth: Texts, store: Store | None) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of one knowledge base after the other, in the order of the table of pages."""
    pages = plain(run.table("pages", ["kb", "document", "page", "empty"])).to_pylist()
    documents: dict[str, list[str]] = defaultdict(list)
    for (document, _), text in truth.items():
        documents[document].append(text)
    for kb in dict.fromkeys(row["kb"] for row in pages):
        texts = _texts_of_run(run, kb)
        mine = {(row["document"], row["page"]): row["empty"] for row in pages if row["kb"] == kb}
        if absent := next((place for place in mine if place not in truth), None):
            raise DataError(f"{run.folder}: has no clean text of {absent[0]} page {absent[1] + 1}; {_AGAIN}")
        if lost := next((p for p, empty in mine.items() if p not in texts and truth[p].strip() and not empty), None):
            raise DataError(f"{run.path('texts')}: has no text of {lost[0]} page {lost[1] + 1} in {kb}; run it again")
        pairs = [(truth[place], texts.get(place, ""), place[0]) for place in mine]
        measured = _measured_pairs(list(dict.fromkeys(pairs)), documents, store)
        rows = [(kb, *place, *measured[pair]) for place, pair in zip(mine, pairs, strict=True)]
        yield dict(zip(_NAMES, map(list, zip(*rows, strict=True)), strict=True))


def _measured_pairs(
    pairs: Sequence[Pair], documents: Mapping[str, Sequence[str]], store: Store | None
) -> dict[Pair, Sequence[float]]:
    """Measure different pairs of pages, those that the store lacks in processes where there are many.

    Args:
        documents: the texts of all pages in the ground truth, by document.
    """
    texts = {name: tuple(pages) for name, pages in documents.items()}
    names = {name: key("document", *pages) for name, pages in texts.items()}
    keys = {pair: key("page statistics", _VERSION, *pair[:2], names[pair[2]]) for pair in pairs}
    known = read_sound(store, keys.values(), "page statistics") if store else {}
    left = [pair for pair in pairs if keys[pair] not in known]
    count = (os.cpu_count() or 1) if len(left) >= _MANY else 1
    with workers(count) as executor:
        work = ([(truth, text, texts[name]) for truth, text, name in turn] for turn in _turns(left))
        for turn, rows in zip(_turns(left), each(executor, _measure, work, count), strict=True):
            new = {keys[pair]: statistics for pair, statistics in zip(turn, rows, strict=True)}
            known |= new
            with suppress(StoreError):  # a store that can only be read is good for reading
                if store:
                    store.put_many(new)
    return {pair: known[name] for pair, name in keys.items()}


def _turns(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    left = iter(pairs)
    while turn := list(islice(left, _AT_ONCE)):
        yield turn


def _measure(pages: Sequence[tuple[str, str, tuple[str, ...]]]) -> list[list[float]]:
    """Measure some pages, each with its document's: the values of the columns after the page's number."""
    rows = []
    for truth, text, document in pages:
        page = see(Page("", 0, truth), Page("", 0, text), (), {})
        counts = [*(page.commands.get(kind, 0) for kind in KINDS), *(page.blocks.get(count, 0) for count in COUNTS)]
        distances = (page.dose.edit_distance, page.dose.edit_distance_content)
        rows.append([*distances, page.redundant, *counts, *page_trust(text, truth, document)])
    return rows


_AGAIN = "add `measure: [dose, pages]` to its spec and run it again"


def _clean_texts(run: Run) -> Texts:
    """Return the texts of the knowledge base that is the ground truth."""
    bases = run.table("pages", ["kb"], noise_type="none")["kb"].unique().to_pylist()
    if not bases:
        raise NothingToCompare(
            f"{run.folder}: has no knowledge base without noise, which pages are compared with; {_AGAIN}"
        )
    return _texts_of_run(run, bases[0])


def _texts_of_run(run: Run, kb: str) -> Texts:
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


if TYPE_CHECKING:
    import pyarrow

_QUESTION_FILES = ("qas_v2.json", "qas.json")


def of_run(run: Run) -> list[Stats]:
    """Return the statistics of each level of a run: doses are means of its replicates' doses.

    Raises:
        DataError: a table is missing or damaged, as in runs of older versions; or as `page_statistics`.
    """
    scores, measured, all_stats = ScoreTable.of(run), _measured(run), []
    for place in scores.of_stage("page"):
        draws: dict[str, list[Dose]] = defaultdict(list)
        pages: dict[str, list[Floats]] = defaultdict(list)
        commands, edits, redundant = Counter[str](), Counter[str](), 0
        asked = scores.read(place).only(QUESTION_PARTS).draws.transpose(1, 0, 2)
        for (base, _), held in zip(scores.bases(place), asked, strict=True):
            columns, sources, kinds = _of_pages(run, base, measured)
            for group, dose in _doses(scores.questions, held, columns, sources).items():
                draws[group].append(dose)
            for name, column in columns.items():
                pages[name].append(column)
            redundant += kinds.pop("redundant", 0)
            commands.update(kinds)
            for row in run.rows("edits", ["rule", "edits"], kb=base) if columns["empty"].size else ():
                edits[row["rule"]] += row["edits"]
        doses = {group: mean_dose(made) for group, made in draws.items()}
        whole = {name: np.concatenate(columns) for name, columns in pages.items()}
        all_stats.append(stats(place.condition, doses, whole, commands, redundant, edits))
    return all_stats


_COMMANDS = {f"commands_{kind}": kind for kind in KINDS} | {"redundant": "redundant"}


def _measured(run: Run) -> "pyarrow.Table | None":
    with suppress(NothingToCompare):  # the doses need no pages
        return page_statistics(run)
    return None


def _of_pages(
    run: Run, base: str, measured: "pyarrow.Table | None"
) -> tuple[dict[str, Floats], list[str], dict[str, int]]:
    """Return a knowledge base's columns PAGE_PARTS, the sources of its pages, and their commands."""
    import pyarrow.compute as pc

    if measured is None:
        return dict.fromkeys(PAGE_PARTS, np.empty(0)), [], {}
    about = run.table("pages", ["sources", "empty"], kb=base)
    table = measured.filter(pc.field("kb") == base).append_column("empty", about["empty"])
    columns = {name: np.array(table[name].to_pylist(), dtype=float) for name in PAGE_PARTS}
    commands = {kind: sum(table[name].to_pylist()) for name, kind in _COMMANDS.items()}
    return columns, about["sources"].to_pylist(), commands


def _doses(questions: Questions, asked: Floats, pages: Mapping[str, Floats], about: Sequence[str]) -> dict[str, Dose]:
    """Aggregate one knowledge base: all questions and pages, and those of each evidence source."""
    by_group = {}
    for group in (ALL, *(source for source in SOURCES if source in questions.groups("evidence_source"))):
        here = np.array([group == ALL or group in sources.split(",") for sources in about], dtype=bool)
        mine = asked[:, questions.part("evidence_source", group).places]
        by_group[group] = aggregated(
            dict(zip(QUESTION_PARTS, mine, strict=True)), {name: column[here] for name, column in pages.items()}
        )
    return by_group


# --- of folders -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Folders:
    """Knowledge bases in OHRBench's layout, what they are compared with, and the questions, if there are any."""

    bases: Mapping[str, Path]
    truth: Path
    questions: Path | None


def find_folders(folder: Path, truth: Path | None = None, questions: Path | None = None) -> Folders:
    """Find knowledge bases: `folder` is one, or holds several and the ground truth `gt`.

    Raises:
        DataError: there is no ground truth, or no knowledge base.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder")
    several = (folder / "gt").is_dir()
    truth = truth or (folder / "gt" if several else folder.parent / "gt")
    if not truth.is_dir():
        raise DataError(f"{folder}: no ground truth: there is no folder {truth}; name it with --gt")
    names = sorted(path for path in folder.iterdir() if path.is_dir() and path != truth) if several else [folder]
    bases = {path.name: path for path in names if _texts(path)}
    if not bases:
        raise DataError(f"{folder}: no knowledge base: no folder of JSON pages or texts beside the ground truth")
    homes = [home / name for home in (truth.parent, truth.parent.parent) for name in _QUESTION_FILES]
    return Folders(bases, truth, questions or next((path for path in homes if path.is_file()), None))


def of_folder(name: str, folders: Folders) -> Stats:
    """Measure one knowledge base of a folder on the documents that its ground truth has.

    A text file that only the ground truth's folder has is no document of a benchmark, but describes it.

    Raises:
        DataError: they have no document in common.
    """
    base = folders.bases[name]
    files = {
        path: document
        for path, document in documents.names(_texts(folders.truth)).items()
        if documents.is_structured(path) or (base / path).is_file()
    }
    if not any((base / path).is_file() for path in files):
        raise DataError(f"{base}: none of its files is named as one of {folders.truth} (.json, .txt, .md)")
    ledger = _ledger(base / documents.LEDGER)
    asked = ohrbench_questions.read_questions(folders.questions) if folders.questions else []
    about: dict[str, list[Question]] = defaultdict(list)
    for question in asked:
        about[question.document].append(question)
    questions: list[tuple[str, QuestionDose]] = []
    pages: list[SeenPage] = []
    for path, document in sorted(files.items(), key=itemgetter(1)):
        # one at a time: a benchmark's text need not be held at once
        truth = by_page(documents.read(folders.truth / path, document))
        here = by_page(documents.read(base / path, document))
        questions += [(q.evidence_source, question_dose(q, truth, here)) for q in about[document]]
        for place, page in truth.items():
            sources = {q.evidence_source for q in about[document] if page.index in q.pages}
            pages.append(see(page, here.get(place), sources, ledger.get(place, {})))
    return gather(name, questions, pages)


def _texts(folder: Path) -> list[Path]:
    """List the files below a folder that can be documents, by their paths inside it."""
    return [path for path in documents.files(folder) if documents.can_be(path)]


def _ledger(path: Path) -> dict[tuple[str, int], Counter[str]]:
    """Count the edits that `ohr noise apply` wrote down, by page and rule."""
    edits: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                edit = json.loads(line)
                edits[edit["document"], edit["page"]][edit.get("rule", "image")] += 1
    return edits
