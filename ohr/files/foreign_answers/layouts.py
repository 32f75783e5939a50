"""Finds out which layout a file of answers has, reads it, and writes it; RAGAS and DeepEval have rows of a table.

RAGAS: `ragas.dataset_schema.SingleTurnSample` (0.2 and later); `question`, `contexts`, `answer`, `ground_truth` (0.1),
`ground_truths` (0.0). `EvaluationDataset.to_jsonl` writes JSON Lines, `to_csv` lists as Python prints them.

DeepEval: `LLMTestCase` and `Golden`; `EvaluationDataset.save_as` writes JSON with lists, and CSV and JSON Lines with
contexts joined by `|`. The file of a test run has `testCases` with the same names in camel case.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from ohr.errors import DataError
from ohr.files.foreign_answers import inspect_ai, promptfoo
from ohr.files.foreign_answers.answer_rows import (
    EXTRA,
    IDS,
    PREDICTIONS,
    AnswerFile,
    AnswerRow,
    answer_file,
    extra,
    texts_of,
)
from ohr.files.grid_files import WORKBOOK, as_rows, read_values
from ohr.files.tables import Names, Row, read_table, refuse_lacking
from ohr.messages.wording import counted

Layout = Literal["ragas", "deepeval", "promptfoo", "inspect_ai"]
"""Programs whose files of answers are read."""
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
"""All layouts."""

_TABLES: Mapping[str, Names] = {
    "ragas": {
        **EXTRA,
        "question": ("user_input", "question"),
        "answer": ("response", "answer"),
        "contexts": ("retrieved_contexts", "contexts"),
        "reference": ("reference", "ground_truth", "ground_truths"),
    },
    "deepeval": {
        **{part: names for part, names in EXTRA.items() if part != "evidence"},
        "question": ("input",),
        "answer": ("actual_output", "actualOutput"),
        "contexts": ("retrieval_context", "retrievalContext"),
        "reference": ("expected_output", "expectedOutput"),
        "evidence": ("context",),
        "metadata": ("additional_metadata", "additionalMetadata", "metadata"),
    },
}
"""Keys of the rows, by what ohr calls their content."""
_RUNS = ("testCases", "test_cases")
"""Keys of the test cases of DeepEval's run."""
_JOINED = "|"
"""Sign between contexts where a file of DeepEval holds them as one text."""

_RAGAS = {"user_input", "retrieved_contexts"}
_OLD_RAGAS = {"contexts", "ground_truth", "ground_truths"}
_DEEPEVAL = {"actual_output", "actualOutput", "expected_output", "expectedOutput", "retrieval_context"}
_PROMPTFOO = {"vars", "prompt", "provider"}
_DISTINCTIVE = {*_RAGAS, *_OLD_RAGAS, *_DEEPEVAL, *PREDICTIONS, "question", "input"}


def read_foreign(
    path: Path, layout: Layout | None = None, column: str | None = None, pick: str | None = None, *, whole: bool = True
) -> AnswerFile | None:
    """Read a file of answers in a layout that is not ohr's own; None where it has that.

    Args:
        path: the file.
        layout: its layout; None to find out.
        column: name of the answers, in tables.
        pick: the system or the epoch, where the file has several.
        whole: refuse the log of an evaluation that lacks samples.

    Raises:
        DataError: it cannot be read, or is not in the layout that is named.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    is_archive = path.suffix.lower() == ".eval" or (layout == "inspect_ai" and content.startswith(WORKBOOK))
    found, fault = (inspect_ai.read_archive(path, content), "") if is_archive else _values(path, content)
    if fault and layout in ("promptfoo", "inspect_ai"):
        raise DataError(f"{path}: a file of {layout} must be JSON: {fault}")
    layout = layout or ("inspect_ai" if is_archive else recognized(path, found))
    if layout is None:
        return None
    if layout in ("ragas", "deepeval") and pick is not None:
        raise DataError(f"{path}: --pick is for files of several systems or epochs, which a file of {layout} has not")
    if layout in ("promptfoo", "inspect_ai") and column is not None:
        raise DataError(f"{path}: --column is for tables, and this is a file of {layout}")
    match layout:
        case "promptfoo":
            return promptfoo.read(path, found, pick)
        case "inspect_ai":
            return inspect_ai.read(path, found, pick, whole=whole)
        case "ragas" | "deepeval":
            return _read_cells(path, layout, column)


def _read_cells(path: Path, layout: Layout, column: str | None) -> AnswerFile:
    """Read a table of RAGAS or DeepEval; `column` names the answers where it is another than theirs."""
    names, of_ragas = _TABLES[layout], layout == "ragas"
    names = names if column is None else {**names, "answer": (column,)}
    shape: dict[str, Any] = {} if of_ragas else {"records": _test_cases, "entry": "test case"}
    table = read_table(path, names, (), hint="name the one to score with --column", **shape)
    refuse_lacking(path, table, names, "answer")
    refuse_lacking(path, table, names, "question", *IDS)
    joined = 0 if of_ragas else sum(_is_joined(row.parts.get("contexts")) for row in table.rows)
    answered = answer_file(layout, path, table.rows if of_ragas else map(_divided, table.rows))
    note = f"{counted(joined, 'row')} with contexts joined by {_JOINED}, where they are divided: JSON keeps them whole"
    return answered._replace(notes=(*table.notes, *([note] if joined else []), *answered.notes))


def _divided(row: Row) -> Row:
    parts = dict(row.parts)
    for part in ("contexts", "evidence"):
        if _is_joined(parts.get(part)):
            parts[part] = parts[part].split(_JOINED)
    return Row(row.where, parts)


def _is_joined(value: Any) -> bool:
    """Report whether contexts are one text that its own export has joined."""
    return isinstance(value, str) and _JOINED in value and texts_of(value, "", "") == (value,)


def _test_cases(held: Any) -> Any:
    """Return the test cases of what a file holds."""
    run = held.get("testRunData", held) if isinstance(held, Mapping) else held
    return next((run[key] for key in _RUNS if isinstance(run.get(key), list)), run) if isinstance(run, Mapping) else run


def recognized(path: Path, found: Any) -> Layout | None:
    """Return the layout that a file seems to have, None for ohr's own; `found` is None where it is a table."""
    if isinstance(found, Mapping):
        if "status" in found and "eval" in found:
            return "inspect_ai"
        results = found.get("results")
        if isinstance(results, Mapping) and isinstance(results.get("results"), list):
            return "promptfoo"
        if isinstance(results, list) and _names(results) >= _PROMPTFOO:  # as its library returns them
            return "promptfoo"
        if any(isinstance(found.get(key), list) for key in _RUNS) or "testRunData" in found:
            return "deepeval"
        found = as_rows(found, _DISTINCTIVE)
        return None if found is None else _of_columns(_names(found))
    if isinstance(found, list):
        return "promptfoo" if _names(found) >= _PROMPTFOO else _of_columns(_names(found))
    return _of_columns(_columns(path))


def _names(records: Sequence[Any]) -> set[str]:
    """Return the keys of the first records."""
    return {name for record in records[:20] if isinstance(record, Mapping) for name in record}


def _of_columns(names: set[str]) -> Layout | None:
    if names & {*PREDICTIONS}:
        return None
    if names & _RAGAS or ("question" in names and names & _OLD_RAGAS):
        return "ragas"
    return "deepeval" if "input" in names and names & _DEEPEVAL else None


def _columns(path: Path) -> set[str]:
    """Return the columns of a table that tell layouts apart; none of one that cannot be read."""
    try:
        table = read_table(path, {name: (name,) for name in sorted(_DISTINCTIVE)}, ())
    except DataError:
        return set()
    return set(table.rows[0].parts) if table.rows else set()


def _values(path: Path, content: bytes) -> tuple[Any, str]:
    """Return what a file holds that is no table of cells; None and the fault where it is one, or cannot be read."""
    if path.suffix.lower() in (".csv", ".tsv") or content.startswith(WORKBOOK):
        return None, "this is a table"
    try:
        return read_values(path, content).value, ""
    except DataError as error:
        return None, str(error).removeprefix(f"{path}: ").removeprefix("not readable as JSON: ")


def written(layout: Layout, rows: Sequence[AnswerRow], about: Mapping[str, str]) -> tuple[str, str]:
    """Write rows in a layout; returns the text, and the suffix of its file.

    Args:
        about: where the answers are from, for layouts with a place for that.
    """
    write, suffix = _WRITERS[layout]
    return write(rows, about), suffix


def _as_ragas(rows: Sequence[AnswerRow], about: Mapping[str, str]) -> str:  # noqa: ARG001 # it has no place for that
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
    lines = (dict(zip(there, cells, strict=True)) for cells in zip(*there.values(), strict=True))
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _as_deepeval(rows: Sequence[AnswerRow], about: Mapping[str, str]) -> str:
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


_WRITERS: Mapping[Layout, tuple[Callable[[Sequence[AnswerRow], Mapping[str, str]], str], str]] = {
    "ragas": (_as_ragas, ".jsonl"),
    "deepeval": (_as_deepeval, ".json"),
    "promptfoo": (promptfoo.write, ".json"),
    "inspect_ai": (inspect_ai.write, ".json"),
}
