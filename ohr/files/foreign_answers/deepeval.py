"""DeepEval: test cases as its data sets are saved, and the test cases in the results of a test run.

Its names: `LLMTestCase` and `Golden`; `EvaluationDataset.save_as` writes JSON with lists, and CSV and JSON Lines with
contexts joined by `|`. The file of a test run has `testCases` with the same names in camel case.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.files.answers import IDS
from ohr.files.foreign_answers.rows import EXTRA, AnswerFile, AnswerRow, answer_file, texts_of
from ohr.files.tables import Names, Row, read_table, refuse_lacking
from ohr.messages.wording import counted

NAMES: Names = {
    **{part: names for part, names in EXTRA.items() if part != "evidence"},
    "question": ("input",),
    "answer": ("actual_output", "actualOutput"),
    "contexts": ("retrieval_context", "retrievalContext"),
    "reference": ("expected_output", "expectedOutput"),
    "evidence": ("context",),
    "metadata": ("additional_metadata", "additionalMetadata", "metadata"),
}
"""Keys of the rows, by what ohr calls their content."""
RUNS = ("testCases", "test_cases")
"""Keys of the test cases of a run."""
SUFFIX = ".json"
"""Ending of the files."""
_JOINED = "|"
"""Sign between contexts where a file holds them as one text."""


def read(path: Path, column: str | None = None) -> AnswerFile:
    """Read test cases.

    Args:
        path: JSON, JSON Lines, CSV or a workbook.
        column: name of the answers, where it is another than `actual_output`.

    Raises:
        DataError: it holds none, or one is not sound.
    """
    names = NAMES if column is None else {**NAMES, "answer": (column,)}
    table = read_table(
        path,
        names,
        (),
        records=_records,
        entry="test case",
        hint="name the one to score with --column",
    )
    refuse_lacking(path, table, names, "answer")
    refuse_lacking(path, table, names, "question", *IDS)
    joined = sum(_is_joined(row.parts.get("contexts")) for row in table.rows)
    answered = answer_file("deepeval", path, [_divided(row) for row in table.rows])
    note = f"{counted(joined, 'row')} with contexts joined by {_JOINED}, where they are divided: JSON keeps them whole"
    return answered._replace(notes=(*table.notes, *([note] if joined else []), *answered.notes))


def write(rows: Sequence[AnswerRow], about: Mapping[str, str]) -> str:
    """Write rows as a JSON list of test cases; what has no place in one is in `additional_metadata`."""
    cases = [
        {
            "input": row.question,
            "actual_output": row.answer,
            "expected_output": row.references[0] if row.references else None,
            "retrieval_context": row.contexts,
            "context": row.evidence or None,
            "additional_metadata": {**about, **extra(row)},
        }
        for row in rows
    ]
    return json.dumps(cases, ensure_ascii=False, indent=1) + "\n"


def extra(row: AnswerRow) -> dict[str, Any]:
    """Return what a row has beyond question, answer, contexts and the first accepted answer, by the names of EXTRA."""
    held = {
        "question_id": row.id,
        "document": row.document,
        "accepted_answers": row.references if len(row.references) > 1 else (),
        "error": row.error,
    }
    return {name: value for name, value in held.items() if value}


def _divided(row: Row) -> Row:
    parts = dict(row.parts)
    for part in ("contexts", "evidence"):
        if _is_joined(parts.get(part)):
            parts[part] = parts[part].split(_JOINED)
    return Row(row.where, parts)


def _is_joined(value: Any) -> bool:
    """Report whether contexts are one text that its own export has joined."""
    return isinstance(value, str) and _JOINED in value and texts_of(value, "", "") == (value,)


def _records(found: Any) -> Any:
    """Return the test cases of what a file holds."""
    run = found.get("testRunData", found) if isinstance(found, Mapping) else found
    return next((run[key] for key in RUNS if isinstance(run.get(key), list)), run) if isinstance(run, Mapping) else run
