"""Statistics of noise, read from a run's rows or from folders in OHRBench's layout."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ohr.contracts import SOURCES, Question
from ohr.errors import DataError
from ohr.files import documents, ohrbench_questions
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
from ohr.noise_files.page_statistics import NothingToCompare, page_statistics
from ohr.results.run import Run
from ohr.results.score_arrays import Questions, ScoreTable
from ohr.results.tables.groups import ALL

if TYPE_CHECKING:
    import pyarrow

_QUESTION_FILES = ("qas_v2.json", "qas.json")


def of_run(run: Run) -> list[Stats]:
    """Return the statistics of each level of a run: doses are means of its replicates' doses.

    Raises:
        DataError: a table is missing or damaged, as in runs of older versions; or as `page_statistics`.
    """
    scores, measured, found = ScoreTable.of(run), _measured(run), []
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
        found.append(stats(place.condition, doses, whole, commands, redundant, edits))
    return found


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
    found = {}
    for group in (ALL, *(source for source in SOURCES if source in questions.groups("evidence_source"))):
        here = np.array([group == ALL or group in sources.split(",") for sources in about], dtype=bool)
        mine = asked[:, questions.part("evidence_source", group).places]
        found[group] = aggregated(
            dict(zip(QUESTION_PARTS, mine, strict=True)), {name: column[here] for name, column in pages.items()}
        )
    return found


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
    found: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                edit = json.loads(line)
                found[edit["document"], edit["page"]][edit.get("rule", "image")] += 1
    return found
