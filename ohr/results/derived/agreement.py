"""Agreement of the judges of a run with each other, with metrics that need no judge, and with people."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import id_of
from ohr.files.json_input import text_of
from ohr.files.tables import read_table
from ohr.registry import choices
from ohr.results.run import Run
from ohr.results.score_arrays import CellScores, Floats, Place, Questions, ScoreTable
from ohr.statistics.agreement import cohen_kappa, fleiss_kappa, label_counts

PEOPLE = "people"
_LABELS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0, "correct": 1.0, "incorrect": 0.0, "tie": 0.5}
_COLUMNS = {"question id": ("question_id",), "label": ("label",), "condition": ("condition",)}
_FAILED = -1.0
"""The label of a question on which a judge gave no grade: a category of its own, not a wrong answer."""

Labels = Mapping[str, Floats]
"""By rater, (n,) the label of each question; nan where there is none."""


def agreement(run: Run, people: Path | None = None) -> list[dict[str, Any]]:
    """Compare the judges of a run, pair by pair, and all together.

    Args:
        run: to read.
        people: a table (CSV, .xlsx, JSON) with the columns `question_id` and `label` (a number, yes or no, correct or
            incorrect), and perhaps `condition`.

    Returns:
        rows with Cohen's kappa of two raters, or Fleiss' of all judges and people (`second` is empty), the share of
        equal labels, and the share of documents with no other label; none where no judge was asked.

    Raises:
        DataError: the file of people's labels cannot be read, or is about other questions.
    """
    scores = ScoreTable.of(run)
    questions = scores.questions
    judges = {row["metric"] for row in run.rows_if_any("judgements", ["metric"])}
    given = _read_people(people, questions) if people else {}
    known = sorted({place.condition for place in scores.places})
    for condition in given.keys() - {"", *known}:
        raise DataError(f"{people}: the run has no condition {condition!r}. {choices(condition, known)}")
    protocol = run.manifest["protocol"]
    rows: list[dict[str, Any]] = []
    for place in scores.places:
        cell = scores.read(place)
        raters = _raters(cell, judges, {*protocol["answer"][:1], *(protocol.get("page") or ())[:1]})
        asked = [name for name in raters if name in judges]
        if people and (asked or raters):
            raters = {**raters, PEOPLE: given.get(place.condition, given.get("", np.full(len(questions.ids), np.nan)))}
            asked.append(PEOPLE)
        rows += _rows(place, raters, asked, questions)
    return rows


def _raters(cell: CellScores, judges: set[str], protocol: set[str]) -> dict[str, Floats]:
    """Return the labels of the judges, and of the protocol's headlines whose scores are right, wrong or a tie."""
    found = {}
    for name, values, failed in zip(cell.metrics, cell.values, cell.failed, strict=True):
        if name in judges:
            found[name] = np.where(failed & ~np.isnan(values), _FAILED, values)
        elif name in protocol and np.isin(values[~np.isnan(values)], (0.0, 0.5, 1.0)).all():
            found[name] = values
    return {name: labels for name, labels in found.items() if not np.isnan(labels).all()}


def _rows(place: Place, raters: Labels, asked: list[str], questions: Questions) -> Iterator[dict[str, Any]]:
    for first, second in combinations(raters, 2):
        both = ~np.isnan(raters[first]) & ~np.isnan(raters[second])
        if both.any() and {first, second} & set(asked):
            one, other = raters[first][both], raters[second][both]
            kappa = cohen_kappa(one.tolist(), other.tolist())
            shares = _shares(one == other, questions.documents[both])
            yield {**place.named, "first": first, "second": second, "n": int(both.sum()), **shares, "kappa": kappa}
    if len(asked) > 2:
        every = np.stack([raters[name] for name in asked])
        there = ~np.isnan(every).any(axis=0)
        if there.any():
            table = every[:, there]
            kappa = fleiss_kappa(label_counts(table.tolist(), sorted(set(table.ravel().tolist()))))
            shares = _shares((table == table[0]).all(axis=0), questions.documents[there])
            yield {
                **place.named,
                "first": ", ".join(asked),
                "second": "",
                "n": int(there.sum()),
                **shares,
                "kappa": kappa,
            }


def _shares(equal: Any, documents: Any) -> dict[str, float]:
    whole = [bool(equal[documents == name].all()) for name in np.unique(documents)]
    return {"equal": float(equal.mean()), "documents_equal": float(np.mean(whole))}


def _read_people(path: Path, questions: Questions) -> dict[str, Floats]:
    """Read people's labels by condition; "" for those without one."""
    table = read_table(path, _COLUMNS, ("question id", "label"))
    found: dict[str, Floats] = {}
    for where, parts in table.rows:
        name = id_of(parts.get("question id"), where)
        if name not in questions.place:
            raise DataError(f"{where}: question {name!r} is not in the run")
        labels = found.setdefault(text_of(parts.get("condition")), np.full(len(questions.ids), np.nan))
        if not np.isnan(labels[questions.place[name]]):
            raise DataError(f"{where}: question {name!r} has a label already")
        labels[questions.place[name]] = _label(text_of(parts.get("label")), where)
    if not found:
        raise DataError(f"{path}: holds no label")
    return found


def _label(text: str, where: str) -> float:
    plain = text.strip().lower()
    try:
        value = _LABELS[plain] if plain in _LABELS else float(plain.replace(",", "."))
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        known = ", ".join(_LABELS)
        raise DataError(f"{where}: a label must be a number in [0, 1], or one of {known} (got {text!r:.40})")
    return value
