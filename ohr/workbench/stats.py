"""Statistics of noise, read from a run's rows or from folders in OHRBench's layout."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ohr.contracts import Question
from ohr.errors import DataError
from ohr.files import documents, ohrbench_questions
from ohr.metrics.commands import KINDS
from ohr.metrics.dose import PageDose, QuestionDose, by_page, question_dose
from ohr.metrics.realism import SeenPage, Stats, gather, see
from ohr.results.folder import read_table

_QUESTION_FILES = ("qas_v2.json", "qas.json")


def of_run(folder: Path) -> list[Stats]:
    """Read the statistics of each level of a run, from its rows.

    Raises:
        DataError: a table is missing, as in runs of older versions.
    """
    questions: dict[tuple[str, int, str], dict[str, Any]] = {}
    for row in read_table(folder / "scores.parquet"):
        if row["stage"] == "page":
            place = (_level(row), row["replicate"], row["question_id"])
            questions.setdefault(place, {"source": row["evidence_source"]})[row["metric"]] = row["value"]
    edits: dict[tuple[str, int, str, int], dict[str, int]] = defaultdict(dict)
    for row in read_table(folder / "edits.parquet"):
        edits[_level(row), row["replicate"], row["document"], row["page"]][row["rule"]] = row["edits"]
    pages: dict[str, list[SeenPage]] = defaultdict(list)
    for row in read_table(folder / "pages.parquet"):
        level = _level(row)
        made = edits.get((level, row["replicate"], row["document"], row["page"]), {})
        pages[level].append(_seen(row, made))
    asked: dict[str, list[tuple[str, QuestionDose]]] = defaultdict(list)
    for (level, _, question), found in questions.items():
        asked[level].append((found["source"], _question(question, found)))
    return [gather(level, asked[level], found) for level, found in pages.items()]


def _level(row: Mapping[str, Any]) -> str:
    """Name a level as its knowledge bases are, less the replicate."""
    return str(row["kb"]).partition("#")[0]


def _seen(row: Mapping[str, Any], edits: Mapping[str, int]) -> SeenPage:
    made = PageDose(row["document"], row["page"], row["edit_distance"], row["edit_distance_content"], row["empty"])
    commands = {kind: row[f"commands_{kind}"] for kind in KINDS}
    return SeenPage(made, frozenset(filter(None, row["sources"].split(","))), commands, row["redundant"], edits)


def _question(name: str, found: Mapping[str, Any]) -> QuestionDose:
    def said(metric: str) -> bool | None:
        return None if np.isnan(found[metric]) else bool(found[metric])

    return QuestionDose(
        name,
        said("damaged"),
        found["lcs_kb"],
        found["lcs_gt"],
        said("damaged_content"),
        found["term_survival"],
        found["answer_survival"],
    )


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

    A text file that only the ground truth's folder has is no document of a benchmark, but what tells about it.

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
