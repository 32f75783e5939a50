"""RAGAS: a row for each question, as JSON Lines, JSON, CSV or a workbook, with its columns of 0.2 and those before.

Its names: `ragas.dataset_schema.SingleTurnSample` (0.2 and later); `question`, `contexts`, `answer`, `ground_truth`
(0.1), `ground_truths` (0.0). `EvaluationDataset.to_jsonl` writes JSON Lines, `to_csv` lists as Python prints them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.files.answers import IDS
from ohr.files.foreign_answers.rows import EXTRA, AnswerFile, AnswerRow, answer_file
from ohr.files.tables import Names, read_table, refuse_lacking

NAMES: Names = {
    **EXTRA,
    "question": ("user_input", "question"),
    "answer": ("response", "answer"),
    "contexts": ("retrieved_contexts", "contexts"),
    "reference": ("reference", "ground_truth", "ground_truths"),
}
"""Keys of the rows, by what ohr calls their content."""
SUFFIX = ".jsonl"
"""Ending of the files."""


def read(path: Path, column: str | None = None) -> AnswerFile:
    """Read a data set with answers.

    Args:
        path: JSON Lines, a list or a mapping of columns in JSON, CSV, or a workbook.
        column: name of the answers, where two columns could be them.

    Raises:
        DataError: it is none, or a row is not sound.
    """
    names = NAMES if column is None else {**NAMES, "answer": (column,)}
    table = read_table(path, names, (), hint="name the one to score with --column")
    refuse_lacking(path, table, names, "answer")
    refuse_lacking(path, table, names, "question", *IDS)
    answered = answer_file("ragas", path, table.rows)
    return answered._replace(notes=(*table.notes, *answered.notes))


def write(rows: Sequence[AnswerRow], about: Mapping[str, str]) -> str:  # noqa: ARG001 # it has no place for that
    """Write rows as JSON Lines; a column that no row has is left out, but for the response."""
    columns: dict[str, Sequence[Any]] = {
        "user_input": [row.question for row in rows],
        "retrieved_contexts": [row.contexts for row in rows],
        "reference_contexts": [row.evidence or None for row in rows],
        "response": [row.answer for row in rows],
        "reference": [row.references[0] if row.references else None for row in rows],
        "accepted_answers": [row.references if len(row.references) > 1 else None for row in rows],
        "question_id": [row.id or None for row in rows],
        "document": [row.document or None for row in rows],
        "error": [row.error or None for row in rows],
    }
    there = {name: cells for name, cells in columns.items() if name == "response" or any(c is not None for c in cells)}
    lines: Iterable[Mapping[str, Any]] = (
        dict(zip(there, cells, strict=True)) for cells in zip(*there.values(), strict=True)
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
